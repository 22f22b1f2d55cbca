/** Counts the calls between JavaScript and wasm for each kind of request. */
import { PROJECT, startServer } from "./servers.mjs";

const REPEATS = 20;
const RANGE = "dateFrom=2026-01-01&dateTo=2026-02-01&limit=250";

/** Builds a request by path; `at` makes it differ from earlier ones where that matters. */
const REQUESTS = {
  "views-cached": () => [`/v1/analytics/${PROJECT}/views?${RANGE}&offset=0`],
  "views-uncached": (at) => [`/v1/analytics/${PROJECT}/views?${RANGE}&offset=${at * 250}`],
  "job-read": () => [`/v2/agent/${PROJECT}/job/job_00000000`],
  create: (at) => [
    `/v2/agent/${PROJECT}/job`,
    {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": `key-${at}` },
      body: '{"prompt":"Explain it."}',
    },
  ],
};

/**
 * Counts calls per request.
 *
 * @typedef {{ into: number, out: number }} Calls from JavaScript into wasm, and out of it
 *
 * @param {import("./servers.mjs").Bench} bench
 * @returns {Promise<Record<keyof typeof REQUESTS, { worker: Calls, object: Calls }>>}
 */
export async function countCrossings(bench) {
  console.log("bench: crossings …");
  const server = await startServer(bench, ["counted"]);
  try {
    const base = `http://127.0.0.1:${server.ports.counted}`;
    const send = createClient(base, bench.signToken());
    const counted = {};
    for (const [path, build] of Object.entries(REQUESTS)) counted[path] = await count(send, build);
    return counted;
  } finally {
    await server.stop();
  }
}

/** Sends one request after another, so that every call belongs to the pending request. */
async function count(send, build) {
  // The first request also reads the configuration, so it does not count.
  await send(...build(0));
  await send("/crossings");
  for (let at = 1; at <= REPEATS; at++) await send(...build(at));
  const { worker, object } = JSON.parse(await send("/crossings"));
  return { worker: divide(worker), object: divide(object) };
}

function divide({ into, out }) {
  return { into: into / REPEATS, out: out / REPEATS };
}

function createClient(base, token) {
  return async (target, init = {}) => {
    const headers = { ...init.headers, authorization: `Bearer ${token}` };
    const response = await fetch(base + target, { ...init, headers });
    const text = await response.text();
    if (!response.ok) throw new Error(`${target}: ${response.status} ${text}`);
    return text;
  };
}
