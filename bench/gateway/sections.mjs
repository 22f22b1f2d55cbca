/** What can be measured of the gateway by itself, as in `npm run bench gateway:job-read`. */

/** What is measured under load. */
export const PATHS = ["views-cached", "views-uncached", "job-read", "create"];
export const SECTIONS = [...PATHS, "cold-start", "memory", "crossings", "jobs", "export", "size"];
/** What is measured of the gateway alone, without its peers and an earlier build. */
export const ALONE = ["jobs", "export"];
