/** How a client calls `fetch`, and what it adds to a request. */
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { after, before, beforeEach, describe, test } from "node:test";
import { Client, OutcomeUnknownError, QuillgateError, ValidationError } from "quillgate";
import { startScriptedServer } from "./scripted_server.mjs";

const undici = createRequire(import.meta.url)("undici");
const JOB = { id: "j", status: "completed" };
let server;
let received;

before(async () => {
  server = await startScriptedServer(() => ({ json: JOB, headers: { "x-note": "secret-token" } }));
});
after(() => server.stop());
beforeEach(() => {
  received = server.requests.length;
});

function make(options) {
  const auth = { token: "secret-token" };
  return new Client({ baseUrl: server.url, projectId: "p", auth, logLevel: "off", ...options });
}

function recording() {
  const own = (url, init) => {
    Object.assign(own, { url, init });
    return fetch(url, init);
  };
  return own;
}

describe("A custom fetch", () => {
  test("receives the address as a string, and plain headers", async () => {
    const own = recording();
    await make({ fetch: own }).agentJobs.get("j", { headers: new Headers({ "X-Team": "docs" }) });
    assert.equal(own.url, `${server.url}/v2/agent/p/job/j`);
    assert.equal(own.init.headers["x-team"], "docs");
    assert.equal(own.init.headers.authorization, "Bearer secret-token");
    assert.equal(Object.getPrototypeOf(own.init.headers), Object.prototype);
    assert.equal(own.init.cache, "no-store");
  });

  test("fails to connect after a broken response: the outcome of the write stays unknown", async () => {
    const broken = new ReadableStream({ pull: (stream) => stream.error(new Error("reset")) });
    const refused = Object.assign(new Error("connect"), { code: "ECONNREFUSED" });
    const answers = [
      () => new Response(broken, { status: 201 }),
      () => {
        throw new TypeError("fetch failed", { cause: refused });
      },
    ];
    const client = make({ fetch: async () => answers.shift()(), maxRetries: 1 });
    const error = await client.agentJobs.create({ prompt: "p" }).catch((reason) => reason);
    assert.ok(error instanceof OutcomeUnknownError, String(error));
    assert.equal(error.status, 201);
    assert.equal(answers.length, 0);
  });

  test("can be that of npm's undici, with a dispatcher", async () => {
    let dispatched = 0;
    const dispatcher = new undici.Agent().compose((dispatch) => (options, handler) => {
      dispatched += 1;
      return dispatch(options, handler);
    });
    const client = make({ fetch: undici.fetch, fetchOptions: { dispatcher } });
    const options = { headers: new undici.Headers({ "x-team": "docs" }) };
    assert.deepEqual({ ...(await client.agentJobs.get("j", options)) }.status, "completed");
    assert.equal(server.requests.at(-1).headers["x-team"], "docs");
    assert.equal(dispatched, 1);
  });

  test("can have a body that is a stream of Node.js, as that of node-fetch", async (t) => {
    const event = 'id: 1\nevent: job\ndata: {"id":"j","status":"completed","prLink":"x"}\n\n';
    const streams = await startScriptedServer(({ path }) =>
      path.endsWith("/events")
        ? { headers: { "content-type": "text/event-stream" }, text: event }
        : { status: 500 },
    );
    t.after(() => streams.stop());
    const { Readable } = await import("node:stream");
    const own = async (url, init) => {
      const { status, headers, body } = await fetch(url, init);
      return { status, headers, body: Readable.fromWeb(body), json: async () => null };
    };
    const job = await make({ fetch: own, baseUrl: streams.url }).agentJobs.wait("j");
    assert.equal(job.prLink, "x");
    assert.equal(streams.requests.length, 1);
  });

  test("of the runtime rejects a dispatcher of another undici with advice", async () => {
    const { InvalidArgumentError } = undici.errors;
    const cause = new InvalidArgumentError("invalid onRequestStart method");
    const own = () => Promise.reject(new TypeError("fetch failed", { cause }));
    const call = make({ fetch: own }).agentJobs.get("j");
    await assert.rejects(call, { name: "RequestError", message: /needs the fetch of this undici/ });
  });

  test("must not read the body", async () => {
    const reading = async (url, init) => {
      const response = await fetch(url, init);
      await response.text();
      return response;
    };
    const call = make({ fetch: reading }).agentJobs.get("j");
    await assert.rejects(call, { name: "RequestError", message: /response\.clone\(\)/ });
    assert.equal(server.requests.length, received + 1);
  });
});

test("fetchOptions cannot replace what the client sets", async () => {
  const own = recording();
  const headers = { authorization: "Bearer other" };
  const signal = AbortSignal.abort();
  const changed = { method: "DELETE", headers, body: "x", redirect: "follow", signal };
  await make({ fetch: own, fetchOptions: changed }).agentJobs.get("j");
  const { method, body, redirect } = own.init;
  assert.deepEqual({ method, body, redirect }, { method: "GET", body: null, redirect: "manual" });
  assert.equal(own.init.headers.authorization, "Bearer secret-token");
  assert.equal(own.init.signal.aborted, false);
});

