/** The simulator of the platform, as a program under the tests' control. */
import { cargoBuildProgram } from "../../scripts/cargo.mjs";
import { noteCanary } from "./canary.mjs";
import { startProgram } from "./process.mjs";

let program;

/** Builds the simulator, once per process. @returns {Promise<string>} its path */
export function buildUpstream(env = process.env) {
  program ??= cargoBuildProgram("building the simulator", "upstream", { env });
  return program;
}

/**
 * @typedef {object} UpstreamOptions
 * @property {string} key the admin key that it accepts
 * @property {number} [port] a free one unless told
 * @property {number} [seed] of the page data
 * @property {number} [pages] how many pages have views
 * @property {string[]} [projects] the ids that exist
 * @property {number} [jobDurationMs] how long a job stays active
 * @property {number} [latencyMs] of every answer
 * @property {number} [createLimit] jobs per hour
 * @property {number} [messageLimit] follow-ups per hour
 * @property {number} [analyticsLimit] analytics requests per hour
 */

/**
 * Starts the simulator. The admin key travels in its environment, not in its
 * arguments.
 *
 * @param {UpstreamOptions} options
 */
export async function startUpstream({ key, port = 0, env = process.env, ...options }) {
  const command = await buildUpstream(env);
  const args = ["--port", String(port), ...flags(options)];
  const running = startProgram("upstream", command, args, {
    env: { ...env, UPSTREAM_ADMIN_KEY: key },
  });
  noteCanary("upstream", key);
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
    return text === "" ? undefined : JSON.parse(text);
  }

  return {
    /** How many requests of each kind it has received. */
    counters: () => control("GET", "counters"),
    /** The requests that it has received, oldest first. */
    requests: () => control("GET", "requests"),
    /** Forgets requests, counters, faults, limits and jobs. */
    reset: () => control("POST", "reset"),
    /** Makes coming answers go wrong. */
    fault: (fault) => control("POST", "faults", fault),
    clearFaults: () => control("DELETE", "faults"),
    /** Every row of a range, `{ totals, views }`, to compare an export with. */
    views: (range) => control("GET", `views?${new URLSearchParams(range)}`),
    jobs: () => control("GET", "jobs"),
    setJob: (id, job) => control("POST", `jobs/${encodeURIComponent(id)}`, job),
    /** Changes what the admin key may do. */
    setKey: (key) => control("POST", "keys", key),
  };
}
