/** How a client waits for a job at a gateway that streams the job's changes. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, beforeEach, test } from "node:test";
import { Client } from "quillgate";

const TOKEN = "stream-test-token";
/** A stream without a byte for this long counts as broken. */
const MAX_SILENCE_MS = 45_000;

/** Handlers of the next connections to the stream, in order. */
let connections = [];
/** The connections to the stream, and the number of polls. */
let seen = { streams: [], polls: 0 };
let job;
let server;
let client;

before(async () => {
  server = createServer((request, response) => {
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
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
});

beforeEach(() => {
  connections = [];
  seen = { streams: [], polls: 0 };
  job = { id: "j1", status: "completed", prLink: "https://example.com/pull/1" };
  client = connect();
});

function connect(options = {}) {
  const baseUrl = `http://127.0.0.1:${server.address().port}`;
  const auth = { token: TOKEN };
  return new Client({ baseUrl, projectId: "acme", auth, logLevel: "off", ...options });
}

after(() => {
  server.closeAllConnections();
  server.close();
});

function notFound(response) {
  response.statusCode = 404;
  response.setHeader("content-type", "application/problem+json");
  response.end('{"type":"/problems/not-found","title":"Not found","status":404}');
}

/** Returns a handler that streams these chunks. The stream then ends, breaks or stays open. */
function streams(chunks, end = "end") {
  return (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const chunk of chunks) response.write(chunk);
    if (end === "end") response.end();
    if (end === "break") response.write(": cut\n", () => response.socket.destroy());
  };
}

function event(id, state) {
  return `id: ${id}\nevent: job\ndata: ${JSON.stringify({ id: "j1", ...state })}\n\n`;
}

test("a stream is parsed with every kind of line end and with chunks of one byte", async () => {
  const text = event(1, { status: "active", model: "mödel" }).replaceAll("\n", "\r\n");
  const bytes = Buffer.from(`\uFEFF: c\r\r${text}${event(2, { status: "failed" })}`);
  connections = [streams(Array.from(bytes, (byte) => Buffer.of(byte)))];
  const models = [];
  const done = await client.agentJobs.wait("j1", { onUpdate: ({ model }) => models.push(model) });
  assert.equal(done.status, "failed");
  assert.deepEqual(models, ["mödel", null]);
});

test("a stream is parsed with data over several lines, and ignores other events and fields", async () => {
  connections = [
    streams([
      "event: other\ndata: {}\n\n",
      "data: {}\n\n",
      "event: job\n\n",
      "data\nevent\nid\n:\nunknown: x\n\n",
      'event:job\ndata: {"id":"j1",\ndata:"status":"active"}\nid: 3\n\n',
      'id: a\0b\nevent: job\ndata: {"id":"j1","status":"queued"}\n\n',
      "retry: 1\nretry: soon\nretry: -5\nretry: 99999999\n\n",
    ]),
    streams([event(4, { status: "completed" })]),
  ];
  const states = [];
  for await (const { job: now } of client.agentJobs.watch("j1")) states.push(now.status);
  assert.deepEqual(states, ["active", "queued", "completed"]);
  assert.equal(seen.streams[1].lastEventId, "3");
  assert.equal(seen.polls, 0);
});

test("a stream without a byte for 45 s is closed and resumes", async (context) => {
  const { setTimeout } = globalThis;
  context.after(() => {
    globalThis.setTimeout = setTimeout;
  });
  let expire;
  globalThis.setTimeout = (run, ms, ...rest) => {
    if (ms === MAX_SILENCE_MS) expire = run;
    return setTimeout(run, ms, ...rest);
  };
  connections = [
    streams(["retry: 1\n\n", event(7, { status: "active" })], "open"),
    streams([event(8, { status: "completed" })]),
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
  const brief = streams(["retry: 600000\n\n", event(1, { status: "active" })]);
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
  connections = [streams([event(1, { status: "failed" })])];
  assert.equal((await client.agentJobs.wait("j1")).status, "failed");
  assert.deepEqual([seen.streams.length, seen.polls], [2, 1]);
});

test("a 200 response that is not an event stream leads to polling", async () => {
  connections = [
    (response) => {
      response.setHeader("content-type", "text/plain");
      response.end(event(1, { status: "failed" }));
    },
  ];
  assert.equal((await client.agentJobs.wait("j1")).status, "completed");
  assert.deepEqual([seen.streams.length, seen.polls], [1, 1]);
});

/** Replaces `setTimeout` and `Date.now` until the end of the test. */
function skipDelays(context) {
  const { setTimeout } = globalThis;
  const { now } = Date;
  context.after(() => {
    globalThis.setTimeout = setTimeout;
    Date.now = now;
  });
  let skipped = 0;
  Date.now = () => now() + skipped;
  globalThis.setTimeout = (run, ms, ...rest) => {
    if (ms > 30_000) return setTimeout(run, ms, ...rest);
    const elapse = () => {
      skipped += ms;
      run(...rest);
    };
    return setTimeout(elapse, 0);
  };
}

test("a watch whose first stream fails polls for a minute, then streams", async (context) => {
  skipDelays(context);
  job = { id: "j1", status: "active" };
  const done = event(1, { status: "completed" });
  connections = [(response) => response.socket.destroy(), notFound, streams([done])];
  assert.equal((await client.agentJobs.wait("j1")).status, "completed");
  assert.equal(seen.streams.length, 3);
  assert.ok(seen.polls >= 4 && seen.polls < 40, `${seen.polls} polls`);
});

test("a 204 response to the stream leads to one poll", async () => {
  connections = [
    (response) => {
      response.statusCode = 204;
      response.end();
    },
  ];
  assert.equal((await client.agentJobs.wait("j1")).status, "completed");
  assert.equal(seen.polls, 1);
});

test("a stream that breaks three times without an event is replaced by polling", async () => {
  const breaking = streams(["retry: 1\n\n"], "break");
  connections = [breaking, breaking, breaking, breaking];
  assert.equal((await client.agentJobs.wait("j1")).status, "completed");
  assert.equal(seen.streams.length, 3);
  assert.equal(seen.polls, 1);
});

test("a silent stream is followed by one poll at the timeout of wait()", async () => {
  connections = [streams([event(1, { status: "active" })], "open")];
  const done = await client.agentJobs.wait("j1", { timeout: 1_000 });
  assert.equal(done.status, "completed");
  assert.deepEqual([seen.streams.length, seen.polls], [1, 1]);
});

test("a stream that does not open within the timeout of an attempt is replaced by polling", async () => {
  connections = [() => {}];
  const done = await connect({ timeout: 500 }).agentJobs.wait("j1");
  assert.equal(done.status, "completed");
  await seen.streams[0].closed;
});

test("a stream is opened again after a second at the earliest", async (context) => {
  const delays = [];
  const { setTimeout } = globalThis;
  context.after(() => {
    globalThis.setTimeout = setTimeout;
  });
  globalThis.setTimeout = (run, ms, ...rest) => {
    if (ms >= 1_000 && ms <= 1_250) delays.push(ms);
    return setTimeout(run, ms, ...rest);
  };
  connections = [streams(["retry: 0\n\n"]), streams([event(1, { status: "completed" })])];
  await client.agentJobs.wait("j1");
  assert.equal(delays.length, 1);
});

test("the name of a media type is case-insensitive", async () => {
  connections = [
    (response) => {
      response.setHeader("content-type", "Text/Event-Stream; charset=utf-8");
      response.end(event(1, { status: "failed" }));
    },
  ];
  assert.equal((await client.agentJobs.wait("j1")).status, "failed");
});

test("an event that never ends is refused, and the events before it are returned", async () => {
  const endless = `data: ${"a".repeat(1 << 16)}\n`.repeat(40);
  connections = [
    streams([`retry: 1\n${event(1, { status: "active" })}${endless}`, endless, endless], "open"),
    streams([event(2, { status: "completed" })]),
  ];
  const states = [];
  await client.agentJobs.wait("j1", { onUpdate: ({ status }) => states.push(status) });
  assert.deepEqual(states, ["active", "completed"]);
  await seen.streams[0].closed;
});
