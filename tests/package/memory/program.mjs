/**
 * Makes calls of every kind with the package installed beside this file, and leaves lists and
 * watches unfinished. This program does both twice, and prints the memory in use after each run.
 *
 * `node --expose-gc program.mjs <calls> <abandoned>`
 */
import { setImmediate as turn } from "node:timers/promises";

const [calls, abandoned] = process.argv.slice(2).map(Number);
const CONCURRENT_CALLS = 20;
const ROWS = 20;
const JOB = { id: "j1", status: "active" };

// --- the runtime -------------------------------------------------------------

/** Every wasm memory and table of this process. The package does not export its own. */
const memories = new Set();
const tables = new Set();
for (const name of ["instantiate", "instantiateStreaming"]) {
  const instantiate = WebAssembly[name];
  WebAssembly[name] = async (...args) => {
    const result = await instantiate.apply(WebAssembly, args);
    note((result.instance ?? result).exports);
    return result;
  };
}
WebAssembly.Instance = class extends WebAssembly.Instance {
  constructor(...args) {
    super(...args);
    note(this.exports);
  }
};

function note(exports) {
  for (const value of Object.values(exports)) {
    if (value instanceof WebAssembly.Memory) memories.add(value);
    if (value instanceof WebAssembly.Table) tables.add(value);
  }
}

/** Skips waits between attempts and polls. Time limits keep their length. */
const { setTimeout: startTimer } = globalThis;
globalThis.setTimeout = (run, ms, ...rest) =>
  startTimer(run, ms >= 300 && ms <= 31_000 ? 0 : ms, ...rest);

let requests = 0;
let responses = 0;
let polls = 0;

async function respond(input, init) {
  const request = new Request(input, init);
  requests++;
  await turn();
  responses++;
  request.signal.throwIfAborted();
  const { pathname, searchParams } = new URL(request.url);
  const id = decodeURIComponent(pathname.split("/").find((part) => part.startsWith("j-")) ?? "");
  if (pathname.endsWith("/events"))
    return id === "j-streamed" ? eventStream(request.signal) : json({}, 404);
  if (id === "j-missing") return json({ error: "no such job" }, 404);
  if (id === "j-failing") return json({ error: "out of order" }, 500);
  if (id === "j-malformed") return json({ id: 5 });
  if (id === "j-cut") return new Response(brokenBody());
  if (id === "j-unreachable") throw new TypeError("fetch failed", { cause: new Error("refused") });
  if (id === "j-silent") return untilAborted(request.signal);
  if (id === "j-changing") return json({ id, status: polls++ % 2 ? "completed" : "active" });
  if (pathname.endsWith("/jobs")) return json(jobPage(searchParams));
  if (pathname.endsWith("/views")) return json(viewPage(searchParams));
  if (pathname.endsWith("/feedback")) return json(feedbackPage(searchParams));
  return json(JOB, request.method === "POST" ? 201 : 200);
}

function json(value, status = 200) {
  const headers = { "content-type": "application/json", "x-request-id": `r${requests}` };
  return new Response(JSON.stringify(value), { status, headers });
}

function viewPage(query) {
  const offset = Number(query.get("offset") ?? 0);
  const row = (_, at) => ({ path: `/page-${offset + at}`, human: at, ai: 1, total: at + 1 });
  const views = Array.from({ length: ROWS }, row);
  return { totals: { human: 1, ai: 1, total: 2 }, views, hasMore: offset < 4 * ROWS };
}

function feedbackPage(query) {
  const at = Number(query.get("cursor") ?? 0);
  const makeRow = (_, row) => ({ id: `f${at}-${row}`, source: "page" });
  const feedback = Array.from({ length: ROWS }, makeRow);
  return { feedback, nextCursor: String(at + 1), hasMore: at < 4 };
}

function jobPage(query) {
  const at = Number(query.get("cursor") ?? 0);
  const makeRow = (_, row) => ({ id: `j${at}-${row}`, status: "active" });
  const jobs = Array.from({ length: ROWS }, makeRow);
  return { jobs, nextCursor: at < 4 ? String(at + 1) : null };
}

