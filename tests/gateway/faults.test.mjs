/**
 * What the upstream can do wrong: each is a clear problem for who asks the gateway, a clear
 * error for who uses the package, and never a success.
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
/** Of each of these the upstream closes the budget for creations, and so of no other test's. */
const CLOSED = Array.from({ length: 6 }, (_, n) => `closed-${n}`);
const HUGE = String(10 ** 6);
/** More than any test has failures. */
const HEALING = 12;

let gate;
let client;
let elsewhere;

before(async () => {
  gate = await startGate("faults", {
    upstream: { projects: [PROJECT, ...CLOSED] },
    gateway: {
      vars: {
        UPSTREAM_TIMEOUT_SECONDS: "1",
        CREATE_LIMIT_PER_HOUR: HUGE,
        ANALYTICS_LIMIT_PER_HOUR: HUGE,
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
  // Enough successes between the failures that the gateway does not leave the upstream alone.
  await gate.upstream.clearFaults();
  const heal = () => [READ.raw(), gate.get(`${JOBS}/none`), WRITE.raw()];
  await Promise.all(Array.from({ length: HEALING }, heal).flat());
  await gate.upstream.reset();
});

function clientOf(projectId) {
  const token = gate.token({ projects: [PROJECT, ...CLOSED] });
  return new Client({ baseUrl: gate.gateway.url, projectId, token, maxRetries: 0 });
}

/** A server that nobody may ever come to. */
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

/** The first day of a range that was not asked for before, so that no cache has it. */
function newDay() {
  days += 1;
  return new Date(Date.UTC(2015, 0, days)).toISOString().slice(0, 10);
}

/** The two ways to ask: byte by byte, and by the package. */
const READ = {
  raw: () => gate.get(`${VIEWS}?dateFrom=${newDay()}`),
  call: () => client.pageViews.list({ dateFrom: newDay() }),
};
/** A body that is passed on as it comes, and an operation without a budget. */
const READ_JOB = {
  raw: () => gate.get(`${JOBS}/j1`),
  call: () => client.agentJobs.get("j1"),
};
const WRITE = {
  raw: () => gate.post(JOBS, { prompt: "x" }),
  call: () => client.agentJobs.create({ prompt: "x" }),
};

/** Has the upstream go wrong once, or as often as a request is repeated, and asks. */
async function askWith(fault, ask, times = 1) {
  await gate.upstream.fault({ times, fault });
  return ask();
}

/** The error that a call of the package ends with. */
async function errorOf(call, type) {
  const error = await call().then(
    (value) => assert.fail(`a success: ${JSON.stringify(value)}`),
    (reason) => reason,
  );
  assert.ok(
    error instanceof type,
    `${type.name} expected, and not ${error.name}: ${error.message}`,
  );
  return error;
}

/**
 * A fault that the gateway makes a problem of: for GETs and a POST, byte by byte and through
 * the package.
 *
 * @param {string} what
 * @param {() => object} fault
 * @param {object} expected
 * @param {boolean} [expected.repeated] whether a GET is worth a second attempt
 * @param {boolean} [expected.certain] whether it is certain that a POST was not carried out
 */
function becomesProblem(what, fault, { repeated = false, certain = false, ...expected }) {
  const { status, kind, check, error = ServerError } = expected;
  const times = repeated ? 2 : 1;
  const outcome = certain ? undefined : "unknown";
  const written = certain ? error : OutcomeUnknownError;
  for (const [method, ask, on] of [
    ["GET", READ, { times, error }],
    ["GET of a job", READ_JOB, { times, error }],
    ["POST", WRITE, { times: 1, outcome, error: written }],
  ]) {
    test(`${what}, on a ${method}: ${status} ${kind}`, async () => {
      const answer = await askWith(fault(), ask.raw, on.times);
      const problem = assertProblem(answer, status, kind);
      assert.equal(problem.outcome, on.outcome);
      check?.(problem, answer, method);
      assert.equal(answer.header(ELSEWHERE.toLowerCase()), undefined);

      const thrown = await errorOf(() => askWith(fault(), ask.call, on.times), on.error);
      assert.equal(thrown.status, status);
      assert.equal(thrown.code, `/problems/${kind}`);
      assert.equal(thrown.problem.title, problem.title);
      assert.equal(await gate.received(), 2 * on.times, `each was asked ${on.times} times`);
    });
  }
}

describe("an upstream error", () => {
  const saying =
    (words, details = []) =>
    ({ status, upstream, detail }) => {
      assert.deepEqual(upstream, { status, error: words, details });
      assert.equal(detail, words);
    };

  becomesProblem("500", () => ({ kind: "status", status: 500 }), {
    ...{ status: 500, kind: "upstream-error", check: saying("Internal Server Error") },
  });
  becomesProblem(
    "500 with details",
    () => ({
      kind: "json",
      status: 500,
      body: { error: "Failed", details: [{ message: "one" }, { message: "two" }] },
    }),
    { status: 500, kind: "upstream-error", check: saying("Failed", ["one", "two"]) },
  );
  becomesProblem("HTML 502", () => ({ kind: "html", status: 502 }), {
    status: 502,
    kind: "upstream-error",
    repeated: true,
    check(problem, answer) {
      saying("bad gateway")(problem);
      assert.doesNotMatch(answer.text, /<|simulated-edge/);
    },
  });
  becomesProblem("an empty 503", () => ({ kind: "empty", status: 503 }), {
    status: 503,
    kind: "upstream-error",
    repeated: true,
    check(problem, answer) {
      saying("service unavailable")(problem);
      assert.equal(answer.header("retry-after"), "60");
    },
  });
  becomesProblem("504", () => ({ kind: "status", status: 504 }), {
    ...{ status: 504, kind: "upstream-error", repeated: true, check: saying("Gateway Timeout") },
  });
  becomesProblem(
    "503 that asks to wait",
    () => ({ kind: "status", status: 503, headers: { "retry-after": "3" } }),
    {
      status: 503,
      kind: "upstream-error",
      check: (_problem, answer) => assert.equal(answer.header("retry-after"), "3"),
    },
  );
  becomesProblem("404", () => ({ kind: "status", status: 404 }), {
    ...{ status: 404, kind: "upstream-error", certain: true },
    ...{ error: NotFoundError, check: saying("Not Found") },
  });

  for (const status of [502, 503, 504]) {
    test(`${status} once is nothing that who reads gets to see`, async () => {
      const answer = await askWith({ kind: "status", status }, READ.raw);
      assert.equal(answer.status, 200, answer.text);
      const { views } = await askWith({ kind: "status", status }, READ.call);
      assert.ok(views.length > 0);
      assert.equal(await gate.received(), 4);
    });
  }

  const closed = [...CLOSED];
  for (const [what, headers, expected] of [
    ["429 with Retry-After", { "retry-after": "7" }, 7],
    ["429 without Retry-After", {}, 60],
    ["429 with a Retry-After that is none", { "retry-after": "soon" }, 60],
  ]) {
    test(`${what} is that, and tells the package's user when to come back`, async () => {
      const fault = { kind: "status", status: 429, headers };
      const [project, other] = [closed.pop(), closed.pop()];
      const authorization = `Bearer ${gate.token({ projects: CLOSED })}`;
      const create = () =>
        gate.post(`/v2/agent/${project}/job`, { prompt: "x" }, { authorization });
      for (const ask of [READ_JOB.raw, create]) {
        const answer = await askWith(fault, ask);
        const problem = assertProblem(answer, 429, "upstream-error");
        assert.deepEqual([problem.upstream.status, problem.outcome], [429, undefined]);
        assert.equal(answer.header("retry-after"), String(expected));
      }
      const called = () => clientOf(other).agentJobs.create({ prompt: "x" });
      for (const call of [READ_JOB.call, called]) {
        const thrown = await errorOf(() => askWith(fault, call), RateLimitError);
        assert.equal(thrown.code, "/problems/upstream-error");
        assert.equal(thrown.retryAfter, expected);
      }
      assert.equal(await gate.received(), 4, "each was asked once");
    });
  }
  for (const status of [600, 999]) {
    becomesProblem(`${status}, which HTTP does not have`, () => ({ kind: "status", status }), {
      status: 502,
      kind: "upstream-error",
      check: ({ upstream }) => assert.equal(upstream.status, status),
    });
  }

  test("an error's own header fields are not passed on", async () => {
    const headers = { "www-authenticate": "Basic", "set-cookie": "a=b", allow: "TRACE", via: "x" };
    const answer = await askWith({ kind: "status", status: 500, headers }, READ.raw);
    for (const name of Object.keys(headers)) assert.equal(answer.header(name), undefined, name);
  });

  test("an error whose body never ends is answered without it", async () => {
    const never = 24 * 3600 * 1000;
    const fault = { kind: "slowDrip", chunkBytes: 1, intervalMs: never };
    const answer = await askWith(fault, () => gate.get(`${JOBS}/none`));
    const { upstream } = assertProblem(answer, 404, "upstream-error");
    assert.deepEqual(upstream, { status: 404, error: "not found", details: [] });
  });

  test("a failure at a POST leaves open whether the work was done, a refusal does not", async () => {
    const failed = await askWith({ kind: "status", status: 503, body: "{}" }, WRITE.raw);
    assert.equal(assertProblem(failed, 503, "upstream-error").outcome, "unknown");
    const refused = await askWith({ kind: "status", status: 400, body: "{}" }, WRITE.raw);
    assert.equal(assertProblem(refused, 400, "upstream-error").outcome, undefined);
  });

  test("an error of great length is cut down", async () => {
    const fault = { kind: "json", status: 500, body: { error: "x".repeat(50_000) } };
    const { detail } = assertProblem(await askWith(fault, READ.raw), 500, "upstream-error");
    assert.equal(detail.length, 1001);
    const endless = { kind: "json", status: 500, body: { error: "x".repeat(900_000) } };
    const problem = assertProblem(await askWith(endless, READ.raw), 500, "upstream-error");
    assert.equal(problem.detail, "internal server error");
  });
});

describe("an upstream that is silent", () => {
  becomesProblem("a reset", () => ({ kind: "reset" }), {
    ...{ status: 502, kind: "upstream-unreachable", repeated: true },
  });
  becomesProblem("a reset after the work was done", () => ({ kind: "reset", process: true }), {
    ...{ status: 502, kind: "upstream-unreachable", repeated: true },
  });
  becomesProblem("never an answer", () => ({ kind: "hang" }), {
    ...{ status: 504, kind: "upstream-timeout" },
  });

  test("once, by a reset, is nothing that who reads gets to see", async () => {
    const answer = await askWith({ kind: "reset" }, READ.raw);
    assert.equal(answer.status, 200, answer.text);
    assert.equal(await gate.received(), 2);
  });

  test("a request that was given up is ended upstream, too", async () => {
    assertProblem(await askWith({ kind: "hang" }, READ.raw), 504, "upstream-timeout");
    const { aborted } = await gate.untilCounters(({ inFlight }) => inFlight === 0);
    assert.equal(aborted, 1);
  });

  test("a job is created once, however its answer was lost", async () => {
    await askWith({ kind: "reset", process: true }, WRITE.raw);
    assert.equal((await gate.upstream.jobs()).length, 1);
    assert.equal(await gate.received(), 1);
  });
});

describe("a redirect", () => {
  for (const status of [301, 302, 303, 307, 308, 300, 304]) {
    const location = () => `${elsewhere.url}/v1/stolen`;
    const fault = () => ({ kind: "redirect", status, location: location() });
    becomesProblem(`${status} to another host`, fault, {
      status: 502,
      kind: "upstream-redirect",
      check(_problem, answer) {
        assert.equal(answer.header("location"), undefined);
        assert.ok(!answer.raw.includes(elsewhere.url));
      },
    });
  }

  test("is not followed on the same host either", async () => {
    const fault = { kind: "redirect", status: 302, location: `${VIEWS}?limit=1` };
    assertProblem(await askWith(fault, READ.raw), 502, "upstream-redirect");
    assert.equal(await gate.received(), 1);
  });

  test("a success that refreshes to another host sends nobody there", async () => {
    const headers = { refresh: `0; url=${elsewhere.url}`, location: elsewhere.url };
    const body = '{"id":"j1"}';
    const answer = await askWith({ kind: "status", status: 201, headers, body }, WRITE.raw);
    assert.equal(answer.status, 201);
    assert.ok(!answer.raw.includes(elsewhere.url));
  });

  test("has brought nobody there, and no key", () => {
    assert.deepEqual(elsewhere.visits, []);
  });
});

describe("a success that is none", () => {
  for (const [what, fault] of [
    ["200 with HTML", () => ({ kind: "html", status: 200 })],
    ["200 without a body", () => ({ kind: "empty", status: 200 })],
    ["204", () => ({ kind: "empty", status: 204 })],
    [
      "JSON under another name",
      () => ({ kind: "status", status: 200, contentType: "text/plain", body: "{}" }),
    ],
  ]) {
    becomesProblem(what, fault, {
      status: 502,
      kind: "upstream-malformed",
      check: (_problem, answer) => assert.doesNotMatch(answer.text, /<html/),
    });
  }

  for (const kind of ["cutBody", "cutChunked", "malformedJson"]) {
    for (const [method, ask, error] of [
      ["GET", READ, ServerError],
      ["POST", WRITE, OutcomeUnknownError],
    ]) {
      test(`${kind}, on a ${method}: 502 upstream-malformed`, async () => {
        const problem = assertProblem(await askWith({ kind }, ask.raw), 502, "upstream-malformed");
        assert.equal(problem.outcome, method === "POST" ? "unknown" : undefined);
        const thrown = await errorOf(() => askWith({ kind }, ask.call), error);
        assert.equal(thrown.code, "/problems/upstream-malformed");
        assert.equal(await gate.received(), 2, "each was asked once");
      });
    }
  }

  describe("of a job, which is read whole before it is passed on", () => {
    const job = async () => (await WRITE.raw()).json.id;

    for (const kind of ["cutBody", "cutChunked", "malformedJson"]) {
      test(`${kind}: 502 upstream-malformed`, async () => {
        const id = await job();
        const answer = await askWith({ kind }, () => gate.get(`${JOBS}/${id}`));
        assertProblem(answer, 502, "upstream-malformed");
        const call = () => client.agentJobs.get(id);
        const error = await errorOf(() => askWith({ kind }, call), ServerError);
        assert.equal(error.code, "/problems/upstream-malformed");
      });
    }
  });

  const shaped = (body) => ({ kind: "json", status: 200, body });
  const page = { totals: {}, views: [], hasMore: false };

  for (const [what, ask, body, where] of [
    [
      "a row of another shape",
      READ,
      { ...page, views: [{ path: "/", human: "many" }] },
      "views[0].human",
    ],
  ]) {
    test(`${what}: an error that says where`, async () => {
      const error = await errorOf(() => askWith(shaped(body), ask.call), DecodeError);
      assert.equal(error.where, where);
    });
  }

  for (const body of [{ id: 5 }, { id: "j1", status: true }, { source: "acme/docs" }]) {
    const shown = JSON.stringify(body);

    test(`a new job of ${shown}: 502, and never a second job under its key`, async () => {
      const headers = [["Idempotency-Key", `shape-${shown.length}`]];
      const create = () => gate.post(JOBS, { prompt: "x" }, { headers });
      const problem = assertProblem(await askWith(shaped(body), create), 502, "upstream-malformed");
      assert.equal(problem.outcome, "unknown");
      assertProblem(await create(), 409, "outcome-unknown");
      assert.equal(await gate.received(), 1);
      const error = await errorOf(() => askWith(shaped(body), WRITE.call), OutcomeUnknownError);
      assert.equal(error.code, "/problems/upstream-malformed");
    });

    test(`a follow-up's job of ${shown}: 502`, async () => {
      const { id } = (await WRITE.raw()).json;
      const send = () => gate.post(`${JOBS}/${id}/message`, { prompt: "x" });
      const problem = assertProblem(await askWith(shaped(body), send), 502, "upstream-malformed");
      assert.equal(problem.outcome, "unknown");
    });

    test(`a watched job of ${shown}: 502, and no event`, async () => {
      const watch = () => gate.get(`${JOBS}/unseen-${shown.length}/events`);
      assertProblem(await askWith(shaped(body), watch), 502, "upstream-malformed");
    });
  }

  test("a job of more than 64 kB: 502, whoever asks for it", async () => {
    const body = { id: "j1", model: "x".repeat(64 * 1024) };
    for (const ask of [READ_JOB.raw, WRITE.raw, () => gate.get(`${JOBS}/huge/events`)]) {
      assertProblem(await askWith(shaped(body), ask), 502, "upstream-malformed");
    }
  });

  for (const [what, body] of [
    ["a list", []],
    ["null", null],
    ["text", "x"],
    ["of another shape", { id: 5 }],
  ]) {
    test(`a job that is ${what}: 502 upstream-malformed`, async () => {
      const error = await errorOf(() => askWith(shaped(body), READ_JOB.call), ServerError);
      assert.equal(error.code, "/problems/upstream-malformed");
    });
  }

  for (const body of [[], null, "x", 1]) {
    for (const [method, ask] of [
      ["GET", READ],
      ["POST", WRITE],
    ]) {
      test(`JSON of ${JSON.stringify(body)}, on a ${method}: 502 upstream-malformed`, async () => {
        const problem = assertProblem(
          await askWith(shaped(body), ask.raw),
          502,
          "upstream-malformed",
        );
        assert.equal(problem.outcome, method === "POST" ? "unknown" : undefined);
      });
    }
  }

  for (const [what, body] of [
    ["without rows", { ...page, views: undefined }],
    ["with rows that are none", { ...page, views: {} }],
    ["without totals", { ...page, totals: null }],
    ["that do not say whether there is more", { ...page, hasMore: "no" }],
    ["of too many rows", { ...page, views: Array(251).fill({ path: "/" }) }],
  ]) {
    test(`page views ${what}: 502 upstream-malformed, and not kept`, async () => {
      const target = `${VIEWS}?dateFrom=${newDay()}`;
      const answer = await askWith(shaped(body), () => gate.get(target));
      assertProblem(answer, 502, "upstream-malformed");
      assert.equal((await gate.get(target)).status, 200);
    });
  }
});

describe("a key that the upstream refuses", () => {
  const WORDS = /expired|read access|write access|invalid api key/i;

  /** Asks; the caller must not see why, the operator must. */
  async function assertOperatorsProblem(ask, operator) {
    const answer = await ask.raw();
    const problem = assertProblem(answer, 502, "upstream-credential");
    assert.doesNotMatch(answer.raw.toString(), WORDS);
    assert.equal(problem.upstream, undefined);
    assert.equal(answer.header("www-authenticate"), undefined);
    const line = await gate.logged(answer.header("x-request-id"));
    assert.match(line.operator, operator);
    const error = await errorOf(ask.call, ServerError);
    assert.equal(error.status, 502);
    assert.doesNotMatch(JSON.stringify(error.problem) + error.message, WORDS);
  }

  for (const [state, ask, operator] of [
    ["expired", READ, /refused ADMIN_API_KEY with 401: API key has expired/],
    ["expired", WRITE, /refused ADMIN_API_KEY with 401: API key has expired/],
    ["read", WRITE, /refused ADMIN_API_KEY with 403: API key is limited to read access/],
    ["write", READ, /refused ADMIN_API_KEY with 403: API key is limited to write access/],
  ]) {
    const method = ask === READ ? "GET" : "POST";
    test(`${state}, on a ${method}: the operator's problem, in the log alone`, async (t) => {
      t.after(() => gate.upstream.setKey({ key: gate.key, state: "accepted" }));
      await gate.upstream.setKey({ key: gate.key, state });
      await assertOperatorsProblem(ask, operator);
    });
  }

  test("and repeats in its words is neither passed on nor logged", async () => {
    for (const [status, kind] of [
      [401, "upstream-credential"],
      [403, "upstream-credential"],
      [500, "upstream-error"],
    ]) {
      const details = [{ message: `Bearer ${gate.key}` }];
      const body = { error: `Invalid API key: ${gate.key}`, details };
      const answer = await askWith({ kind: "json", status, body }, READ.raw);
      assertProblem(answer, status === 500 ? 500 : 502, kind);
      assert.ok(!answer.raw.includes(gate.key));
      const line = await gate.logged(answer.header("x-request-id"));
      assert.ok(!JSON.stringify(line).includes(gate.key));
      if (status !== 500) assert.match(line.operator, /Invalid API key: \[key\]/);
    }
  });

  test("and repeats in a header field is not passed on", async () => {
    const headers = { "x-debug": gate.key, "x-request-id": gate.key, "content-language": "en" };
    const fault = { kind: "status", status: 200, headers, body: "{}" };
    const answer = await askWith(fault, READ_JOB.raw);
    assert.deepEqual([answer.status, answer.header("content-language")], [200, "en"]);
    assert.ok(!answer.raw.includes(gate.key));
    for (const ask of [READ.raw, WRITE.raw]) {
      assert.ok(!(await askWith(fault, ask)).raw.includes(gate.key));
    }
  });
});

test("the gateway has survived all of it without a panic", async () => {
  assert.equal((await gate.get(VIEWS)).status, 200);
  assert.doesNotMatch(gate.gateway.log(), /panicked|RuntimeError|Critical|Reinitializing/);
});

test("neither answers nor log hold the admin key, the secret or a token", () =>
  gate.assertDiscreet());

describe("an upstream that is not there", () => {
  let alone;

  before(async () => {
    alone = await startGate("faults-alone");
    await alone.upstream.stop();
  });
  after(() => alone?.stop());

  test("is unreachable", async () => {
    const problem = assertProblem(await alone.get(VIEWS), 502, "upstream-unreachable");
    assert.equal(problem.outcome, undefined);
    const answer = await alone.post(JOBS, { prompt: "x" });
    const written = assertProblem(answer, 502, "upstream-unreachable");
    assert.equal(written.outcome, "unknown");
  });

  test("is an error to the package", async () => {
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

  test("does not keep the gateway from being up, or make it talk", async () => {
    assert.equal((await alone.get("/healthz")).status, 200);
    await alone.assertDiscreet();
  });
});
