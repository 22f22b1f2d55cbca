/**
 * Upstream faults. Each becomes a clear problem for callers of the gateway and a clear error for
 * users of the package, and never a success.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, before, beforeEach, describe, test } from "node:test";
import {
  Client,
  DecodeError,
  NotFoundError,
  OutcomeUnknownError,
  RateLimitError,
  ServerError,
} from "../../pkg/dist/node.js";
import { assertProblem, JOBS, PROJECT, startGate, VIEWS } from "./gate.mjs";

const ELSEWHERE = "X-Elsewhere";
/** Projects whose budget for creations an upstream 429 blocks. No other test uses them. */
const BLOCKED_PROJECTS = Array.from({ length: 6 }, (_, n) => `closed-${n}`);
const NO_LIMIT = String(10 ** 6);

let gate;
let client;
let elsewhere;

before(async () => {
  gate = await startGate("faults", {
    upstream: { projects: [PROJECT, ...BLOCKED_PROJECTS] },
    gateway: {
      vars: {
        UPSTREAM_TIMEOUT_SECONDS: "1",
        CREATE_LIMIT_PER_HOUR: NO_LIMIT,
        ANALYTICS_LIMIT_PER_HOUR: NO_LIMIT,
      },
    },
  });
  client = clientOf(PROJECT);
  elsewhere = await startElsewhere();
});
after(async () => {
  await gate?.stop();
  elsewhere?.server.close();
});
beforeEach(async () => {
  // A success keeps the circuit breaker closed.
  await gate.upstream.clearFaults();
  await Promise.all([READ.raw(), gate.get(`${JOBS}/none`), WRITE.raw()]);
  await gate.upstream.reset();
});

function clientOf(projectId) {
  const token = gate.token({ projects: [PROJECT, ...BLOCKED_PROJECTS] });
  return new Client({ baseUrl: gate.gateway.url, projectId, token, maxRetries: 0 });
}

/** A server that must never receive a connection. */
async function startElsewhere() {
  const visits = [];
  const server = createServer((request, response) => {
    visits.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)}`);
    response.setHeader(ELSEWHERE, "yes").end('{"id":"from-elsewhere"}');
  });
  server.on("connection", () => visits.push("a connection"));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, visits, url: `http://127.0.0.1:${server.address().port}` };
}

let days = 0;

/** The start of a range that no test has requested yet, so that no cache has it. */
function newDay() {
  days += 1;
  return new Date(Date.UTC(2015, 0, days)).toISOString().slice(0, 10);
}

/** Two ways to send a request: raw HTTP and the package. */
const READ = {
  raw: () => gate.get(`${VIEWS}?dateFrom=${newDay()}`),
  call: () => client.pageViews.list({ dateFrom: newDay() }),
};
/** An operation without a budget. Its response body is passed on verbatim. */
const READ_JOB = {
  raw: () => gate.get(`${JOBS}/j1`),
  call: () => client.agentJobs.get("j1"),
};
const WRITE = {
  raw: () => gate.post(JOBS, { prompt: "x" }),
  call: () => client.agentJobs.create({ prompt: "x" }),
};

/** Injects a fault into the next requests, and sends a request. */
async function sendWith(fault, send, times = 1) {
  await gate.upstream.fault({ times, fault });
  return send();
}

/** Returns the error that a call of the package rejects with. */
async function errorOf(call, type) {
  const error = await call().then(
    (value) => assert.fail(`the call succeeds with ${JSON.stringify(value)}`),
    (reason) => reason,
  );
  assert.ok(
    error instanceof type,
    `expected ${type.name}, received ${error.name}: ${error.message}`,
  );
  return error;
}

/**
 * Tests that the gateway turns a fault into a problem, for two GETs and a POST, by raw HTTP and by
 * the package.
 *
 * @param {string} what
 * @param {() => object} fault
 * @param {object} expected
 * @param {boolean} [expected.repeated] whether the gateway retries a GET
 * @param {boolean} [expected.certain] whether the upstream certainly did not process a POST
 */
