/** Upstream faults. The gateway retries some GET requests once. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { pipeline } from "node:stream/promises";
import { after, beforeEach, describe, test } from "node:test";
import { Client, NotFoundError, OutcomeUnknownError, ServerError } from "../../../pkg/dist/node.js";
import { closedRange, viewsOf } from "../analytics_requests.mjs";
import { assertProblem, before, JOBS, PROJECT, useGate, VIEWS } from "../recorded_gateway.mjs";

const NO_LIMIT = String(10 ** 6);

const gate = useGate("faulty-upstream", {
  gateway: {
    vars: {
      UPSTREAM_TIMEOUT_SECONDS: "3",
      CREATE_LIMIT_PER_HOUR: NO_LIMIT,
      ANALYTICS_LIMIT_PER_HOUR: NO_LIMIT,
    },
  },
});
let client;

before(() => {
  const auth = { token: gate.token() };
  client = new Client({ baseUrl: gate.gateway.url, projectId: PROJECT, auth, maxRetries: 0 });
});
beforeEach(async () => {
  // Requests without faults keep the circuit breakers closed.
  await gate.upstream.clearFaults();
  await Promise.all([READ.raw(), gate.get(`${JOBS}/none`), WRITE.raw()]);
  await gate.upstream.reset();
});

/** Reads page views by raw HTTP (`raw`) or by the package (`call`). */
const READ = {
  raw: () => gate.get(viewsOf(closedRange())),
  call: () => client.analytics.views(closedRange()),
};
const READ_JOB = {
  raw: () => gate.get(`${JOBS}/j1`),
  call: () => client.agentJobs.get("j1"),
};
const WRITE = {
  raw: () => gate.post(JOBS, { prompt: "x" }),
  call: () => client.agentJobs.create({ prompt: "x" }),
};

/** Injects `fault` into the next `times` upstream requests. Returns the result of `send`. */
async function sendWith(fault, send, times = 1) {
  await gate.upstream.fault({ times, fault });
  return send();
}

/** Returns the error that a call to the package throws, and asserts the error's type. */
async function errorOf(call, type) {
  const error = await call().then(
    (value) => assert.fail(`the call succeeds with ${JSON.stringify(value)}`),
    (reason) => reason,
  );
  const names = `expected ${type.name}, received ${error.name}`;
  assert.ok(error instanceof type, `${names}: ${error.message}`);
  return error;
}

/** Defines tests for two GETs and a POST during an upstream fault. */
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

  testProblem("returns 502 with HTML", () => ({ kind: "html", status: 502 }), {
    status: 502,
    kind: "upstream-error",
    repeated: true,
    check(problem, answer) {
      hasMessage("bad gateway")(problem);
      assert.doesNotMatch(answer.text, /<|simulated-edge/);
    },
  });
  testProblem("returns 404", () => ({ kind: "status", status: 404 }), {
    ...{ status: 404, kind: "upstream-error", certain: true },
    ...{ error: NotFoundError, check: hasMessage("Not Found") },
  });

  test("returns page views after a single upstream 503", async () => {
    const answer = await sendWith({ kind: "status", status: 503 }, READ.raw);
    assert.equal(answer.status, 200, answer.text);
    const { views } = await sendWith({ kind: "status", status: 503 }, READ.call);
    assert.ok(views.length > 0);
    assert.equal(await gate.received(), 4);
  });

  test("reports an unknown outcome for an upstream 503 on a POST, and not for a 400", async () => {
    const failed = await sendWith({ kind: "status", status: 503, body: "{}" }, WRITE.raw);
    assert.equal(assertProblem(failed, 503, "upstream-error").outcome, "unknown");
    const rejected = await sendWith({ kind: "status", status: 400, body: "{}" }, WRITE.raw);
    assert.equal(assertProblem(rejected, 400, "upstream-error").outcome, undefined);
  });
});

describe("an upstream that is silent", () => {
  testProblem("resets the connection", () => ({ kind: "reset" }), {
    ...{ status: 502, kind: "upstream-unreachable", repeated: true },
  });
  testProblem("never responds", () => ({ kind: "hang" }), {
    ...{ status: 504, kind: "upstream-timeout" },
  });

  test("creates a job only once if the upstream's response is lost", async () => {
    await sendWith({ kind: "reset", process: true }, WRITE.raw);
    assert.equal((await gate.upstream.jobs()).length, 1);
    assert.equal(await gate.received(), 1);
  });
});

