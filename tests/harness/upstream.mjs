/** Starts and controls the simulator of Mintlify's API. */
import { cargoBuildProgram, targetFolder } from "../../scripts/cargo.mjs";
import { noteCanary } from "./canary.mjs";
import { startProgram } from "./process.mjs";

/** Path of the simulator. `npm test` builds it once and names it in QUILLGATE_SIMULATOR. */
let program;

/**
 * Builds the simulator in a separate target folder, because it enables fewer features of the core.
 *
 * @param {import("../../scripts/cargo.mjs").CargoOptions} options
 * @returns {Promise<string>} path of the program
 */
export function buildUpstream(options) {
  const folder = targetFolder("upstream");
  return cargoBuildProgram("building the simulator", "upstream", folder, options);
}

/**
 * @typedef {object} UpstreamOptions
 * @property {string} key the accepted admin key, called `key` in reports
 * @property {string} [readKey] a second, read-only key, called `read-key`
 * @property {number} [port] defaults to a free one
 * @property {"published" | "live"} [profile] whether the simulator follows Mintlify's descriptions
 *   or its observed behaviour
 * @property {number} [seed] of the generated data
 * @property {"test" | "demo"} [data] `test` has difficult strings, `demo` a recognizable site
 * @property {number} [pages] number of pages per project
 * @property {boolean} [varyingDays] whether counts differ from day to day
 * @property {number} [feedback] entries per project in thirty days
 * @property {number} [searches] number of search terms per project
 * @property {number} [conversations] turns per project in thirty days
 * @property {string[]} [projects] ids of existing projects
 * @property {number} [jobDurationMs] time that a job takes per prompt
 * @property {number} [deploymentDurationMs] time that a deployment or preview takes
 * @property {number} [clockRate] speed of the clock for jobs, deployments, limits and days
 * @property {number} [createLimit] jobs per project and hour
 * @property {number} [messageLimit] follow-ups per project and hour
 * @property {boolean} [readsShareJobLimit] whether reads of a job count as creations
 * @property {number} [analyticsLimit] analytics requests per hour, for all projects together
 * @property {number} [deploymentLimit] deployments and runs of automations per ten seconds, for all
 *   projects together
 * @property {number} [previewLimit] previews per minute, for all projects together
 */

/**
 * Starts the simulator. Its environment contains the keys, which arguments would expose.
 *
 * @param {UpstreamOptions} options
 */
export async function startUpstream({ key, readKey, port = 0, env = process.env, ...options }) {
  program ??= env.QUILLGATE_SIMULATOR || buildUpstream({ env });
  const command = await program;
  const args = ["--port", String(port), ...flags(options)];
  const running = startProgram("upstream", command, args, {
    env: { ...env, UPSTREAM_ADMIN_KEY: key, UPSTREAM_READ_KEY: readKey ?? "" },
  });
  noteCanary("upstream", key);
  noteCanary("upstream", readKey);
  const [, url] = await running
    .line(/upstream listening on (http:\/\/127\.0\.0\.1:\d+)/)
    .catch(async (error) => {
      await running.stop();
      throw error;
    });
  return { url, log: running.output, ended: running.ended, stop: running.stop, ...controls(url) };
}

/** Converts options to flags, for example `jobDurationMs: 50` to `--job-duration-ms 50`. */
function flags(options) {
  return Object.entries(options)
    .filter(([, value]) => value !== undefined)
    .flatMap(([name, value]) => {
      const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
      return [flag, Array.isArray(value) ? value.join(",") : String(value)];
    });
}

