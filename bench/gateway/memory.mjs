/**
 * Memory for distinct requests. This module measures the resident memory of workerd before and
 * after thousands of distinct requests for rows of one page, which cost their caller nothing. It
 * first sends the same request as many times: V8 needs memory for any work, and the difference
 * shows what the gateway retains for distinct requests. (wrangler is not used, because its
 * inspector stores the whole log.)
 */
import { readResident } from "./resident.mjs";
import { PROJECT, startServer } from "./servers.mjs";

export const REQUESTS = 24_000;
/** The heaps of workerd, each in its own process. V8 leaves less garbage in a small one. */
const HEAPS = {
  "default-heap": { heap: "default V8 heap" },
  "small-heap": {
    heap: "V8 heap of 48 MB",
    v8Flags: ["--min-semi-space-size=1", "--max-semi-space-size=1", "--max-old-space-size=48"],
  },
};

/** Number of concurrent connections. */
const CONNECTIONS = 16;
const PAGE_ROWS = 250;
/** Ways to write the end of the same range, each with any number of zeros. */
const DATE_FORMATS = [
  (zeros) => `2026-02-01T00:00:00.${zeros}Z`,
  (zeros) => `2026-02-01T00:00:00.000${zeros}9%2B00:00`,
  (zeros) => `2026-02-01T05:30:00.${zeros}%2B05:30`,
  (zeros) => `2026-01-31T14:00:00.${zeros}-10:00`,
];
/** Selects half of the page. */
const SAME_QUERY = "dateFrom=2026-01-01&dateTo=2026-02-01T00:00:00Z&limit=125";
/** Maximum number of zeros in a date; a request line may have 16 kB. */
const MAX_ZEROS = 8000;

/**
 * Measures one heap after another.
 *
 * @typedef {object} Memory resident memory in bytes
 * @property {string} heap description
 * @property {number} first after one request
 * @property {number} same after the same request {@link REQUESTS} times
 * @property {number} distinct after as many distinct requests
 *
 * @param {import("./servers.mjs").Bench} bench
 * @returns {Promise<Record<string, Memory>>} by name of the heap
 */
export async function measureMemory(bench) {
  console.log("bench: memory …");
  const measured = {};
  for (const [name, heap] of Object.entries(HEAPS)) measured[name] = await measureHeap(bench, heap);
  return measured;
}

async function measureHeap(bench, { heap, v8Flags }) {
  const server = await startServer(bench, ["quillgate"], v8Flags);
  try {
    const base = `http://127.0.0.1:${server.ports.quillgate}/v1/analytics/${PROJECT}/views?`;
    const init = { headers: { authorization: `Bearer ${bench.signToken()}` } };
    const sendMany = (query) => repeat((at) => send(`${base}${query(at)}`, init));
    await send(`${base}${SAME_QUERY}`, init);
    const first = readResident(server.pid);
    await sendMany(() => SAME_QUERY);
    const same = readResident(server.pid);
    await sendMany(buildDistinctQuery);
    return { heap, first, same, distinct: readResident(server.pid) };
  } finally {
    await server.stop();
  }
}

/** Calls `run` with each number below {@link REQUESTS}: {@link CONNECTIONS} calls at a time. */
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

/** Returns a query that differs from those of most other numbers: about 5 % are repeated. */
function buildDistinctQuery(at) {
  const zeros = "0".repeat(1 + ((at * 37) % MAX_ZEROS));
  const dateTo = DATE_FORMATS[at % DATE_FORMATS.length](zeros);
  const limit = 1 + (at % PAGE_ROWS);
  const offset = at % (PAGE_ROWS + 1 - limit);
  return `dateFrom=2026-01-01&dateTo=${dateTo}&limit=${limit}&offset=${offset}`;
}

async function send(url, init) {
  const response = await fetch(url, init);
  const text = await response.text();
  if (!response.ok) throw new Error(`the gateway responded ${response.status}: ${text}`);
}
