/** Starts and controls the simulator of Mintlify's API. */
import { cargoBuildProgram, targetFolder } from "../../scripts/cargo.mjs";
import { noteCanary } from "./canary.mjs";
import { startProgram } from "./process.mjs";

/** Path of the simulator. `npm test` builds it once and names it in QUILLGATE_SIMULATOR. */
let program;

/** In its own target folder, because it enables fewer features of the core. */
export function buildUpstream(options) {
  const folder = targetFolder("upstream");
  return cargoBuildProgram("building the simulator", "upstream", folder, options);
}

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
    /** Returns counters such as `requests`, `byOperation`, `jobsCreated` and `held`. */
    counters: () => control("GET", "counters"),
    /** Returns the last 2,500 received requests, oldest first. */
    requests: () => control("GET", "requests"),
    /** Removes all requests, faults, jobs and counters. Keeps the clock, keys and limits. */
    reset: () => control("POST", "reset"),
    /** Adds a fault to future responses. */
    fault: (fault) => control("POST", "faults", fault),
    clearFaults: () => control("DELETE", "faults"),
    /** Adds random faults to a share of requests: `{ perThousand, seed? }`. */
    setFaultRate: (rate) => control("POST", "fault-rate", rate),
    /** Returns `{ injected }`, the number of random faults by kind. */
    faultRate: () => control("GET", "fault-rate"),
    clearFaultRate: () => control("DELETE", "fault-rate"),
    /**
     * Holds future requests until {@link release}. `operation`, `target`, `after` and `times`
     * select them. `process` applies a request before it is held, and `next` is a fault for after
     * its release.
     */
    hold: ({ process, next, ...order } = {}) =>
      control("POST", "faults", { times: 0, ...order, fault: { kind: "hold", process, next } }),
    async untilHeld(count, timeoutMs = 60_000) {
      const deadline = performance.now() + timeoutMs;
      for (;;) {
        const { held } = await control("GET", "counters");
        if (held >= count) return;
        if (performance.now() > deadline)
          throw new Error(`only ${held} of ${count} requests are held`);
      }
    },
    /** Releases all held requests, and removes the queued holds. */
    release: () => control("POST", "release"),
    /** Returns `{ now, today }`: the Unix time in milliseconds, and the day. */
    clock: () => control("GET", "clock"),
    /** Moves the clock forward, and returns `{ now, today }`. */
    forwardClock: (forwardMs) => control("POST", "clock", { forwardMs }),
    /** Adds `percent` of a usual working day to the counts of `day`: `{ day, percent }`. */
    setLate: (late) => control("POST", "late", late),
    /** Changes limits: `{ create?, message?, analytics?, deployment?, preview?, windowMs? }`. */
    setLimits: (limits) => control("POST", "limits", limits),
    /** Returns every row of a range as `{ totals, views }`, for comparison with an export. */
    views: (range) => control("GET", `analytics?report=views&${new URLSearchParams(range)}`),
    /** Returns a whole report on one page: `{ report, projectId?, dateFrom?, dateTo?, … }`. */
    report: (query) => control("GET", `analytics?${new URLSearchParams(query)}`),
    /** Returns the rows of a list as lines of JSON, identical to the JSON in its pages. */
    rows: (query) => control("GET", `rows?${new URLSearchParams(query)}`),
    jobs: () => control("GET", "jobs"),
    /** Returns a job with its `reads` (`{ count, at }`). */
    job: (id) => control("GET", `jobs/${encodeURIComponent(id)}`),
    /** Changes a job: `{ status?, ref?, prLink?, archivedAt? }`. */
    setJob: (id, job) => control("POST", `jobs/${encodeURIComponent(id)}`, job),
    /** Adds an older job: `{ projectId, createdAt }`, where `createdAt` is in milliseconds. */
    addJob: (id, job) => control("PUT", `jobs/${encodeURIComponent(id)}`, job),
    /** Returns all deployments and previews, each with `branch`, `previewUrl` and `reads`. */
    deployments: () => control("GET", "deployments"),
    deployment: (id) => control("GET", `deployments/${encodeURIComponent(id)}`),
    /** Queues the course of a deployment, such as `success`, `fail`, `live-failure` or `stuck`. */
    queueCourse: (course) => control("POST", "deployments", { course }),
    /** Changes a deployment: `{ status?, logs?, summary? }`. */
    setDeployment: (id, deployment) =>
      control("POST", `deployments/${encodeURIComponent(id)}`, deployment),
    /** Adds an older deployment: `{ projectId, createdAt }`, where `createdAt` is in milliseconds. */
    addDeployment: (id, deployment) =>
      control("PUT", `deployments/${encodeURIComponent(id)}`, deployment),
    /** Returns all runs of automations, each with its `projectId`. */
    automationRuns: () => control("GET", "automation-runs"),
    /** Adds or changes a key: `{ key, name, state }`. */
    setKey: (key) => control("POST", "keys", key),
  };
}

export function headerOf(request, name) {
  return request.headers.find(([other]) => other === name)?.[1];
}
