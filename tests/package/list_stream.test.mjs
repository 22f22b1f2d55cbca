/** Methods that need a gateway. */

import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import {
  AuthenticationError,
  Client,
  ConnectionError,
  DecodeError,
  NotFoundError,
  RateLimitError,
} from "quillgate";
import { event, streams as rawStreams, useServer } from "./streaming_server.mjs";

const TOKEN = "list-stream-test-token";
const JOBS = "/v2/agent/acme/jobs";
const ATTEMPT_TIMEOUT = 60_000;
const JOB = {
  id: "j1",
  status: "active",
  prompt: "Write it down",
  createdBy: "alice",
  createdAt: "2026-11-21T08:53:00.000Z",
  prLink: null,
  checkedAt: "2026-11-21T08:55:00.000Z",
};

let handlers;
/** The received requests. `closed` resolves when the connection ends. */
let requests;
let client;

// A reconnection waits for at least a second, which `event_stream.test.mjs` checks.
const { setTimeout: wait } = globalThis;
globalThis.setTimeout = (run, ms, ...rest) => wait(run, ms >= 1000 && ms <= 1250 ? 1 : ms, ...rest);

const server = useServer((request, response) => {
  const { method, url, headers } = request;
  const closed = new Promise((resolve) => response.once("close", resolve));
  requests.push({ method, url, headers, closed });
  const handle = handlers[Math.min(requests.length, handlers.length) - 1];
  handle(response);
});

beforeEach(() => {
  requests = [];
  const baseUrl = server.url;
  client = new Client({ baseUrl, projectId: "acme", auth: { token: TOKEN }, logLevel: "off" });
});

const streams = (chunks, end = "open") => rawStreams(["retry: 1\n\n", ...chunks], end);

function respondWith(status, body, headers = {}) {
  return (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  };
}

const jobEvent = (id, changes = {}) => event(id, "job", { ...JOB, ...changes });

const readPositions = () => requests.map(({ headers }) => headers["last-event-id"]);

async function take(count, options) {
  const changes = [];
  for await (const change of client.agentJobs.watchAll(options)) {
    changes.push(change);
    if (changes.length === count) break;
  }
  return changes;
}

const rejectionOf = (promise) =>
  promise.then(
    () => assert.fail("it did not reject"),
    (error) => error,
  );

