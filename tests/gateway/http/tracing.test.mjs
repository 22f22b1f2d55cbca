import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { headerOf } from "../../harness/upstream.mjs";
import { JOBS, useGate, VIEWS } from "../recorded_gateway.mjs";

const prompt = "x";
/** Much longer than a response takes, so that only hanging requests time out. */
const TIMEOUT_SECONDS = 10;
const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN = "00f067aa0ba902b7";

const gate = useGate("tracing", {
  upstream: { pages: 600 },
  gateway: { vars: { UPSTREAM_TIMEOUT_SECONDS: String(TIMEOUT_SECONDS) } },
});
beforeEach(() => gate.upstream.reset());
describe("trace context", () => {
  let range = 0;
  const OPERATIONS = {
    "a job": (headers) => gate.get(`${JOBS}/j1`, { headers }),
    "page views": (headers) => {
      range += 1;
      return gate.get(`${VIEWS}?dateTo=2024-03-${String(range).padStart(2, "0")}`, { headers });
    },
    "a creation": (headers) => gate.post(JOBS, { prompt }, { headers }),
    "a follow-up": (headers) => gate.post(`${JOBS}/j1/message`, { prompt }, { headers }),
  };

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
    const sorted = received.sort((one, other) => one.trace.localeCompare(other.trace));
    assert.deepEqual(sorted, sent);
  });
});

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
