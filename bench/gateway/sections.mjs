/** Sections of the gateway's benchmark; `npm run bench -- gateway:job-read` runs a single one. */

/** Kinds of request measured under load. */
export const PATHS = ["views-cached", "views-uncached", "job-read", "create"];
export const SECTIONS = [...PATHS, "cold-start", "memory", "export", "size"];
/** Sections that compare with the baseline build. */
export const WITH_BASELINE = [...PATHS, "cold-start", "export", "size"];
