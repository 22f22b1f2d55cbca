/**
 * Request ids and traces. The gateway reuses the caller's request id if the id is valid, and
 * otherwise generates one. It continues the caller's trace upstream, and returns the upstream's
 * duration in Server-Timing.
 */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { accessClaims, mintToken } from "../../harness/token.mjs";
import { headerOf } from "../../harness/upstream.mjs";
import { assertProblem, JOBS, startGate, VIEWS } from "../recorded_gateway.mjs";

const prompt = "x";
/**
 * The upstream timeout is much longer than a response takes, so that only hanging requests time
 * out.
 */
const TIMEOUT_SECONDS = 10;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN = "00f067aa0ba902b7";

let gate;

before(async () => {
  gate = await startGate("tracing", {
    upstream: { pages: 600 },
    gateway: { vars: { UPSTREAM_TIMEOUT_SECONDS: String(TIMEOUT_SECONDS) } },
  });
});
after(() => gate?.stop());
beforeEach(() => gate.upstream.reset());

const operator = () => {
  const claims = accessClaims({ sub: "olga", scope: "gateway:operate" });
  return { authorization: `Bearer ${gate.known(mintToken(claims, gate.secret))}` };
};
const anonymous = { authorization: null };

describe("X-Request-Id", () => {
  const send = (id) => gate.get(VIEWS, { authorization: null, headers: [["X-Request-Id", id]] });

  for (const id of ["of-the-caller_1=", "A".repeat(255)]) {
    test(`reuses the caller's X-Request-Id ${id.slice(0, 20)}`, async () => {
      const answer = await send(id);
      assert.equal(answer.header("x-request-id"), id);
      assert.equal(answer.json.instance, id);
      assert.equal((await gate.logged(id)).status, 401);
    });
  }

  for (const [what, id] of [
    ["256 characters long", "A".repeat(256)],
    ["two words", "a b"],
    ["an encoded line break", "a%0d%0ab"],
  ]) {
    test(`replaces an X-Request-Id that is ${what}`, async () => {
      const answer = await send(id);
      assertProblem(answer, 401, "missing-token");
      assert.match(answer.header("x-request-id"), UUID);
      assert.ok(!gate.gateway.log().includes(id));
    });
  }

  test("replaces two X-Request-Id fields with its own id", async () => {
    const headers = [
      ["X-Request-Id", "one"],
      ["X-Request-Id", "two"],
    ];
    const answer = await gate.get(VIEWS, { authorization: null, headers });
    assert.match(answer.header("x-request-id"), UUID);
  });

  test("generates a different X-Request-Id for each request", async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => gate.get("/healthz", anonymous)),
    );
    const ids = new Set(answers.map((answer) => answer.header("x-request-id")));
    assert.equal(ids.size, 20);
  });
});

