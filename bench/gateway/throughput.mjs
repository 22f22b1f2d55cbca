/**
 * Measures the gateway under load beside another Worker in the same process. The Workers take turns
 * in each round. A ratio divides two samples of the same round, so a disturbance of the machine
 * affects both.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { PROJECT, startServer } from "./servers.mjs";

const LOAD = fileURLToPath(new URL("load.mjs", import.meta.url));

export const CONNECTIONS = 32;
/** Many short rounds, because the machine's own speed varies by a tenth from second to second. */
export const ROUNDS = 84;
/** Duration of a Worker's sample in a round, in milliseconds. */
export const SAMPLE = 200;
/** Duration of each Worker's warm-up, in milliseconds. */
const WARM_UP = 2000;
/** Maximum number of cores that other processes may use during an undisturbed round. */
const MAX_OTHERS = 0.3;
/** Maximum number of rounds that replace disturbed ones. */
export const SPARE_ROUNDS = 16;

/** The Workers that share a process, by path. */
const GROUPS = {
  "views-cached": ["quillgate", "same_statements"],
  "views-uncached": ["quillgate", "same_statements"],
  "job-read": ["quillgate", "hono"],
  create: ["quillgate", "same_statements"],
};

export async function measureThroughput(bench, path) {
  const names = GROUPS[path];
  console.log(`bench: ${path}: ${names.join(", ")} …`);
  const server = await startServer(bench, names);
  const load = fork(LOAD);
  try {
    const sample = createSampler({ bench, server, load, path });
    for (const name of names) await sample(name, WARM_UP);
    const rounds = await measureRounds(names, sample);
    return Object.fromEntries(names.map((name) => [name, rounds.map((round) => round[name])]));
  } finally {
    load.disconnect();
    await server.stop();
  }
}

/** Returns the least disturbed of {@link ROUNDS} and up to {@link SPARE_ROUNDS} more rounds. */
async function measureRounds(names, sample) {
  const rounds = [];
  const isComplete = () =>
    rounds.length === ROUNDS + SPARE_ROUNDS ||
    rounds.filter((round) => findOthers(round) <= MAX_OTHERS).length === ROUNDS;
  while (!isComplete()) {
    const round = {};
    for (const name of orderNames(names, rounds.length)) round[name] = await sample(name, SAMPLE);
    rounds.push(round);
  }
  return rounds.sort((a, b) => findOthers(a) - findOthers(b)).slice(0, ROUNDS);
}

function findOthers(round) {
  return Math.max(...Object.values(round).map(({ others }) => others));
}

/** Rotates the order after every second round, and reverses it in odd rounds. */
function orderNames(names, round) {
  const first = Math.floor(round / 2) % names.length;
  const order = [...names.slice(first), ...names.slice(0, first)];
  return round % 2 === 0 ? order : order.reverse();
}

function createSampler({ bench, server, load, path }) {
  const pids = { gateway: server.pid, upstream: bench.upstream.pid };
  const token = bench.signToken();
  const common = { path, project: PROJECT, token, connections: CONNECTIONS, pids };
  return async (name, milliseconds) => {
    load.send({ ...common, port: server.ports[name], milliseconds });
    const [{ sample, error }] = await once(load, "message");
    if (error) throw new Error(`${name}, ${path}: ${error}`);
    return sample;
  };
}