/** Wraps the control routes, which the real API does not have. */
function controls(url) {
  async function control(method, path, body) {
    const response = await fetch(`${url}/__control/${path}`, {
      method,
      headers: body === undefined ? {} : { "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`control ${method} ${path}: ${response.status} ${text}`);
    if (response.headers.get("content-type") === "application/x-ndjson") return text;
    return text === "" ? undefined : JSON.parse(text);
  }

  return {
    /**
     * Returns counters, such as `requests`, `byOperation`, `byStatus`, `jobsCreated`,
     * `deploymentsCreated`, `previewsCreated`, `automationsRun` and `held`.
     */
    counters: () => control("GET", "counters"),
    /** Returns the last 2,500 received requests, oldest first. */
    requests: () => control("GET", "requests"),
    /**
     * Removes requests, counters, faults, used limits, jobs, deployments, runs of automations, late
     * counts, and aborts held requests. Keeps the clock, keys and limits.
     */
    reset: () => control("POST", "reset"),
    /** Adds a fault to future responses. */
    fault: (fault) => control("POST", "faults", fault),
    clearFaults: () => control("DELETE", "faults"),
    /** Adds random faults to a share of requests: `{ perThousand, seed? }`. */
    setFaultRate: (rate) => control("POST", "fault-rate", rate),
    /** Returns `{ perThousand, injected }`, where `injected` counts faults by kind. */
    faultRate: () => control("GET", "fault-rate"),
    clearFaultRate: () => control("DELETE", "fault-rate"),
    /**
     * Holds future requests until {@link release}. `operation`, `target`, `after` and `times`
     * select them. `process` applies a request before it is held, and `next` is a fault for after
     * its release.
     */
    hold: ({ process, next, ...order } = {}) =>
      control("POST", "faults", { times: 0, ...order, fault: { kind: "hold", process, next } }),
    /** Waits until `count` requests are held. */
    async untilHeld(count, timeoutMs = 60_000) {
      const deadline = performance.now() + timeoutMs;
      for (;;) {
        const { held } = await control("GET", "counters");
        if (held >= count) return;
        if (performance.now() > deadline)
          throw new Error(`only ${held} of ${count} requests are held`);
      }
    },
    /**
     * Releases the oldest `count` held requests, and returns their number. Without `count`,
     * releases all and stops holding requests.
     */
    release: async (count) => (await control("POST", "release", { count })).released,
    /** Returns `{ now, today }`: the Unix time in milliseconds, and the day. */
    clock: () => control("GET", "clock"),
    /** Moves the clock forward, and returns `{ now, today }`. */
    forwardClock: (forwardMs) => control("POST", "clock", { forwardMs }),
    /**
     * Changes counts. `{ day, percent }` adds `percent` of a usual working day to the counts of
     * `day`. `{ afterDays, percent }` withholds `percent` of each day's counts until `afterDays`
     * days after the end of that day.
     */
    setLate: (late) => control("POST", "late", late),
    /**
     * Changes limits: `{ create?, message?, analytics?, deployment?, preview?, windowMs? }`. `null`
     * means unlimited. Without `windowMs`, each limit has its usual window.
     */
    setLimits: (limits) => control("POST", "limits", limits),
    restoreLimits: () => control("DELETE", "limits"),
    /** Returns every row of a range as `{ totals, views }`, for comparison with an export. */
    views: (range) => control("GET", `analytics?report=views&${new URLSearchParams(range)}`),
    /**
     * Returns a whole report on one page: `{ report, projectId?, dateFrom?, dateTo?, … }`, where
     * `report` is the last part of its path.
     */
    report: (query) => control("GET", `analytics?${new URLSearchParams(query)}`),
    /** Returns the rows of a list as lines of JSON, identical to the JSON in its pages. */
    rows: (query) => control("GET", `rows?${new URLSearchParams(query)}`),
    jobs: () => control("GET", "jobs"),
    /** Returns a job with its `origin` (headers of its creation) and `reads` (`{ count, at }`). */
    job: (id) => control("GET", `jobs/${encodeURIComponent(id)}`),
    /** Changes a job: `{ status?, ref?, prLink?, archivedAt? }`. */
    setJob: (id, job) => control("POST", `jobs/${encodeURIComponent(id)}`, job),
    /** Adds an older job: `{ projectId, createdAt }`, where `createdAt` is in milliseconds. */
    addJob: (id, job) => control("PUT", `jobs/${encodeURIComponent(id)}`, job),
    /** Returns all deployments and previews, each with `branch`, `previewUrl`, `origin` and `reads`. */
    deployments: () => control("GET", "deployments"),
    deployment: (id) => control("GET", `deployments/${encodeURIComponent(id)}`),
    /**
     * Sets the course of the next deployment or preview: `success`, `fail`, `live-failure`,
     * `subdomain-failure`, `slow` or `stuck`. Further courses are queued.
     */
    queueCourse: (course) => control("POST", "deployments", { course }),
    /** Changes a deployment: `{ status?, logs?, summary?, endedAt? }`. */
    setDeployment: (id, deployment) =>
      control("POST", `deployments/${encodeURIComponent(id)}`, deployment),
    /** Adds an older deployment: `{ projectId, createdAt }`, where `createdAt` is in milliseconds. */
    addDeployment: (id, deployment) =>
      control("PUT", `deployments/${encodeURIComponent(id)}`, deployment),
    /** Returns all runs of automations, each with `projectId`, `createdAt` and `origin`. */
    automationRuns: () => control("GET", "automation-runs"),
    /** Adds a key, or changes the state of one: `{ key?, name?, state }`. */
    setKey: (key) => control("POST", "keys", key),
  };
}

/**
 * Returns a header field of a recorded request.
 *
 * @param {{ headers: [string, string][] }} request
 * @param {string} name in lower case
 * @returns {string | undefined}
 */
export function headerOf(request, name) {
  return request.headers.find(([other]) => other === name)?.[1];
}