function brokenBody() {
  return new ReadableStream({
    async pull(controller) {
      controller.enqueue(new TextEncoder().encode('{"id":'));
      await turn();
      controller.error(new TypeError("terminated"));
    },
  });
}

function eventStream(signal) {
  const body = new ReadableStream({
    start(controller) {
      const event = `id: 1\nevent: job\ndata: ${JSON.stringify(JOB)}\n\n`;
      controller.enqueue(new TextEncoder().encode(event));
      signal.addEventListener("abort", () => controller.error(signal.reason), { once: true });
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

function untilAborted(signal) {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

// --- the calls ---------------------------------------------------------------

globalThis.fetch = respond;
const quillgate = await import("quillgate");
const { Client } = quillgate;
const auth = { token: "t" };
const OPTIONS = { baseUrl: "https://gate.invalid", projectId: "acme", auth, logLevel: "off" };
const OWN_FETCH = { ...OPTIONS, fetch: respond };
/** One with the runtime's `fetch`, one with a custom `fetch` and hooks. */
const clients = [
  new Client(OPTIONS),
  new Client({ ...OWN_FETCH, onRequest() {}, onResponse() {}, onRetry() {} }),
];

/** Returns a function that reads a job with a client. */
const getJob =
  (id, options) =>
  ({ agentJobs }) =>
    agentJobs.get(id, options);

const KINDS = {
  get: [undefined, getJob("j-1")],
  create: [undefined, ({ agentJobs }) => agentJobs.create({ prompt: "Say “é” 😀" })],
  "follow-up": [undefined, ({ agentJobs }) => agentJobs.sendMessage("j-1", { prompt: "more" })],
  "with its response": [undefined, ({ agentJobs }) => agentJobs.get("j-1").withResponse()],
  "a page by offset": [undefined, ({ analytics }) => analytics.views({ limit: ROWS })],
  "a page by cursor": [undefined, ({ analytics }) => analytics.feedback()],
  "a page of jobs": [undefined, ({ agentJobs }) => agentJobs.list({ limit: ROWS })],
  "every row": [undefined, ({ analytics }) => analytics.views().all()],
  "a wait for a job": [undefined, ({ agentJobs }) => agentJobs.wait("j-changing")],
  "a built request": [undefined, (client) => client.buildRequest("agentJobs.list")],
  "a new client": [
    undefined,
    (client) => getJob("j-1")(new Client(client === clients[0] ? OPTIONS : OWN_FETCH)),
  ],
  "a client with changed options": [
    undefined,
    (client) => getJob("j-1")(client.withOptions({ timeout: 40_000 })),
  ],
  "invalid input": ["ValidationError", ({ analytics }) => analytics.views({ limit: 251 })],
  "an invalid client": [
    "ValidationError",
    async () => new Client({ ...OPTIONS, baseUrl: "ftp://gate.invalid" }),
  ],
  "an unknown job": ["NotFoundError", getJob("j-missing")],
  "three attempts": ["ServerError", getJob("j-failing", { maxRetries: 2 })],
  "one attempt": ["ServerError", getJob("j-failing", { maxRetries: 0 })],
  "no connection": ["ConnectionError", getJob("j-unreachable")],
  "a body that ends early": ["ConnectionError", getJob("j-cut")],
  "a malformed body": ["DecodeError", getJob("j-malformed")],
  "no response": ["RequestTimeoutError", getJob("j-silent", { timeout: 5, maxRetries: 0 })],
  // Every call has a new signal.
  "aborted before": [
    "AbortError",
    (client) => getJob("j-1", { signal: AbortSignal.abort() })(client),
  ],
  "aborted during the request": [
    "AbortError",
    ({ agentJobs }) =>
      aborting((signal, abort) => {
        const job = agentJobs.get("j-silent", { signal });
        turn().then(turn).then(abort);
        return job;
      }),
  ],
  "aborted during a wait": [
    "AbortError",
    (client) =>
      aborting((signal, abort) =>
        client.withOptions({ onRetry: abort }).agentJobs.get("j-failing", { signal }),
      ),
  ],
  "an aborted list": [
    "AbortError",
    ({ analytics }) =>
      aborting((signal, abort) => analytics.views({}, { signal }).all({ onProgress: abort })),
  ],
};

function aborting(call) {
  const controller = new AbortController();
  return call(controller.signal, () => controller.abort());
}

const counts = {};

async function callEachKind(times) {
  const kinds = Object.entries(KINDS);
  let next = 0;
  const work = async () => {
    while (next < times) {
      const at = next++;
      const [kind, [expected, call]] = kinds[at % kinds.length];
      counts[kind] = (counts[kind] ?? 0) + 1;
      const ended = await Promise.resolve(call(clients[at % clients.length])).then(
        () => undefined,
        (error) => error,
      );
      if (ended?.name !== expected) throw new Error(`${kind} ended unexpectedly`, { cause: ended });
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT_CALLS }, work));
}

// --- abandoned lists and watches ---------------------------------------------

const ABANDONED = {
  async "rows, closed after the first"({ analytics }) {
    for await (const _ of analytics.views()) break;
  },
  async "rows by cursor, closed after the first"({ agentJobs }) {
    for await (const _ of agentJobs.list()) break;
  },
  async "pages, closed after the first"({ analytics }) {
    for await (const _ of analytics.feedback().pages()) break;
  },
  async "a watch, closed after the first change"({ agentJobs }) {
    for await (const _ of agentJobs.watch("j-streamed")) break;
  },
  async "rows, dropped after the first"({ analytics }) {
    await analytics.views()[Symbol.asyncIterator]().next();
  },
  async "rows, dropped while the next page is requested"({ analytics }) {
    const rows = analytics.views()[Symbol.asyncIterator]();
    for (let row = 0; row <= ROWS / 2; row++) await rows.next();
  },
  async "pages, dropped after the first"({ agentJobs }) {
    await agentJobs.list().pages().next();
  },
  async "rows, dropped before the first"({ analytics }) {
    const expected = responses + 1;
    analytics.views()[Symbol.asyncIterator]().next();
    while (responses < expected) await turn();
  },
  async "rows, dropped without a read"({ analytics }) {
    analytics.views()[Symbol.asyncIterator]();
  },
  async "a watch, dropped after the first change"({ agentJobs }) {
    await agentJobs.watch("j-polled").next();
  },
};

async function abandonEachKind(times) {
  const kinds = Object.entries(ABANDONED);
  for (let at = 0; at < times; at++) {
    const [kind, abandon] = kinds[at % kinds.length];
    counts[kind] = (counts[kind] ?? 0) + 1;
    await abandon(clients[Math.floor(at / kinds.length) % clients.length]);
  }
}

// --- memory in use -----------------------------------------------------------

async function settle() {
  let lowest = Number.POSITIVE_INFINITY;
  for (let still = 0, round = 0; still < 5 && round < 200; round++) {
    globalThis.gc();
    await turn();
    const { heapUsed } = process.memoryUsage();
    still = heapUsed < lowest - 4096 ? 0 : still + 1;
    lowest = Math.min(lowest, heapUsed);
  }
  const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
  return {
    heap: lowest,
    wasm: sum([...memories].map(({ buffer }) => buffer.byteLength)),
    values: sum([...tables].map(countValues)),
    entries: sum([...tables].map(({ length }) => length)),
  };
}

/** Returns the number of values in a wasm table. A freed entry is null. */
function countValues(table) {
  let count = 0;
  for (let at = 0; at < table.length; at++) if (table.get(at) != null) count++;
  return count;
}

async function run() {
  await callEachKind(calls);
  await abandonEachKind(abandoned);
  return settle();
}

// The first run warms up: it compiles code and creates objects that exist only once.
const before = await run();
for (const kind of Object.keys(counts)) delete counts[kind];
const after = await run();
console.log(`MEMORY ${JSON.stringify({ before, after, counts, memories: memories.size })}`);
// Exit explicitly, because pending timeouts of the dropped calls keep the process alive.
process.exit();
