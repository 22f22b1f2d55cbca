/**
 * Memory for distinct requests. This module measures the resident memory of workerd after batches
 * of distinct requests for rows of one page, which cost their caller nothing. V8 enlarges its heap
 * in the first batches. Growth between later batches shows what the gateway retains. (wrangler is
 * not used, because its inspector stores the whole log.)
 */
import { readResident } from "./process_usage.mjs";
import { PROJECT, startServer } from "./servers.mjs";

export const REQUESTS = 24_000;
/** The numbers of the two batches that are compared. */
export const FIRST = 5;
export const LAST = 10;

const CONNECTIONS = 16;
const PAGE_ROWS = 250;
/** Ways to write the end of the same range, each with any digits after the milliseconds. */
const DATE_FORMATS = [
  (digits) => `2026-02-01T00:00:00.000${digits}Z`,
  (digits) => `2026-02-01T00:00:00.000${digits}%2B00:00`,
  (digits) => `2026-02-01T05:30:00.000${digits}%2B05:30`,
  (digits) => `2026-01-31T14:00:00.000${digits}-10:00`,
];
/** Maximum number of zeros in a date; a request line may have 16 kB. */
const MAX_ZEROS = 8000;

export async function measureMemory(bench) {
  const server = await startServer(bench, ["quillgate"]);
  const base = `http://127.0.0.1:${server.ports.quillgate}/v1/analytics/${PROJECT}/views?`;
  const init = { headers: { authorization: `Bearer ${bench.signToken()}` } };
  const batches = [];
  try {
    while (batches.length < LAST) {
      console.log(`bench: memory: batch ${batches.length + 1} …`);
      const first = batches.length * REQUESTS;
      await repeat((at) => send(base + buildDistinctQuery(first + at), init));
      batches.push(readResident(server.pid));
    }
    return batches;
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

/** Returns a query that differs from those of all other numbers. */
function buildDistinctQuery(at) {
  const digits = `${"0".repeat((at * 37) % MAX_ZEROS)}${1 + at}`;
  const dateTo = DATE_FORMATS[at % DATE_FORMATS.length](digits);
  const limit = 1 + (at % PAGE_ROWS);
  const offset = at % (PAGE_ROWS + 1 - limit);
  return `dateFrom=2026-01-01&dateTo=${dateTo}&limit=${limit}&offset=${offset}`;
}

async function send(url, init) {
  const response = await fetch(url, init);
  const text = await response.text();
  if (!response.ok) throw new Error(`the gateway responded ${response.status}: ${text}`);
}