describe("`watchAll()`", () => {
  test("watchAll() yields listed jobs and the ids of deleted records, and ignores other events", async () => {
    handlers = [
      streams([
        ": hb\n\n",
        jobEvent(4, { another: "property" }),
        event(5, "new-in-a-later-release", {}),
        event(6, "deleted", { id: "j0" }),
        jobEvent(7, { status: "completed", prLink: "https://git.example/pull/1" }),
      ]),
    ];
    assert.deepEqual(await take(3), [
      { job: JOB },
      { deleted: "j0" },
      { job: { ...JOB, status: "completed", prLink: "https://git.example/pull/1" } },
    ]);
    const [{ url, headers, closed }] = requests;
    assert.equal(url, `${JOBS}/events`);
    assert.equal(headers.authorization, `Bearer ${TOKEN}`);
    assert.equal(headers.accept, "text/event-stream");
    assert.equal(headers["last-event-id"], undefined);
    await closed;
  });

  test("watchAll() yields a reset and resumes after it", async () => {
    handlers = [
      streams([jobEvent(4)], "end"),
      streams([event(900, "reset", {})], "end"),
      streams([jobEvent(901)]),
    ];
    assert.deepEqual(await take(3), [{ job: JOB }, { reset: true }, { job: JOB }]);
    assert.deepEqual(readPositions(), [undefined, "4", "900"]);
  });

  test("watchAll() starts after the revision of a list, and resumes after the last event", async () => {
    handlers = [
      streams([jobEvent(4)], "end"),
      streams([], "end"),
      streams([jobEvent(5)]),
      streams([jobEvent(1)]),
    ];
    await take(2, { after: 3 });
    await take(1, { after: 0 });
    assert.deepEqual(readPositions(), ["3", "4", "4", "0"]);
    for (const after of [-1, 0.5, 2 ** 53, "3"]) {
      const { name, field } = await rejectionOf(take(1, { after }));
      assert.deepEqual([name, field], ["ValidationError", "after"]);
    }
  });

  test("watchAll() resumes after the last event whenever the stream ends or breaks", async () => {
    const ids = Array.from({ length: 12 }, (_, at) => String(at + 1));
    handlers = ids.map((id, at) => streams([jobEvent(id, { id })], at % 2 ? "break" : "end"));
    assert.deepEqual(
      (await take(12)).map(({ job }) => job.id),
      ids,
    );
    assert.deepEqual(readPositions(), [undefined, ...ids.slice(0, -1)]);
  });

  test("watchAll() survives temporary failures and waits for Retry-After", async (context) => {
    handlers = [
      streams([jobEvent(1)], "end"),
      respondWith(503, { type: "/problems/object-unavailable" }, { "retry-after": "7" }),
      respondWith(429, { type: "/problems/too-many-streams" }, { "retry-after": "0" }),
      (response) => response.socket.destroy(),
      respondWith(503, {}, { "retry-after": "9999999" }),
      streams([jobEvent(2)]),
    ];
    const { setTimeout } = globalThis;
    const waits = [];
    context.mock.method(globalThis, "setTimeout", (run, ms, ...rest) => {
      waits.push(ms);
      return setTimeout(run, ms === 7_000 || ms > ATTEMPT_TIMEOUT ? 0 : ms, ...rest);
    });
    assert.equal((await take(2)).length, 2);
    assert.equal(requests.length, 6);
    assert.ok(waits.includes(7_000), "the client did not wait for Retry-After");
    assert.equal(Math.max(...waits), 2 ** 31 - 1, "a longer timer would expire immediately");
    assert.equal(requests.at(-1).headers["last-event-id"], "1");
  });

  test("watchAll() rejects with the last error after five failures, at the line of its call", async () => {
    const first = streams([], "end");
    for (const [handler, kind] of [
      [respondWith(429, { type: "/problems/too-many-streams" }), RateLimitError],
      [(response) => response.socket.destroy(), ConnectionError],
    ]) {
      requests = [];
      handlers = [first, handler];
      const error = await rejectionOf(take(1));
      assert.ok(error instanceof kind, String(error));
      assert.match(error.stack.split("\n")[1], /list_stream\.test\.mjs/);
      assert.equal(requests.length, 6);
    }
  });

  for (const [status, kind] of [
    [401, AuthenticationError],
    [404, NotFoundError],
  ]) {
    test(`watchAll() rejects with ${kind.name} without retrying`, async () => {
      handlers = [streams([jobEvent(1)], "end"), respondWith(status, { detail: "no more" })];
      const seen = [];
      const watch = async () => {
        for await (const { job } of client.agentJobs.watchAll()) seen.push(job.id);
      };
      const error = await rejectionOf(watch());
      assert.ok(error instanceof kind, String(error));
      assert.match(error.message, /no more/);
      assert.deepEqual([seen, requests.length], [["j1"], 2]);
    });
  }

  test("watchAll() rejects a malformed event with DecodeError, which names the path", async () => {
    for (const [data, where] of [
      [event(1, "job", { ...JOB, status: 7 }), "status"],
      [event(1, "deleted", { id: 7 }), "id"],
      ["id: 1\nevent: job\ndata: {\n\n", ""],
    ]) {
      requests = [];
      handlers = [streams([data])];
      const error = await rejectionOf(take(1));
      assert.ok(error instanceof DecodeError, String(error));
      assert.equal(error.path, where);
      assert.equal(requests.length, 1);
      await requests[0].closed;
    }
  });

  test("watchAll() rejects immediately with the reason of an aborted signal", async () => {
    handlers = [streams([jobEvent(1)])];
    const controller = new AbortController();
    const changes = client.agentJobs.watchAll({ signal: controller.signal });
    assert.equal((await changes.next()).value.job.id, "j1");
    const next = changes.next();
    const reason = new Error("enough");
    controller.abort(reason);
    assert.equal(await rejectionOf(next), reason);
    await requests[0].closed;

    const early = client.agentJobs.watchAll({ signal: AbortSignal.abort(reason) });
    assert.equal(await rejectionOf(early.next()), reason);
    assert.equal(requests.length, 1);
  });
});

test("deleteRecord() resolves to undefined after a response without content", async () => {
  handlers = [(response) => response.writeHead(204).end()];
  assert.equal(await client.agentJobs.deleteRecord("j1"), undefined);
  const [{ method, url }] = requests;
  assert.deepEqual([method, url], ["DELETE", "/v2/agent/acme/job/j1/record"]);
});
