/**
 * The gateway beside others: a bare pass-through, one written by hand and one on Hono, all in
 * one workerd with one upstream, in alternating rounds. A ratio is of two rates of one round,
 * so that what disturbs the machine for a while disturbs both.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { countCrossings } from "./crossings.mjs";
import { selfTest } from "./selftest.mjs";
import { PROJECT, startBench, startServer } from "./servers.mjs";
import { STEP_VARIANTS, STEPS, VARIANTS } from "./variants.mjs";

const LOAD = fileURLToPath(new URL("load.mjs", import.meta.url));
/** With these, the gateway's whole part takes some three minutes. */
const DEFAULTS = { rounds: 8, milliseconds: 1000, connections: 32 };
/** How long each is warmed up, in milliseconds. */
const WARM_UP = 600;

const PASSING = ["bare", "hand", "hono", "quillgate"];
/** Which gateways are asked on which path; what keeps nothing has nothing in its cache. */
export const PLAN = {
  "views uncached": [...PASSING, ...Object.keys(STEPS)],
  "views cached": ["fixed", "quillgate"],
  "job read": PASSING,
  create: ["bare", "hand", "hono", "hand-do", "quillgate"],
};

/**
 * One gateway on one path in one round.
 *
 * @typedef {import("./load.mjs").Result} Sample
 *
 * @typedef {object} Measured
 * @property {Record<string, Record<string, Sample[]>>} samples by path and gateway, one a round
 * @property {Record<string, import("./crossings.mjs").Crossings>} crossings by path
 * @property {{ rounds: number, milliseconds: number, connections: number }} options
 * @property {string} folder where the storage was
 */

/**
 * Measures. The gateway must have been built.
 *
 * @param {Partial<typeof DEFAULTS>} [options]
 * @returns {Promise<Measured>}
 */
export async function measureGateway(options) {
  const chosen = { ...DEFAULTS, ...options };
  const bench = await startBench();
  try {
    await checked(bench);
    console.log("bench: counting crossings …");
    const crossings = await countCrossings(bench);
    const samples = await loaded(bench, chosen);
    return { samples, crossings, options: chosen, folder: bench.folder };
  } finally {
    await bench.stop();
  }
}

/** In a process of its own: what failed there must not slow down what is measured. */
async function checked(bench) {
  console.log("bench: whether every gateway checks what it must …");
  const server = await startServer(bench.folder, VARIANTS, bench.vars);
  try {
    await selfTest(bench, server);
  } finally {
    await server.stop();
  }
}

async function loaded(bench, options) {
  const server = await startServer(bench.folder, [...VARIANTS, ...STEP_VARIANTS], bench.vars);
  const load = fork(LOAD);
  try {
    return await inRounds(sender(bench, server, load, options), options);
  } finally {
    load.disconnect();
    await server.stop();
  }
}

function sender(bench, server, load, { connections }) {
  const pids = { gateway: server.pid, upstream: bench.upstream.pid };
  const common = { project: PROJECT, token: bench.token(), connections, pids };
  return async (path, name, milliseconds) => {
    load.send({ ...common, path, port: server.ports[name], milliseconds });
    const [{ result, error }] = await once(load, "message");
    if (error) throw new Error(`${name}, ${path}: ${error}`);
    return result;
  };
}

async function inRounds(send, { rounds, milliseconds }) {
  const samples = {};
  console.log("bench: warming up …");
  for (const [path, names] of Object.entries(PLAN)) {
    samples[path] = Object.fromEntries(names.map((name) => [name, []]));
    for (const name of names) await send(path, name, WARM_UP);
  }
  for (let round = 0; round < rounds; round++) {
    console.log(`bench: round ${round + 1} of ${rounds} …`);
    for (const [path, names] of Object.entries(PLAN)) {
      for (const name of rotated(names, round)) {
        samples[path][name].push(await send(path, name, milliseconds));
      }
    }
  }
  return samples;
}

/** The same in another order, so that none is always the first. */
function rotated(names, by) {
  const first = by % names.length;
  return [...names.slice(first), ...names.slice(0, first)];
}