function testProblem(what, fault, { repeated = false, certain = false, ...expected }) {
  const { status, kind, check, error = ServerError } = expected;
  const times = repeated ? 2 : 1;
  const outcome = certain ? undefined : "unknown";
  const written = certain ? error : OutcomeUnknownError;
  for (const [method, send, on] of [
    ["GET", READ, { times, error }],
    ["GET of a job", READ_JOB, { times, error }],
    ["POST", WRITE, { times: 1, outcome, error: written }],
  ]) {
    test(`returns ${status} ${kind} on a ${method} when the upstream ${what}`, async () => {
      const answer = await sendWith(fault(), send.raw, on.times);
      const problem = assertProblem(answer, status, kind);
      assert.equal(problem.outcome, on.outcome);
      check?.(problem, answer, method);
      assert.equal(answer.header(ELSEWHERE.toLowerCase()), undefined);

      const thrown = await errorOf(() => sendWith(fault(), send.call, on.times), on.error);
      assert.equal(thrown.status, status);
      assert.equal(thrown.code, `/problems/${kind}`);
      assert.equal(thrown.problem.title, problem.title);
      assert.equal(await gate.received(), 2 * on.times, `${on.times} upstream requests for each`);
    });
  }
}

describe("an upstream error", () => {
  const hasMessage =
    (message, details = []) =>
    ({ status, upstream, detail }) => {
      assert.deepEqual(upstream, { status, error: message, details });
      assert.equal(detail, message);
    };

  testProblem("returns 500", () => ({ kind: "status", status: 500 }), {
    ...{ status: 500, kind: "upstream-error", check: hasMessage("Internal Server Error") },
  });
  testProblem(
    "returns 500 with details",
    () => ({
      kind: "json",
      status: 500,
      body: { error: "Failed", details: [{ message: "one" }, { message: "two" }] },
    }),
    { status: 500, kind: "upstream-error", check: hasMessage("Failed", ["one", "two"]) },
  );
  testProblem("returns 502 with HTML", () => ({ kind: "html", status: 502 }), {
    status: 502,
    kind: "upstream-error",
    repeated: true,
    check(problem, answer) {
      hasMessage("bad gateway")(problem);
      assert.doesNotMatch(answer.text, /<|simulated-edge/);
    },
  });
  testProblem("returns an empty 503", () => ({ kind: "empty", status: 503 }), {
    status: 503,
    kind: "upstream-error",
    repeated: true,
    check(problem, answer) {
      hasMessage("service unavailable")(problem);
      assert.equal(answer.header("retry-after"), "60");
    },
  });
  testProblem("returns 504", () => ({ kind: "status", status: 504 }), {
    ...{
      status: 504,
      kind: "upstream-error",
      repeated: true,
      check: hasMessage("Gateway Timeout"),
    },
  });
  testProblem(
    "returns 503 with Retry-After",
    () => ({ kind: "status", status: 503, headers: { "retry-after": "3" } }),
    {
      status: 503,
      kind: "upstream-error",
      check: (_problem, answer) => assert.equal(answer.header("retry-after"), "3"),
    },
  );
  testProblem("returns 404", () => ({ kind: "status", status: 404 }), {
    ...{ status: 404, kind: "upstream-error", certain: true },
    ...{ error: NotFoundError, check: hasMessage("Not Found") },
  });

  for (const status of [502, 503, 504]) {
    test(`a read succeeds after a single upstream ${status}`, async () => {
      const answer = await sendWith({ kind: "status", status }, READ.raw);
      assert.equal(answer.status, 200, answer.text);
      const { views } = await sendWith({ kind: "status", status }, READ.call);
      assert.ok(views.length > 0);
      assert.equal(await gate.received(), 4);
    });
  }

  const closed = [...BLOCKED_PROJECTS];
  for (const [what, headers, expected] of [
    ["429 with Retry-After", { "retry-after": "7" }, 7],
    ["429 without Retry-After", {}, 60],
    ["429 with an invalid Retry-After", { "retry-after": "soon" }, 60],
  ]) {
    test(`returns 429 and the seconds to wait for an upstream ${what}`, async () => {
      const fault = { kind: "status", status: 429, headers };
      const [project, other] = [closed.pop(), closed.pop()];
      const authorization = `Bearer ${gate.token({ projects: BLOCKED_PROJECTS })}`;
      const create = () =>
        gate.post(`/v2/agent/${project}/job`, { prompt: "x" }, { authorization });
      for (const send of [READ_JOB.raw, create]) {
        const answer = await sendWith(fault, send);
        const problem = assertProblem(answer, 429, "upstream-error");
        assert.deepEqual([problem.upstream.status, problem.outcome], [429, undefined]);
        assert.equal(answer.header("retry-after"), String(expected));
      }
      const createByPackage = () => clientOf(other).agentJobs.create({ prompt: "x" });
      for (const call of [READ_JOB.call, createByPackage]) {
        const thrown = await errorOf(() => sendWith(fault, call), RateLimitError);
        assert.equal(thrown.code, "/problems/upstream-error");
        assert.equal(thrown.retryAfter, expected);
      }
      assert.equal(await gate.received(), 4, "one upstream request for each");
    });
  }
  for (const status of [600, 999]) {
    testProblem(`returns the invalid status ${status}`, () => ({ kind: "status", status }), {
      status: 502,
      kind: "upstream-error",
      check: ({ upstream }) => assert.equal(upstream.status, status),
    });
  }

  test("the header fields of an upstream error are not passed on", async () => {
    const headers = { "www-authenticate": "Basic", "set-cookie": "a=b", allow: "TRACE", via: "x" };
    const answer = await sendWith({ kind: "status", status: 500, headers }, READ.raw);
    for (const name of Object.keys(headers)) assert.equal(answer.header(name), undefined, name);
  });

  test("an upstream error with an endless body is returned without its message", async () => {
    const never = 24 * 3600 * 1000;
    const fault = { kind: "slowDrip", chunkBytes: 1, intervalMs: never };
    const answer = await sendWith(fault, () => gate.get(`${JOBS}/none`));
    const { upstream } = assertProblem(answer, 404, "upstream-error");
    assert.deepEqual(upstream, { status: 404, error: "not found", details: [] });
  });

  test("an upstream 503 on a POST has an unknown outcome, and an upstream 400 does not", async () => {
    const failed = await sendWith({ kind: "status", status: 503, body: "{}" }, WRITE.raw);
    assert.equal(assertProblem(failed, 503, "upstream-error").outcome, "unknown");
    const rejected = await sendWith({ kind: "status", status: 400, body: "{}" }, WRITE.raw);
    assert.equal(assertProblem(rejected, 400, "upstream-error").outcome, undefined);
  });

  test("a long upstream error message is truncated", async () => {
    const fault = { kind: "json", status: 500, body: { error: "x".repeat(50_000) } };
    const { detail } = assertProblem(await sendWith(fault, READ.raw), 500, "upstream-error");
    assert.equal(detail.length, 1001);
    const endless = { kind: "json", status: 500, body: { error: "x".repeat(900_000) } };
    const problem = assertProblem(await sendWith(endless, READ.raw), 500, "upstream-error");
    assert.equal(problem.detail, "internal server error");
  });
});