test("wait() sees the end of a job under a fetch that caches as Next.js 14 does", async (t) => {
  const jobs = await startScriptedServer((_, at) => ({
    json: { id: "j", status: at > 0 ? "completed" : "active" },
  }));
  t.after(() => jobs.stop());
  const stored = new Map();
  const caching = async (url, init) => {
    if (init.cache !== "no-store" && stored.has(url)) return stored.get(url).clone();
    const response = await fetch(url, init);
    stored.set(url, response.clone());
    return response;
  };
  const auth = { adminKey: "mint_x" };
  const client = make({ fetch: caching, auth, baseUrl: jobs.url });
  assert.equal((await client.agentJobs.wait("j", { timeout: 30_000 })).status, "completed");
});

describe("Headers", () => {
  const invalid = [
    { "x-team": "文" },
    { "x team": "a" },
    { "x-team": "a\nb" },
    [["x-team", "文"]],
    new Map([["", "a"]]),
    "x-team: a",
  ];

  test("that HTTP does not allow are a ValidationError of the option, without their values", async () => {
    for (const headers of invalid) {
      const isInvalid = (field) => (error) => {
        assert.ok(error instanceof ValidationError);
        assert.deepEqual([error.field, error.rule], [field, "header"]);
        assert.doesNotMatch(error.message, /文|a\nb/);
        return true;
      };
      await assert.rejects(make({}).agentJobs.get("j", { headers }), isInvalid("headers"));
      assert.throws(() => make({ defaultHeaders: headers }), isInvalid("defaultHeaders"));
    }
    assert.equal(server.requests.length, received);
  });

  test("without a value are not sent", async () => {
    await make({}).agentJobs.get("j", { headers: { "x-a": undefined, "x-b": null, "x-c": "" } });
    const { headers } = server.requests.at(-1);
    assert.deepEqual([headers["x-a"], headers["x-b"], headers["x-c"]], [undefined, undefined, ""]);
  });
});

test("options that a call inherits have no effect", async (t) => {
  const polluted = {
    headers: { "x-polluted": "1" },
    fetchOptions: { polluted: true },
    idempotencyKey: "polluted",
    force: true,
    resumeFrom: null,
    maxRows: 0,
    onUpdate: assert.fail,
  };
  for (const [name, value] of Object.entries(polluted)) {
    // Not enumerable: `for … in` loops of Node.js must not see them.
    Object.defineProperty(Object.prototype, name, { value, configurable: true, writable: true });
    t.after(() => Reflect.deleteProperty(Object.prototype, name));
  }
  const calls = [];
  const own = async (_url, init) => {
    calls.push(init);
    const views = [{ path: "/a", human: 1, ai: 0, total: 1 }];
    return Response.json({ ...JOB, views, totals: {}, hasMore: false, jobs: [] });
  };
  const client = make({ fetch: own });
  await client.agentJobs.create({ prompt: "p" }, {});
  await client.agentJobs.wait("j", {});
  await client.request("GET", "/v1/x", {});
  assert.equal((await client.analytics.views({}, {}).all({})).length, 1);
  assert.equal((await client.analytics.views({}, {})).views.length, 1);
  for (const { headers, polluted: fromPrototype } of calls) {
    assert.equal(headers["x-polluted"], undefined);
    assert.equal(fromPrototype, undefined);
    assert.notEqual(headers["idempotency-key"], "polluted");
  }
});

test("60 concurrent calls with one signal print no warning, and an abort ends all of them", async () => {
  const warnings = [];
  const warn = ({ name }) => warnings.push(name);
  process.on("warning", warn);
  const never = (_url, { signal }) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  const controller = new AbortController();
  const { signal } = controller;
  const client = make({ fetch: never });
  const calls = Array.from({ length: 60 }, () => client.agentJobs.get("j", { signal }));
  const lists = Array.from({ length: 20 }, () => client.analytics.views({}, { signal }).all());
  const settled = Promise.allSettled([...calls, ...lists]);
  await new Promise((resolve) => setImmediate(resolve));
  const reason = new Error("enough");
  controller.abort(reason);
  const results = await settled;
  assert.ok(results.every((result) => result.reason === reason));
  await new Promise((resolve) => setImmediate(resolve));
  process.off("warning", warn);
  assert.deepEqual(warnings, []);
});

test("a hook receives the response of a fetch whose headers have only `get`", async () => {
  const statuses = [];
  const headers = { get: () => null };
  const fetch = async () => ({ status: 200, headers, json: async () => ({ id: "j" }) });
  const onResponse = ({ status }) => statuses.push(status);
  await make({ fetch, onResponse }).agentJobs.get("j");
  assert.deepEqual(statuses, [200]);
});

test("an error of a fetch with its own Headers does not repeat the credential", async () => {
  const own = async () => ({
    status: 400,
    headers: new undici.Headers({ "x-note": "secret-token" }),
    json: async () => ({ error: "no" }),
  });
  await assert.rejects(make({ fetch: own }).agentJobs.get("j"), (error) => {
    assert.ok(error instanceof QuillgateError);
    assert.equal(error.headers.get("x-note"), "[redacted]");
    return true;
  });
});
