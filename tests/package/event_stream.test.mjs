/** How a client waits for a job at a gateway that streams the job's changes. */

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { Client } from "quillgate";
import { EventParser } from "../../pkg/dist/event_stream.js";
import { event as jobEvent, streams, useServer } from "./streaming_server.mjs";

const TOKEN = "stream-test-token";
/** A stream without a byte for this long counts as broken. */
const MAX_SILENCE_MS = 45_000;

let connections = [];
let seen = { streams: [], polls: 0 };
let job;
let client;

const server = useServer((request, response) => {
  assert.equal(request.headers.authorization, `Bearer ${TOKEN}`);
  if (request.url.endsWith("/events")) {
    const { accept, "last-event-id": lastEventId } = request.headers;
    const closed = new Promise((resolve) => response.once("close", resolve));
    seen.streams.push({ accept, lastEventId, closed });
    const connection = connections.shift() ?? notFound;
    connection(response);
  } else {
    seen.polls++;
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(job));
  }
});

beforeEach(() => {
  connections = [];
  seen = { streams: [], polls: 0 };
  job = { id: "j1", status: "completed", prLink: "https://example.com/pull/1" };
  client = connect();
});

function connect(options = {}) {
  const auth = { token: TOKEN };
  return new Client({ baseUrl: server.url, projectId: "acme", auth, logLevel: "off", ...options });
}

function notFound(response) {
  response.statusCode = 404;
  response.setHeader("content-type", "application/problem+json");
  response.end('{"type":"/problems/not-found","title":"Not found","status":404}');
}

const event = (id, state) => jobEvent(id, "job", { id: "j1", ...state });

test("a stream is parsed with every kind of line end and with chunks of one byte", async () => {
  const text = event(1, { status: "active", model: "mödel" }).replaceAll("\n", "\r\n");
  const bytes = Buffer.from(`\uFEFF: c\r\r${text}${event(2, { status: "failed" })}`);
  const chunks = Array.from(bytes, (byte) => Buffer.of(byte));
  connections = [streams(chunks, "end")];
  const models = [];
  const done = await client.agentJobs.wait("j1", { onUpdate: ({ model }) => models.push(model) });
  assert.equal(done.status, "failed");
  assert.deepEqual(models, ["mödel", null]);
});

test("an event ends with its last byte, whichever its line ends are", () => {
  for (const [end, rest = ""] of [["\n\n"], ["\r\r"], ["\r\n\r", "\n"], ["\n\r", "\n"]]) {
    const parser = new EventParser();
    assert.equal(parser.push(`data: 1${end}`).length, 1, JSON.stringify(end));
    const later = [rest, "", "data: 2\r", "", `\ndata: 3${end}`].flatMap((text) =>
      parser.push(text),
    );
    assert.deepEqual(
      later.map(({ data }) => data),
      ["2\n3"],
    );
    parser.restart();
    assert.deepEqual(parser.push("\ndata: 4\n\n").length, 1);
  }
});

test("a stream is parsed with data over several lines, and ignores other events and fields", async () => {
  connections = [
    streams(
      [
        "event: other\ndata: {}\n\n",
        "data: {}\n\n",
        "event: job\n\n",
        "data\nevent\nid\n:\nunknown: x\n\n",
        'event:job\ndata: {"id":"j1",\ndata:"status":"active"}\nid: 3\n\n',
        'id: a\0b\nevent: job\ndata: {"id":"j1","status":"queued"}\n\n',
        "retry: 1\nretry: soon\nretry: -5\nretry: 99999999\n\n",
      ],
      "end",
    ),
    streams([event(4, { status: "completed" })], "end"),
  ];
  const states = [];
  for await (const { job: now } of client.agentJobs.watch("j1")) states.push(now.status);
  assert.deepEqual(states, ["active", "queued", "completed"]);
  assert.equal(seen.streams[1].lastEventId, "3");
  assert.equal(seen.polls, 0);
});