describe("trace context", () => {
  let range = 0;
  /**
   * Functions that send requests upstream. Each request for page views has a new date range, so
   * that the response is not cached.
   */
  const OPERATIONS = {
    "a job": (headers) => gate.get(`${JOBS}/j1`, { headers }),
    "page views": (headers) => {
      range += 1;
      return gate.get(`${VIEWS}?dateTo=2024-03-${String(range).padStart(2, "0")}`, { headers });
    },
    "a creation": (headers) => gate.post(JOBS, { prompt }, { headers }),
    "a follow-up": (headers) => gate.post(`${JOBS}/j1/message`, { prompt }, { headers }),
  };

  /**
   * Sends a request. Returns the trace id, the span id and the flags of the `traceparent` that the
   * upstream received.
   */
  async function traced(operation, ...headers) {
    await gate.upstream.reset();
    const answer = await OPERATIONS[operation](headers);
    const [request] = await gate.upstream.requests();
    const parent = headerOf(request, "traceparent");
    const [, version, trace, span, flags] = /^(..)-(.{32})-(.{16})-(..)$/.exec(parent);
    assert.equal(version, "00");
    assert.match(trace, /^(?!0{32})[0-9a-f]{32}$/);
    assert.match(span, /^(?!0{16})[0-9a-f]{16}$/);
    const line = await gate.logged(answer.header("x-request-id"));
    assert.equal(line.traceId, trace, "the log and the upstream have the same trace id");
    return { trace, span, flags };
  }

  for (const operation of Object.keys(OPERATIONS)) {
    test(`continues the caller's trace upstream with a new span: ${operation}`, async () => {
      for (const flags of ["00", "01"]) {
        const sent = await traced(operation, ["Traceparent", `00-${TRACE}-${SPAN}-${flags}`]);
        assert.deepEqual([sent.trace, sent.flags], [TRACE, flags]);
        assert.notEqual(sent.span, SPAN);
      }
    });

    test(`starts a new trace when the request has none: ${operation}`, async () => {
      const [first, second] = [await traced(operation), await traced(operation)];
      assert.notEqual(first.trace, second.trace);
      assert.notEqual(first.span, second.span);
      assert.equal(first.flags, "00");
    });
  }

  for (const operation of Object.keys(OPERATIONS)) {
    test(`forwards tracestate, truncated to whole members: ${operation}`, async () => {
      const parent = ["Traceparent", `00-${TRACE}-${SPAN}-01`];
      const stateOf = async (...headers) => {
        await traced(operation, ...headers);
        const [request] = await gate.upstream.requests();
        return headerOf(request, "tracestate");
      };
      const state = (value) => ["Tracestate", value];
      assert.equal(await stateOf(parent, state("rojo=00f0, congo=t61")), "rojo=00f0,congo=t61");
      assert.equal(await stateOf(parent, state("rojo=1"), state("congo=2")), "rojo=1,congo=2");
      const members = Array.from({ length: 8 }, (_, index) => `k${index}=${"x".repeat(100)}`);
      assert.equal(await stateOf(parent, state(members.join())), members.slice(0, 4).join());
      assert.equal(await stateOf(parent), undefined);
      assert.equal(await stateOf(state("rojo=1")), undefined, "a new trace has no state");
    });
  }

  test("keeps the traces of 48 concurrent requests apart", async () => {
    await gate.upstream.reset();
    const sent = Array.from({ length: 48 }, (_, index) => {
      const trace = (index + 1).toString(16).padStart(32, "0");
      return { trace, state: index % 3 === 0 ? `rojo=${index}` : undefined };
    });
    const operations = ["a job", "a creation", "a follow-up"].map((name) => OPERATIONS[name]);
    const answers = sent.map(({ trace, state }, index) => {
      const parent = ["Traceparent", `00-${trace}-${SPAN}-01`];
      const send = operations[index % operations.length];
      return send(state ? [parent, ["Tracestate", state]] : [parent]);
    });
    await Promise.all(answers);
    const received = (await gate.upstream.requests()).map((request) => ({
      trace: headerOf(request, "traceparent").split("-")[1],
      state: headerOf(request, "tracestate"),
    }));
    assert.deepEqual(
      received.sort((one, other) => one.trace.localeCompare(other.trace)),
      sent,
    );
  });

  test("starts a new trace when traceparent is malformed", async () => {
    const sent = await traced("a job", ["Traceparent", `00-${"0".repeat(32)}-${SPAN}-01`]);
    assert.notEqual(sent.trace, TRACE);
    assert.equal(sent.flags, "00");
  });

  test("logs the trace id of a rejected request", async () => {
    const headers = [["Traceparent", `00-${TRACE}-${SPAN}-01`]];
    const answer = await gate.get(VIEWS, { authorization: null, headers });
    assert.equal((await gate.logged(answer.header("x-request-id"))).traceId, TRACE);
  });
});

describe("Server-Timing", () => {
  const DURATION = /^upstream;dur=(\d+)$/;

  test("returns the upstream's share of the time in Server-Timing", async () => {
    const created = await gate.post(JOBS, { prompt });
    for (const answer of [
      created,
      await gate.get(`${JOBS}/${created.json.id}`),
      await gate.get(`${JOBS}/none`),
      await gate.get(`${VIEWS}?dateTo=2024-05-01`),
    ]) {
      const [, milliseconds] = DURATION.exec(answer.header("server-timing"));
      const line = await gate.logged(answer.header("x-request-id"));
      assert.equal(line.upstreamMilliseconds, Number(milliseconds));
    }
  });

  test("returns Server-Timing if only the first of two pages came from the upstream", async () => {
    const range = "dateFrom=2024-01-01&dateTo=2024-06-01";
    assert.equal((await gate.get(`${VIEWS}?${range}&offset=250`)).status, 200);
    await gate.upstream.fault({ fault: { kind: "delay", ms: 300 } });
    const both = await gate.get(`${VIEWS}?${range}&offset=100&limit=200`);
    assert.equal(both.status, 200, both.text);
    const [, milliseconds] = DURATION.exec(both.header("server-timing") ?? "") ?? [];
    assert.ok(Number(milliseconds) >= 300, `${milliseconds} ms`);
    const line = await gate.logged(both.header("x-request-id"));
    assert.equal(line.upstreamMilliseconds, Number(milliseconds));
  });

  test("omits Server-Timing when no request went upstream", async () => {
    const cached = `${VIEWS}?dateTo=2024-05-01`;
    assert.equal((await gate.get(cached)).status, 200);
    for (const answer of [
      await gate.get(cached),
      await gate.get(VIEWS, anonymous),
      await gate.get(`${VIEWS}?limit=0`),
      await gate.get("/healthz", anonymous),
      await gate.get("/openapi.json", anonymous),
      await gate.get("/healthz?deep", operator()),
    ]) {
      assert.equal(answer.header("server-timing"), undefined, answer.text.slice(0, 80));
    }
  });
});
