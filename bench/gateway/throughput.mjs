/**
 * The gateway under load beside others. At most three variants share a process, since with ten
 * the ratios move by a fifth, and they take turns in rounds. A ratio is of two samples of one
 * round, so that what disturbs the machine for a while disturbs both.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { PROJECT, startServer } from "./servers.mjs";

const LOAD = fileURLToPath(new URL("load.mjs", import.meta.url));

export const CONNECTIONS = 32;
/** Many short rounds: the machine's own speed varies by a tenth from second to second. */
export const ROUNDS = 84;
/** How long each variant is measured in a round, in milliseconds. */
export const SAMPLE = 200;
/** How long each variant is warmed up, in milliseconds. */
const WARM_UP = 2000;
/** The most cores that other work may take while a round counts as undisturbed. */
const MAX_OTHERS = 0.3;
/** How many rounds there may be more than {@link ROUNDS}, in place of disturbed ones. */
export const SPARE_ROUNDS = 16;

/** The variants that share a process, by path. Each pair that a goal compares is in one group. */
const GROUPS = {
  "views-cached": [["quillgate", "before", "bare"]],
  "views-uncached": [["quillgate", "before", "hand"]],
  "job-read": [
    ["quillgate", "before", "hand"],
    ["quillgate", "hono"],
  ],
  create: [["quillgate", "before", "hand"]],
};

/**
 * Measures the groups of one path.
 *
 * @typedef {Record<string, import("./load.mjs").Sample[]>} Group samples by variant, one per round
 *
 * @param {import("./servers.mjs").Bench} bench
 * @param {keyof typeof GROUPS} path
 * @returns {Promise<Group[]>}
 */
export async function measureThroughput(bench, path) {
  const groups = [];
  for (const names of GROUPS[path]) {
    console.log(`bench: ${path}: ${names.join(", ")} …`);
    groups.push(await measureGroup(bench, path, names));
  }
  return groups;
}

async function measureGroup(bench, path, names) {
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

/** Measures rounds until enough are undisturbed, and keeps those that were least disturbed. */
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

/** Reverses odd rounds, and begins every second round with another variant. */
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
