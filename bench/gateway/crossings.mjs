/** How often a request crosses between JavaScript and wasm, by path and by place. */
import { PROJECT, startServer } from "./servers.mjs";
import { COUNTED } from "./variants.mjs";

const RUNS = 20;
const RANGE = "dateFrom=2026-01-01&dateTo=2026-02-01&limit=250";

/** What is asked for, by path; `at` makes a request another one than those before. */
const PATHS = {
  "views uncached": (at) => [`/v1/analytics/${PROJECT}/views?${RANGE}&offset=${at * 250}`],
  "views cached": () => [`/v1/analytics/${PROJECT}/views?${RANGE}&offset=0`],
  "job read": () => [`/v2/agent/${PROJECT}/job/job_00000000`],
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
 * Calls a request by path.
 *
 * @typedef {{ worker: number, object: number, names: string }} Crossings `names` of the calls,
 *   with how often each is made when that is not once
 *
 * @param {import("./servers.mjs").Bench} bench
 * @returns {Promise<Record<keyof typeof PATHS, Crossings>>}
 */
export async function countCrossings(bench) {
  const server = await startServer(bench.folder, [COUNTED], bench.vars);
  try {
    const ask = asker(`http://127.0.0.1:${server.ports[COUNTED.name]}`, bench.token());
    const counted = {};
    for (const [path, request] of Object.entries(PATHS)) counted[path] = await count(ask, request);
    return counted;
  } finally {
    await server.stop();
  }
}

/** Requests one after another, so that each call is of the request that is under way. */
async function count(ask, request) {
  // What is done once, such as reading the configuration, is none of a request's.
  await ask(...request(0));
  await ask("/crossings");
  for (let run = 1; run <= RUNS; run++) await ask(...request(run));
  const { worker, object } = JSON.parse(await ask("/crossings"));
  return { worker: sum(worker), object: sum(object), names: named({ worker, object }) };
}

function asker(base, token) {
  return async (target, init = {}) => {
    const headers = { ...init.headers, authorization: `Bearer ${token}` };
    const response = await fetch(base + target, { ...init, headers });
    if (!response.ok) throw new Error(`${target}: ${response.status} ${await response.text()}`);
    return await response.text();
  };
}

function sum(calls) {
  return Object.values(calls).reduce((all, one) => all + one, 0) / RUNS;
}

function named(places) {
  return Object.entries(places)
    .map(([place, calls]) => {
      const words = Object.entries(calls).map(([name, times]) => {
        return times === RUNS ? name : `${times / RUNS} × ${name}`;
      });
      return words.length === 0 ? "" : `${place}: ${words.join(", ")}`;
    })
    .filter(Boolean)
    .join("; ");
}