describe("an upstream that is silent", () => {
  testProblem("resets the connection", () => ({ kind: "reset" }), {
    ...{ status: 502, kind: "upstream-unreachable", repeated: true },
  });
  testProblem(
    "resets the connection after the work was done",
    () => ({ kind: "reset", process: true }),
    {
      ...{ status: 502, kind: "upstream-unreachable", repeated: true },
    },
  );
  testProblem("never responds", () => ({ kind: "hang" }), {
    ...{ status: 504, kind: "upstream-timeout" },
  });

  test("a read succeeds after a single connection reset", async () => {
    const answer = await sendWith({ kind: "reset" }, READ.raw);
    assert.equal(answer.status, 200, answer.text);
    assert.equal(await gate.received(), 2);
  });

  test("a request that times out is aborted upstream", async () => {
    assertProblem(await sendWith({ kind: "hang" }, READ.raw), 504, "upstream-timeout");
    const { aborted } = await gate.untilCounters(({ inFlight }) => inFlight === 0);
    assert.equal(aborted, 1);
  });

  test("a job is created only once if its response is lost", async () => {
    await sendWith({ kind: "reset", process: true }, WRITE.raw);
    assert.equal((await gate.upstream.jobs()).length, 1);
    assert.equal(await gate.received(), 1);
  });
});