test("a stream without a byte for 45 s is closed and resumes", async (context) => {
  const { setTimeout } = globalThis;
  let expire;
  context.mock.method(globalThis, "setTimeout", (run, ms, ...rest) => {
    if (ms === MAX_SILENCE_MS) expire = run;
    return setTimeout(run, ms, ...rest);
  });
  connections = [
    streams(["retry: 1\n\n", event(7, { status: "active" })], "open"),
    streams([event(8, { status: "completed" })], "end"),
  ];
  const changes = client.agentJobs.watch("j1");
  assert.equal((await changes.next()).value.job.status, "active");
  const next = changes.next();
  expire();
  assert.equal((await next).value.job.status, "completed");
  assert.equal((await changes.next()).done, true);
  await seen.streams[0].closed;
  assert.equal(seen.streams[1].lastEventId, "7");
});

test("a stream that ends after each event is reopened only after its retry time", async () => {
  const brief = streams(["retry: 600000\n\n", event(1, { status: "active" })], "end");
  connections = Array.from({ length: 50 }, () => brief);
  const controller = new AbortController();
  const changes = client.agentJobs.watch("j1", { signal: controller.signal });
  assert.equal((await changes.next()).value.job.status, "active");
  const next = changes.next();
  await seen.streams[0].closed;
  // Enough time for many connections, counted in round trips to the same server.
  for (let trips = 0; trips < 30; trips++) await client.agentJobs.get("j1");
  assert.equal(seen.streams.length, 1);
  controller.abort(new Error("seen enough"));
  await assert.rejects(next, /seen enough/);
});

test("a job without a stream does not stop the streams of other jobs", async () => {
  await client.agentJobs.wait("j1");
  connections = [streams([event(1, { status: "failed" })], "end")];
  assert.equal((await client.agentJobs.wait("j1")).status, "failed");
  assert.deepEqual([seen.streams.length, seen.polls], [2, 1]);
});

function skipDelays(context) {
  const { setTimeout } = globalThis;
  const { now } = Date;
  let skipped = 0;
  context.mock.method(Date, "now", () => now() + skipped);
  context.mock.method(globalThis, "setTimeout", (run, ms, ...rest) => {
    if (ms > 30_000) return setTimeout(run, ms, ...rest);
    const elapse = () => {
      skipped += ms;
      run(...rest);
    };
    return setTimeout(elapse, 0);
  });
}

test("a watch whose first stream fails polls for a minute, then streams", async (context) => {
  skipDelays(context);
  job = { id: "j1", status: "active" };
  const done = event(1, { status: "completed" });
  connections = [(response) => response.socket.destroy(), notFound, streams([done], "end")];
  assert.equal((await client.agentJobs.wait("j1")).status, "completed");
  assert.equal(seen.streams.length, 3);
  assert.ok(seen.polls >= 4 && seen.polls < 40, `${seen.polls} polls`);
});

const plain = (response) =>
  response.setHeader("content-type", "text/plain").end(event(1, { status: "failed" }));
const noContent = (response) => response.writeHead(204).end();
const breaking = streams(["retry: 1\n\n"], "break");
const silent = streams([event(1, { status: "active" })], "open");
for (const [what, handlers, wait, opened] of [
  ["a 200 response that is not an event stream", [plain], {}, 1],
  ["a 204 response to the stream", [noContent], {}, 1],
  ["three streams that break without an event", Array(4).fill(breaking), {}, 3],
  ["a silent stream at the timeout of wait()", [silent], { timeout: 1_000 }, 1],
]) {
  test(`${what} is followed by one poll`, async () => {
    connections = [...handlers];
    assert.equal((await client.agentJobs.wait("j1", wait)).status, "completed");
    assert.deepEqual([seen.streams.length, seen.polls], [opened, 1]);
  });
}

test("a stream that does not open within the timeout of an attempt is replaced by polling", async () => {
  connections = [() => {}];
  const done = await connect({ timeout: 500 }).agentJobs.wait("j1");
  assert.equal(done.status, "completed");
  await seen.streams[0].closed;
});

