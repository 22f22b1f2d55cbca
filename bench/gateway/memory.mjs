/**
 * How much memory workerd itself holds before and after thousands of different requests that cost
 * their caller nothing, since all of them ask for rows of the same page. As many times the same
 * request comes first: what V8 takes for any work is not what is kept of distinct requests. (Under
 * wrangler the inspector keeps every line of the log.)
 */
import { readResident } from "./resident.mjs";
import { PROJECT, startServer } from "./servers.mjs";

export const REQUESTS = 24_000;
/** In a small heap V8 leaves less garbage lying than in one of the usual size. */
const SMALL_HEAP = [
  "--min-semi-space-size=1",
  "--max-semi-space-size=1",
  "--max-old-space-size=48",
];
/** One Worker per process. */
const RUNS = {
  quillgate: { variant: "quillgate" },
  before: { variant: "before" },
  "small-heap": { variant: "quillgate", v8Flags: SMALL_HEAP },
};

/** Connections that are used at a time. */
const CONNECTIONS = 16;
const PAGE_ROWS = 250;
/** The end of one range, in four of its endless spellings. */
const SPELLINGS = [
  (zeros) => `2026-02-01T00:00:00.${zeros}Z`,
  (zeros) => `2026-02-01T00:00:00.000${zeros}9%2B00:00`,
  (zeros) => `2026-02-01T05:30:00.${zeros}%2B05:30`,
  (zeros) => `2026-01-31T14:00:00.${zeros}-10:00`,
];
/** A small piece of the same page. */
const SAME = "dateFrom=2026-01-01&dateTo=2026-02-01T00:00:00Z&limit=125";
/** The longest spelling of a date, in characters; a request line may have 16 kB. */
const LONGEST = 8000;

/**
 * Measures the variants one after another.
 *
 * @typedef {object} Memory resident, in bytes
 * @property {number} first after one request
 * @property {number} same after the same request {@link REQUESTS} times
 * @property {number} distinct after as many distinct ones
 *
 * @param {import("./servers.mjs").Bench} bench
 * @returns {Promise<Record<string, Memory>>} by variant; `small-heap` is ours in one
 */
export async function measureMemory(bench) {
  console.log("bench: memory …");
  const measured = {};
  for (const [name, run] of Object.entries(RUNS)) measured[name] = await measureRun(bench, run);
  return measured;
}

async function measureRun(bench, { variant, v8Flags }) {
  const server = await startServer(bench, [variant], v8Flags);
  try {
    const base = `http://127.0.0.1:${server.ports[variant]}/v1/analytics/${PROJECT}/views?`;
    const init = { headers: { authorization: `Bearer ${bench.signToken()}` } };
    const sendMany = (query) => repeat((at) => send(`${base}${query(at)}`, init));
    await send(`${base}${SAME}`, init);
    const first = readResident(server.pid);
    await sendMany(() => SAME);
    const same = readResident(server.pid);
    await sendMany(writeQuery);
    return { first, same, distinct: readResident(server.pid) };
  } finally {
    await server.stop();
  }
}

/** Calls `run` with each number below {@link REQUESTS}, a few at a time. */
async function repeat(run) {
  let next = 0;
  const work = async () => {
    while (next < REQUESTS) {
      const at = next;
      next += 1;
      await run(at);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
}

/** The query of this number, which no other one is the same as. */
function writeQuery(at) {
  const zeros = "0".repeat(1 + ((at * 37) % LONGEST));
  const dateTo = SPELLINGS[at % SPELLINGS.length](zeros);
  const limit = 1 + (at % PAGE_ROWS);
  const offset = at % (PAGE_ROWS + 1 - limit);
  return `dateFrom=2026-01-01&dateTo=${dateTo}&limit=${limit}&offset=${offset}`;
}

async function send(url, init) {
  const response = await fetch(url, init);
  const text = await response.text();
  if (!response.ok) throw new Error(`answered ${response.status}: ${text}`);
}