describe("a redirect", () => {
  for (const status of [301, 302, 303, 307, 308, 300, 304]) {
    const location = () => `${elsewhere.url}/v1/stolen`;
    const fault = () => ({ kind: "redirect", status, location: location() });
    testProblem(`redirects with ${status} to another host`, fault, {
      status: 502,
      kind: "upstream-redirect",
      check(_problem, answer) {
        assert.equal(answer.header("location"), undefined);
        assert.ok(!answer.raw.includes(elsewhere.url));
      },
    });
  }

  test("a redirect on the same host is not followed", async () => {
    const fault = { kind: "redirect", status: 302, location: `${VIEWS}?limit=1` };
    assertProblem(await sendWith(fault, READ.raw), 502, "upstream-redirect");
    assert.equal(await gate.received(), 1);
  });

  test("Refresh and Location fields of an upstream success are not passed on", async () => {
    const headers = { refresh: `0; url=${elsewhere.url}`, location: elsewhere.url };
    const body = '{"id":"j1"}';
    const answer = await sendWith({ kind: "status", status: 201, headers, body }, WRITE.raw);
    assert.equal(answer.status, 201);
    assert.ok(!answer.raw.includes(elsewhere.url));
  });

  test("no redirect reaches another host", () => {
    assert.deepEqual(elsewhere.visits, []);
  });
});

