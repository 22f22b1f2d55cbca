/** The simulator of the platform, as a program under the tests' control. */
import { cargoBuildProgram, targetFolder } from "../../scripts/cargo.mjs";
import { noteCanary } from "./canary.mjs";
import { startProgram } from "./process.mjs";

/** Built once per process. */
let program;

/**
 * Builds the simulator in a folder of its own, since it is built on a smaller core than the rest.
 *
 * @param {import("../../scripts/cargo.mjs").CargoOptions} options
 * @returns {Promise<string>} its path
 */
export function buildUpstream(options) {
  const folder = targetFolder("upstream");
  return cargoBuildProgram("building the simulator", "upstream", folder, options);
}

/**
 * @typedef {object} UpstreamOptions
 * @property {string} key the admin key that it accepts, named `key` in what it reports
 * @property {string} [readKey] a second one, for reading only, named `read-key`
 * @property {number} [port] a free one unless told
 * @property {number} [seed] of the page data
 * @property {number} [pages] how many pages have views
 * @property {boolean} [varyingDays] whether counts differ from day to day
 * @property {string[]} [projects] the ids that exist
 * @property {number} [jobDurationMs] how long a job stays active
 * @property {number} [latencyMs] of every answer
 * @property {number} [createLimit] jobs per hour
 * @property {number} [messageLimit] follow-ups per hour
 * @property {number} [analyticsLimit] analytics requests per hour
 */

/**
 * Starts the simulator. The keys travel in its environment, not in its
 * arguments.
 *
 * @param {UpstreamOptions} options
 */
export async function startUpstream({ key, readKey, port = 0, env = process.env, ...options }) {
  program ??= buildUpstream({ env });
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

/** Options become flags: `jobDurationMs: 50` is `--job-duration-ms 50`. */
function flags(options) {
  return Object.entries(options)
    .filter(([, value]) => value !== undefined)
    .flatMap(([name, value]) => {
      const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
      return [flag, Array.isArray(value) ? value.join(",") : String(value)];
    });
}

/** The control routes, which no client of the platform sees. */
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
    /** How many requests of each kind it has received. */
    counters: () => control("GET", "counters"),
    /** The requests that it has received, oldest first. */
    requests: () => control("GET", "requests"),
    /** Forgets requests, counters, faults, what limits have taken, and jobs. */
    reset: () => control("POST", "reset"),
    /** Makes coming answers go wrong. */
    fault: (fault) => control("POST", "faults", fault),
    clearFaults: () => control("DELETE", "faults"),
    /** Makes so many of a thousand requests go wrong at random: `{ perThousand, seed? }`. */
    setFaultRate: (rate) => control("POST", "fault-rate", rate),
    /** `{ perThousand, injected }`: how many went wrong so far, by the way in which they did. */
    faultRate: () => control("GET", "fault-rate"),
    clearFaultRate: () => control("DELETE", "fault-rate"),
    /**
     * Holds all coming requests until {@link release}: `operation`, `target`, `after` and `times`
     * say which; with `process` they are carried out before, with `next` they go wrong after.
     */
    hold: ({ process, next, ...order } = {}) =>
      control("POST", "faults", { times: 0, ...order, fault: { kind: "hold", process, next } }),
    /** Waits until so many requests are held. */
    async untilHeld(count, timeoutMs = 60_000) {
      const deadline = performance.now() + timeoutMs;
      for (;;) {
        const { held } = await control("GET", "counters");
        if (held >= count) return;
        if (performance.now() > deadline) throw new Error(`${held} of ${count} requests are held`);
      }
    },
    /**
     * Lets held requests go on, and says how many: the oldest `count`, or all, and then none is
     * held any more.
     */
    release: async (count) => (await control("POST", "release", { count })).released,
    /** `{ now, today }`: its milliseconds since the epoch, and its day. */
    clock: () => control("GET", "clock"),
    /** Moves its clock forward; gives `{ now, today }`. */
    forwardClock: (forwardMs) => control("POST", "clock", { forwardMs }),
    /**
     * Lets counts come late: `{ day, percent }` adds to a day from now on, `{ afterDays, percent }`
     * leaves so many in a hundred out of each day until so many days after its end.
     */
    setLate: (late) => control("POST", "late", late),
    clearLate: () => control("DELETE", "late"),
    /** Leaves places of every list empty, though it goes on behind them: `{ at, places }`. */
    digHole: (hole) => control("POST", "holes", hole),
    fillHoles: () => control("DELETE", "holes"),
    /** `{ create, message, analytics }`; `null` is no limit. */
    limits: () => control("GET", "limits"),
    /** Changes limits: `{ create?, message?, analytics?, windowMs? }`; `null` is none. */
    setLimits: (limits) => control("POST", "limits", limits),
    restoreLimits: () => control("DELETE", "limits"),
    /** Every row of a range, `{ totals, views }`, to compare an export with. */
    views: (range) => control("GET", `views?${new URLSearchParams(range)}`),
    /**
     * A whole report, all rows at once: `{ report, projectId?, dateFrom?, dateTo?, … }`, where
     * `report` is named as its path ends.
     */
    report: (query) => control("GET", `analytics?${new URLSearchParams(query)}`),
    /** The rows of a list, a line for each: the very JSON that its pages hold. */
    rows: (query) => control("GET", `rows?${new URLSearchParams(query)}`),
    jobs: () => control("GET", "jobs"),
    /** One job with its `origin` (headers of its creation) and `reads` (`{ count, at }`). */
    job: (id) => control("GET", `jobs/${encodeURIComponent(id)}`),
    /** Moves a job into a state: `{ status?, prLink?, archivedAt? }`. */
    setJob: (id, job) => control("POST", `jobs/${encodeURIComponent(id)}`, job),
    /** Adds a job from before its start: `{ projectId, createdAt }`, in milliseconds. */
    addJob: (id, job) => control("PUT", `jobs/${encodeURIComponent(id)}`, job),
    /** Adds a key, or changes what one may do: `{ key?, name?, state }`. */
    setKey: (key) => control("POST", "keys", key),
    restoreKeys: () => control("DELETE", "keys"),
  };
}

/**
 * A header field of a request that the simulator has logged.
 *
 * @param {{ headers: [string, string][] }} request
 * @param {string} name in lower case
 * @returns {string | undefined}
 */
export function headerOf(request, name) {
  return request.headers.find(([other]) => other === name)?.[1];
}
