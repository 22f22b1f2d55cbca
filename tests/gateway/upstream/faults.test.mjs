/** Upstream faults. The gateway retries some GET requests once. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { pipeline } from "node:stream/promises";
import { after, describe, test } from "node:test";
import { NotFoundError } from "../../../pkg/dist/node.js";
import { assertProblem, before, JOBS, useGate, VIEWS } from "../recorded_gateway.mjs";
import { gate, READ, sendWith, testProblem, WRITE } from "./faulty_upstream.mjs";

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