describe("a malformed success", () => {
  for (const [what, fault] of [
    ["returns 200 with HTML", () => ({ kind: "html", status: 200 })],
    ["returns 200 without a body", () => ({ kind: "empty", status: 200 })],
    ["returns 204", () => ({ kind: "empty", status: 204 })],
    [
      "returns JSON as text/plain",
      () => ({ kind: "status", status: 200, contentType: "text/plain", body: "{}" }),
    ],
  ]) {
    testProblem(what, fault, {
      status: 502,
      kind: "upstream-malformed",
      check: (_problem, answer) => assert.doesNotMatch(answer.text, /<html/),
    });
  }

  for (const kind of ["cutBody", "cutChunked", "malformedJson"]) {
    for (const [method, send, error] of [
      ["GET", READ, ServerError],
      ["POST", WRITE, OutcomeUnknownError],
    ]) {
      test(`returns 502 upstream-malformed for a ${kind} fault on a ${method}`, async () => {
        const problem = assertProblem(
          await sendWith({ kind }, send.raw),
          502,
          "upstream-malformed",
        );
        assert.equal(problem.outcome, method === "POST" ? "unknown" : undefined);
        const thrown = await errorOf(() => sendWith({ kind }, send.call), error);
        assert.equal(thrown.code, "/problems/upstream-malformed");
        assert.equal(await gate.received(), 2, "one upstream request for each");
      });
    }
  }

  describe("a job, which the gateway reads whole before it passes it on", () => {
    const createJob = async () => (await WRITE.raw()).json.id;

    for (const kind of ["cutBody", "cutChunked", "malformedJson"]) {
      test(`returns 502 upstream-malformed for a ${kind} fault on a GET of a job`, async () => {
        const id = await createJob();
        const answer = await sendWith({ kind }, () => gate.get(`${JOBS}/${id}`));
        assertProblem(answer, 502, "upstream-malformed");
        const call = () => client.agentJobs.get(id);
        const error = await errorOf(() => sendWith({ kind }, call), ServerError);
        assert.equal(error.code, "/problems/upstream-malformed");
      });
    }
  });

  const shaped = (body) => ({ kind: "json", status: 200, body });
  const page = { totals: {}, views: [], hasMore: false };

  test("the package's DecodeError names the field of a malformed row", async () => {
    const body = { ...page, views: [{ path: "/", human: "many" }] };
    const error = await errorOf(() => sendWith(shaped(body), READ.call), DecodeError);
    assert.equal(error.where, "views[0].human");
  });

  for (const body of [{ id: 5 }, { id: "j1", status: true }, { source: "acme/docs" }]) {
    const shown = JSON.stringify(body);

    test(`returns 502 for the created job ${shown}, and its key creates no second job`, async () => {
      const headers = [["Idempotency-Key", `shape-${shown.length}`]];
      const create = () => gate.post(JOBS, { prompt: "x" }, { headers });
      const problem = assertProblem(
        await sendWith(shaped(body), create),
        502,
        "upstream-malformed",
      );
      assert.equal(problem.outcome, "unknown");
      assertProblem(await create(), 409, "outcome-unknown");
      assert.equal(await gate.received(), 1);
      const error = await errorOf(() => sendWith(shaped(body), WRITE.call), OutcomeUnknownError);
      assert.equal(error.code, "/problems/upstream-malformed");
    });

    test(`returns 502 for the job ${shown} after a follow-up`, async () => {
      const { id } = (await WRITE.raw()).json;
      const send = () => gate.post(`${JOBS}/${id}/message`, { prompt: "x" });
      const problem = assertProblem(await sendWith(shaped(body), send), 502, "upstream-malformed");
      assert.equal(problem.outcome, "unknown");
    });

    test(`returns 502 without an event for the watched job ${shown}`, async () => {
      const watch = () => gate.get(`${JOBS}/unseen-${shown.length}/events`);
      assertProblem(await sendWith(shaped(body), watch), 502, "upstream-malformed");
    });
  }

  test("returns 502 for a job of more than 64 kB on every route", async () => {
    const body = { id: "j1", model: "x".repeat(64 * 1024) };
    for (const send of [READ_JOB.raw, WRITE.raw, () => gate.get(`${JOBS}/huge/events`)]) {
      assertProblem(await sendWith(shaped(body), send), 502, "upstream-malformed");
    }
  });

  for (const [what, body] of [
    ["an array", []],
    ["null", null],
    ["a string", "x"],
    ["an object of another shape", { id: 5 }],
  ]) {
    test(`returns 502 upstream-malformed for a job that is ${what}`, async () => {
      const error = await errorOf(() => sendWith(shaped(body), READ_JOB.call), ServerError);
      assert.equal(error.code, "/problems/upstream-malformed");
    });
  }

  for (const body of [[], null, "x", 1]) {
    for (const [method, send] of [
      ["GET", READ],
      ["POST", WRITE],
    ]) {
      test(`returns 502 upstream-malformed for the JSON ${JSON.stringify(body)} on a ${method}`, async () => {
        const problem = assertProblem(
          await sendWith(shaped(body), send.raw),
          502,
          "upstream-malformed",
        );
        assert.equal(problem.outcome, method === "POST" ? "unknown" : undefined);
      });
    }
  }

  for (const [what, body] of [
    ["without rows", { ...page, views: undefined }],
    ["with rows that are not an array", { ...page, views: {} }],
    ["without totals", { ...page, totals: null }],
    ["with a hasMore that is not a boolean", { ...page, hasMore: "no" }],
    ["with too many rows", { ...page, views: Array(251).fill({ path: "/" }) }],
  ]) {
    test(`returns 502 for page views ${what} and does not cache them`, async () => {
      const target = `${VIEWS}?dateFrom=${newDay()}`;
      const answer = await sendWith(shaped(body), () => gate.get(target));
      assertProblem(answer, 502, "upstream-malformed");
      assert.equal((await gate.get(target)).status, 200);
    });
  }
});

