/**
 * Makes calls of every kind with the package that is installed beside this file, leaves lists and
 * watches unfinished, and does all of that once more. Prints what was in memory after each time.
 *
 * `node --expose-gc memory.mjs <calls> <abandoned>`
 */
import { setImmediate as turn } from "node:timers/promises";

const [calls, abandoned] = process.argv.slice(2).map(Number);
const AT_A_TIME = 20;
const ROWS = 20;
const JOB = { id: "j1", status: "active" };

// --- the host ----------------------------------------------------------------

/** Every wasm memory and table of this process. The package's are not named in its interface. */
const memories = new Set();
const tables = new Set();
for (const name of ["instantiate", "instantiateStreaming"]) {
  const instantiate = WebAssembly[name];
  WebAssembly[name] = async (...args) => {
    const made = await instantiate.apply(WebAssembly, args);
    note((made.instance ?? made).exports);
    return made;
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

/** Waits between attempts and looks go by at once; time limits stay what they are. */
const { setTimeout: startTimer } = globalThis;
globalThis.setTimeout = (run, ms, ...rest) =>
  startTimer(run, ms >= 300 && ms <= 31_000 ? 0 : ms, ...rest);

let requests = 0;
let answers = 0;
let watchedTimes = 0;

/** Answers by what the path says, as a network would: not before another turn of the event loop. */
async function answer(input, init) {
  const request = new Request(input, init);
  requests++;
  await turn();
  answers++;
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
  if (id === "j-changing") return json({ id, status: watchedTimes++ % 2 ? "completed" : "active" });
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
  const feedback = Array.from({ length: ROWS }, (_, row) => ({
    id: `f${at}-${row}`,
    source: "page",
  }));
  return { feedback, nextCursor: String(at + 1), hasMore: at < 4 };
}

function jobPage(query) {
  const at = Number(query.get("cursor") ?? 0);
  const jobs = Array.from({ length: ROWS }, (_, row) => ({
    id: `j${at}-${row}`,
    status: "active",
  }));
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

/** A job's changes: one, and then nothing until the caller leaves. */
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

globalThis.fetch = answer;
const quillgate = await import("quillgate");
const { Client } = quillgate;
const OPTIONS = { baseUrl: "https://gate.invalid", projectId: "acme", token: "t", logLevel: "off" };
/** One by the host's `fetch`, one by a function of its own and with hooks. */
const clients = [
  new Client(OPTIONS),
  new Client({
    ...OPTIONS,
    fetch: answer,
    onRequest() {},
    onResponse() {},
    onRetry() {},
  }),
];

/** How each kind of call ends: with the name of an error, or well. */
const KINDS = {
  get: [undefined, ({ agentJobs }) => agentJobs.get("j-1")],
  create: [undefined, ({ agentJobs }) => agentJobs.create({ prompt: "Say “é” 😀" })],
  "follow-up": [undefined, ({ agentJobs }) => agentJobs.sendMessage("j-1", { prompt: "more" })],
  "with its response": [undefined, ({ agentJobs }) => agentJobs.get("j-1").withResponse()],
  "a page by offset": [undefined, ({ analytics }) => analytics.views({ limit: ROWS })],
  "a page by cursor": [undefined, ({ analytics }) => analytics.feedback()],
  "a page of jobs": [undefined, ({ agentJobs }) => agentJobs.list({ limit: ROWS })],
  "every row": [undefined, ({ analytics }) => analytics.views().all()],
  "a job that is waited for": [undefined, ({ agentJobs }) => agentJobs.wait("j-changing")],
  "a request that is not sent": [undefined, (client) => client.buildRequest("agentJobs.list")],
  "a new client": [
    undefined,
    (client) =>
      new Client(client === clients[0] ? OPTIONS : { ...OPTIONS, fetch: answer }).agentJobs.get(
        "j-1",
      ),
  ],
  "a client with other options": [
    undefined,
    (client) => client.withOptions({ timeout: 40_000 }).agentJobs.get("j-1"),
  ],
  "refused input": ["ValidationError", ({ analytics }) => analytics.views({ limit: 251 })],
  "a refused client": [
    "ValidationError",
    () => new Client({ ...OPTIONS, baseUrl: "ftp://gate.invalid" }).agentJobs.get("j-1"),
  ],
  "an unknown job": ["NotFoundError", ({ agentJobs }) => agentJobs.get("j-missing")],
  "three attempts": [
    "ServerError",
    ({ agentJobs }) => agentJobs.get("j-failing", { maxRetries: 2 }),
  ],
  "one attempt": ["ServerError", ({ agentJobs }) => agentJobs.get("j-failing", { maxRetries: 0 })],
  "no connection": ["ConnectionError", ({ agentJobs }) => agentJobs.get("j-unreachable")],
  "a body that breaks off": ["ConnectionError", ({ agentJobs }) => agentJobs.get("j-cut")],
  "another body": ["DecodeError", ({ agentJobs }) => agentJobs.get("j-malformed")],
  "no answer": [
    "TimeoutError",
    ({ agentJobs }) => agentJobs.get("j-silent", { timeout: 5, maxRetries: 0 }),
  ],
  "aborted before": [
    "AbortError",
    ({ agentJobs }) => agentJobs.get("j-1", { signal: AbortSignal.abort() }),
  ],
  "aborted in the request": [
    "AbortError",
    ({ agentJobs }) =>
      aborting((signal, abort) => {
        const job = agentJobs.get("j-silent", { signal });
        turn().then(turn).then(abort);
        return job;
      }),
  ],
  "aborted in the wait": [
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

/** Makes a call that is handed a signal, and how to abort it. */
function aborting(call) {
  const controller = new AbortController();
  return call(controller.signal, () => controller.abort());
}

/** How often each kind was called, to be printed. */
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
      if (ended?.name !== expected) throw new Error(`${kind} ended otherwise`, { cause: ended });
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
}

// --- what is left unfinished -------------------------------------------------

const LEFT = {
  async "rows, left after the first"({ analytics }) {
    for await (const _ of analytics.views()) break;
  },
  async "rows by cursor, left after the first"({ agentJobs }) {
    for await (const _ of agentJobs.list()) break;
  },
  async "pages, left after the first"({ analytics }) {
    for await (const _ of analytics.feedback().pages()) break;
  },
  async "a watch, left after the first change"({ agentJobs }) {
    for await (const _ of agentJobs.watch("j-streamed")) break;
  },
  async "rows, dropped after the first"({ analytics }) {
    await analytics.views()[Symbol.asyncIterator]().next();
  },
  async "rows, dropped while the next page is asked for"({ analytics }) {
    const rows = analytics.views()[Symbol.asyncIterator]();
    for (let row = 0; row <= ROWS / 2; row++) await rows.next();
  },
  async "pages, dropped after the first"({ agentJobs }) {
    await agentJobs.list().pages().next();
  },
  async "rows, dropped before the first"({ analytics }) {
    const answered = answers + 1;
    analytics.views()[Symbol.asyncIterator]().next();
    while (answers < answered) await turn();
  },
  async "rows that were never asked for"({ analytics }) {
    analytics.views()[Symbol.asyncIterator]();
  },
  async "a watch, dropped after the first change"({ agentJobs }) {
    await agentJobs.watch("j-polled").next();
  },
};

async function leaveEachKind(times) {
  const kinds = Object.entries(LEFT);
  for (let at = 0; at < times; at++) {
    const [kind, leave] = kinds[at % kinds.length];
    counts[kind] = (counts[kind] ?? 0) + 1;
    await leave(clients[Math.floor(at / kinds.length) % clients.length]);
  }
}

// --- what is in memory -------------------------------------------------------

/** What is in memory once nothing more is freed. Callbacks of finalizers are tasks of their own. */
async function settle() {
  let least = Number.POSITIVE_INFINITY;
  for (let still = 0, round = 0; still < 5 && round < 200; round++) {
    globalThis.gc();
    await turn();
    const { heapUsed } = process.memoryUsage();
    still = heapUsed < least - 4096 ? 0 : still + 1;
    least = Math.min(least, heapUsed);
  }
  const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
  return {
    heap: least,
    wasm: sum([...memories].map(({ buffer }) => buffer.byteLength)),
    values: sum([...tables].map(countValues)),
    entries: sum([...tables].map(({ length }) => length)),
  };
}

/** How many values a wasm table holds: a freed entry is null. */
function countValues(table) {
  let count = 0;
  for (let at = 0; at < table.length; at++) if (table.get(at) != null) count++;
  return count;
}

async function makeUse() {
  await callEachKind(calls);
  await leaveEachKind(abandoned);
  return settle();
}

// The first time is the warm-up: code is compiled, and what is made once is made.
const before = await makeUse();
for (const kind of Object.keys(counts)) delete counts[kind];
const after = await makeUse();
console.log(`MEMORY ${JSON.stringify({ before, after, counts, memories: memories.size })}`);
// Time limits of what was dropped are still to run out.
process.exit();