describe("an error whose body never ends", () => {
  let received = 0;
  /** Passes all requests but the first on to the simulator. */
  const front = createServer(async ({ url, headers: { authorization } }, response) => {
    received += 1;
    if (received === 1) return response.writeHead(503).write("wait");
    const { status, body } = await fetch(stalled.upstream.url + url, {
      headers: { authorization },
    });
    response.writeHead(status, { "content-type": "application/json" });
    await pipeline(body, response);
  });
  before(() => once(front.listen(0, "127.0.0.1"), "listening"));
  after(() => front.close().closeAllConnections());
  const stalled = useGate("faults-stalled", () => ({
    gateway: { upstreamUrl: `http://127.0.0.1:${front.address().port}` },
  }));

  test("does not delay the retry of a read until the time is up", async () => {
    const answer = await stalled.get(VIEWS);
    assert.equal(answer.status, 200, answer.text);
    assert.equal(received, 2);
  });
});

describe("a redirect", () => {
  /** A server that must never receive a request. */
  const elsewhere = createServer(() => assert.fail("the gateway follows the redirect"));
  before(() => once(elsewhere.listen(0, "127.0.0.1"), "listening"));
  after(() => elsewhere.close());
  const origin = () => `http://127.0.0.1:${elsewhere.address().port}`;
  const fault = () => ({ kind: "redirect", status: 302, location: `${origin()}/v1/stolen` });
  testProblem("redirects to another host", fault, {
    status: 502,
    kind: "upstream-redirect",
    check(_problem, answer) {
      assert.equal(answer.header("location"), undefined);
      assert.ok(!answer.raw.includes(origin()));
    },
  });

  test("does not follow an upstream redirect on the same host", async () => {
    const fault = { kind: "redirect", status: 302, location: `${VIEWS}?limit=1` };
    assertProblem(await sendWith(fault, READ.raw), 502, "upstream-redirect");
    assert.equal(await gate.received(), 1);
  });
});

describe("an unreachable upstream", () => {
  const alone = useGate("faults-alone");
  before(() => alone.upstream.stop());

  test("returns 502 upstream-unreachable when the upstream is down", async () => {
    const problem = assertProblem(await alone.get(VIEWS), 502, "upstream-unreachable");
    assert.equal(problem.outcome, undefined);
    const answer = await alone.post(JOBS, { prompt: "x" });
    const written = assertProblem(answer, 502, "upstream-unreachable");
    assert.equal(written.outcome, "unknown");
  });
});

describe("a malformed success", () => {
  const BROKEN = ["cutBody", "cutChunked", "malformedJson"];

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

  for (const kind of BROKEN) {
    for (const [method, send, error] of [
      ["GET", READ, ServerError],
      ["POST", WRITE, OutcomeUnknownError],
    ]) {
      test(`returns 502 upstream-malformed for a ${kind} fault on a ${method}`, async () => {
        const answer = await sendWith({ kind }, send.raw);
        const problem = assertProblem(answer, 502, "upstream-malformed");
        assert.equal(problem.outcome, method === "POST" ? "unknown" : undefined);
        const thrown = await errorOf(() => sendWith({ kind }, send.call), error);
        assert.equal(thrown.code, "/problems/upstream-malformed");
        assert.equal(await gate.received(), 2, "one upstream request for each");
      });
    }
  }

  describe("a job, which the gateway reads whole before it passes it on", () => {
    for (const kind of BROKEN) {
      test(`returns 502 upstream-malformed for a ${kind} fault on a GET of a job`, async () => {
        const { id } = (await WRITE.raw()).json;
        const answer = await sendWith({ kind }, () => gate.get(`${JOBS}/${id}`));
        assertProblem(answer, 502, "upstream-malformed");
        const call = () => sendWith({ kind }, () => client.agentJobs.get(id));
        const error = await errorOf(call, ServerError);
        assert.equal(error.code, "/problems/upstream-malformed");
      });
    }
  });

  const shaped = (body) => ({ kind: "json", status: 200, body });
  const body = { id: "j1", status: true };

  test("returns 502 for a created job with a status that is not a string, and its key creates no second job", async () => {
    const headers = [["Idempotency-Key", "shape"]];
    const create = () => gate.post(JOBS, { prompt: "x" }, { headers });
    const problem = assertProblem(await sendWith(shaped(body), create), 502, "upstream-malformed");
    assert.equal(problem.outcome, "unknown");
    assertProblem(await create(), 409, "outcome-unknown");
    assert.equal(await gate.received(), 1);
    const error = await errorOf(() => sendWith(shaped(body), WRITE.call), OutcomeUnknownError);
    assert.equal(error.code, "/problems/upstream-malformed");
  });

  test("returns 502 for a job of more than 64 kB on every route", async () => {
    const body = { id: "j1", model: "x".repeat(64 * 1024) };
    for (const send of [READ_JOB.raw, WRITE.raw, () => gate.get(`${JOBS}/huge/events`)]) {
      assertProblem(await sendWith(shaped(body), send), 502, "upstream-malformed");
    }
  });
});

describe("a key that the upstream rejects", () => {
  test("neither forwards nor logs an admin key that an upstream error repeats", async () => {
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
});