describe("a key that the upstream rejects", () => {
  const REASON = /expired|read access|write access|invalid api key/i;

  /** Asserts that the reason for a rejected key is in the log and not in the response. */
  async function assertReasonOnlyInLog(request, operator) {
    const answer = await request.raw();
    const problem = assertProblem(answer, 502, "upstream-credential");
    assert.doesNotMatch(answer.raw.toString(), REASON);
    assert.equal(problem.upstream, undefined);
    assert.equal(answer.header("www-authenticate"), undefined);
    const line = await gate.logged(answer.header("x-request-id"));
    assert.match(line.operator, operator);
    const error = await errorOf(request.call, ServerError);
    assert.equal(error.status, 502);
    assert.doesNotMatch(JSON.stringify(error.problem) + error.message, REASON);
  }

  for (const [state, request, operator] of [
    ["expired", READ, /refused ADMIN_API_KEY with 401: API key has expired/],
    ["expired", WRITE, /refused ADMIN_API_KEY with 401: API key has expired/],
    ["read", WRITE, /refused ADMIN_API_KEY with 403: API key is limited to read access/],
    ["write", READ, /refused ADMIN_API_KEY with 403: API key is limited to write access/],
  ]) {
    const method = request === READ ? "GET" : "POST";
    test(`a ${method} with a key in state "${state}" returns 502, and only the log has the reason`, async (t) => {
      t.after(() => gate.upstream.setKey({ key: gate.key, state: "accepted" }));
      await gate.upstream.setKey({ key: gate.key, state });
      await assertReasonOnlyInLog(request, operator);
    });
  }

  test("a key that an upstream error repeats is neither passed on nor logged", async () => {
    for (const [status, kind] of [
      [401, "upstream-credential"],
      [403, "upstream-credential"],
      [500, "upstream-error"],
    ]) {
      const details = [{ message: `Bearer ${gate.key}` }];
      const body = { error: `Invalid API key: ${gate.key}`, details };
      const answer = await sendWith({ kind: "json", status, body }, READ.raw);
      assertProblem(answer, status === 500 ? 500 : 502, kind);
      assert.ok(!answer.raw.includes(gate.key));
      const line = await gate.logged(answer.header("x-request-id"));
      assert.ok(!JSON.stringify(line).includes(gate.key));
      if (status !== 500) assert.match(line.operator, /Invalid API key: \[key\]/);
    }
  });

  for (const [form, write] of [
    ["plain", (key) => key],
    ["escaped", (key) => key.replace("m", "\\u006d").replace("_", "\\u005F")],
  ]) {
    test(`returns 502 for a success that contains the admin key (${form})`, async () => {
      const key = write(gate.key);
      const job = `{"id":"j1","status":"active","echo":"Bearer ${key}"}`;
      const named = `{"id":"j1","status":"active","${key}":true}`;
      const { json } = await gate.get(VIEWS);
      const page = JSON.stringify({ ...json, echo: "KEY" }).replace("KEY", key);
      for (const [request, body, outcome] of [
        [READ, page],
        [READ_JOB, job],
        [READ_JOB, named],
        [WRITE, job, "unknown"],
      ]) {
        const fault = { kind: "status", status: 200, body };
        const answer = await sendWith(fault, request.raw);
        const problem = assertProblem(answer, 502, "upstream-malformed");
        assert.equal(problem.outcome, outcome);
        assert.doesNotMatch(answer.raw.toString(), /mint_|u006d/);
        const line = await gate.logged(answer.header("x-request-id"));
        assert.match(line.operator, /contains the value of ADMIN_API_KEY/);
        assert.ok(!JSON.stringify(line).includes(gate.key));
      }
      assert.ok(!gate.gateway.log().includes(gate.key));
    });
  }

  test("does not repeat a write whose success contained the admin key", async () => {
    const body = `{"id":"j1","status":"active","echo":"${gate.key}"}`;
    const headers = [["Idempotency-Key", "echoed"]];
    const create = () => gate.post(JOBS, { prompt: "x" }, { headers });
    const first = await sendWith({ kind: "status", status: 200, body }, create);
    assertProblem(first, 502, "upstream-malformed");
    const repeated = assertProblem(await create(), 409, "outcome-unknown");
    assert.equal(repeated.outcome, "unknown");
    assert.equal(await gate.received(), 1);
    const streamed = await gate.get(`${JOBS}s`);
    assert.ok(!streamed.raw.includes(gate.key));
  });

  test("a key that an upstream header field repeats is not passed on", async () => {
    const headers = { "x-debug": gate.key, "x-request-id": gate.key, "content-language": "en" };
    const fault = { kind: "status", status: 200, headers, body: "{}" };
    const answer = await sendWith(fault, READ_JOB.raw);
    assert.deepEqual([answer.status, answer.header("content-language")], [200, "en"]);
    assert.ok(!answer.raw.includes(gate.key));
    for (const [name, value] of [
      ["content-language", `en, ${gate.key}`],
      ["content-type", `application/json; key=${gate.key}`],
    ]) {
      const leaky = { ...fault, headers: { [name]: value } };
      const refused = await sendWith(leaky, READ_JOB.raw);
      assertProblem(refused, 502, "upstream-malformed");
      assert.ok(!refused.raw.includes(gate.key));
    }
    for (const send of [READ.raw, WRITE.raw]) {
      assert.ok(!(await sendWith(fault, send)).raw.includes(gate.key));
    }
  });
});