test("a stream is opened again after a second at the earliest", async (context) => {
  const delays = [];
  const { setTimeout } = globalThis;
  context.mock.method(globalThis, "setTimeout", (run, ms, ...rest) => {
    if (ms >= 1_000 && ms <= 1_250) delays.push(ms);
    return setTimeout(run, ms, ...rest);
  });
  connections = [
    streams(["retry: 0\n\n"], "end"),
    streams([event(1, { status: "completed" })], "end"),
  ];
  await client.agentJobs.wait("j1");
  assert.equal(delays.length, 1);
});

test("the name of a media type is case-insensitive", async () => {
  const type = "Text/Event-Stream; charset=utf-8";
  const failed = event(1, { status: "failed" });
  connections = [(response) => response.setHeader("content-type", type).end(failed)];
  assert.equal((await client.agentJobs.wait("j1")).status, "failed");
});

test("an event that never ends is refused, and the events before it are returned", async () => {
  const endless = `data: ${"a".repeat(1 << 16)}\n`.repeat(40);
  connections = [
    streams([`retry: 1\n${event(1, { status: "active" })}${endless}`, endless, endless], "open"),
    streams([event(2, { status: "completed" })], "end"),
  ];
  const states = [];
  await client.agentJobs.wait("j1", { onUpdate: ({ status }) => states.push(status) });
  assert.deepEqual(states, ["active", "completed"]);
  await seen.streams[0].closed;
});

test("a watch times out although `fetch` ignores the signal", { timeout: 20_000 }, async () => {
  connections = [streams([": hb\n\n"], "open")];
  job.status = "active";
  client = connect({ fetch: (url, { signal: _, ...init }) => fetch(url, init) });
  await assert.rejects(client.agentJobs.wait("j1", { timeout: 500 }), { name: /WaitTimeout/ });
  await seen.streams[0].closed;
});

for (const [what, run] of [
  ["wait()", (jobs, signal) => jobs.wait("j1", { signal })],
  ["watch()", (jobs, signal) => jobs.watch("j1", { signal }).next()],
  ["watchAll()", (jobs, signal) => jobs.watchAll({ signal }).next()],
]) {
  test(`${what} aborts although \`fetch\` ignores the signal and never opens the stream`, {
    timeout: 20_000,
  }, async () => {
    const controller = new AbortController();
    let open;
    const late = new Promise((resolve) => {
      open = resolve;
    });
    let watching;
    await new Promise((resolve) => {
      const fetch = () => {
        resolve();
        return late;
      };
      watching = run(connect({ fetch }).agentJobs, controller.signal);
    });
    controller.abort("enough");
    assert.equal(await watching.catch((reason) => reason), "enough");
    await new Promise((cancel) => {
      const headers = { "content-type": "text/event-stream" };
      open(new Response(new ReadableStream({ cancel }), { headers }));
    });
  });
}

test("a watch times out although `fetch` never opens the stream", { timeout: 20_000 }, async () => {
  job.status = "active";
  const never = new Promise(() => {});
  client = connect({ fetch: (url, init) => (url.endsWith("/events") ? never : fetch(url, init)) });
  await assert.rejects(client.agentJobs.wait("j1", { timeout: 500 }), { name: /WaitTimeout/ });
});

test("wait() and watchAll() pass `fetchOptions` to the stream and to the polls", async () => {
  const sent = [];
  const fetchOptions = { dispatcher: "a proxy" };
  client = connect({
    fetch: (url, { dispatcher, ...init }) => {
      sent.push(dispatcher);
      return fetch(url, init);
    },
  });
  await client.agentJobs.wait("j1", { fetchOptions });
  const changes = client.agentJobs.watchAll({ fetchOptions });
  await assert.rejects(changes.next(), { status: 404 });
  assert.deepEqual(sent, Array(3).fill(fetchOptions.dispatcher));
});