test("no upstream fault makes the gateway panic", async () => {
  assert.equal((await gate.get(VIEWS)).status, 200);
  assert.doesNotMatch(gate.gateway.log(), /panicked|RuntimeError|Critical|Reinitializing/);
});

test("responses and the log contain no key, secret or token", () => gate.assertDiscreet());

describe("an unreachable upstream", () => {
  let alone;

  before(async () => {
    alone = await startGate("faults-alone");
    await alone.upstream.stop();
  });
  after(() => alone?.stop());

  test("returns 502 upstream-unreachable when the upstream is down", async () => {
    const problem = assertProblem(await alone.get(VIEWS), 502, "upstream-unreachable");
    assert.equal(problem.outcome, undefined);
    const answer = await alone.post(JOBS, { prompt: "x" });
    const written = assertProblem(answer, 502, "upstream-unreachable");
    assert.equal(written.outcome, "unknown");
  });

  test("the package throws an error when the upstream is down", async () => {
    const options = { baseUrl: alone.gateway.url, projectId: PROJECT, maxRetries: 0 };
    const own = new Client({ ...options, token: alone.token() });
    for (const [call, type] of [
      [() => own.pageViews.list({}), ServerError],
      [() => own.agentJobs.create({ prompt: "x" }), OutcomeUnknownError],
      [() => own.agentJobs.get("j1"), ServerError],
      [() => own.agentJobs.sendMessage("j1", { prompt: "x" }), OutcomeUnknownError],
    ]) {
      assert.equal((await errorOf(call, type)).status, 502);
    }
  });

  test("the gateway stays up and reveals no secret when the upstream is down", async () => {
    assert.equal((await alone.get("/healthz")).status, 200);
    await alone.assertDiscreet();
  });
});
