/** Cross-origin requests (CORS). The gateway sends no request from a disallowed origin upstream. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ALLOWED_ORIGIN, assertProblem, JOBS, useGate, VIEWS } from "../recorded_gateway.mjs";

const ALLOWED_HEADERS =
  "Authorization, Cache-Control, Content-Type, Idempotency-Key, " +
  "Idempotency-Retry, If-None-Match, Last-Event-ID, Prefer, Quillgate-Client, Traceparent, Tracestate, " +
  "Webhook-Url, X-Request-Id";
const EXPOSED_HEADERS =
  "Age, Cache-Status, Content-Disposition, ETag, Idempotent-Replayed, Preference-Applied, " +
  "Retry-After, RateLimit, RateLimit-Policy, Server-Timing, WWW-Authenticate, X-Request-Id";

const gate = useGate("cors");

const from = (origin, options = {}) => ({
  ...options,
  headers: [["Origin", origin], ...(options.headers ?? [])],
});

/** Returns the CORS fields of a response, and Timing-Allow-Origin. */
function cors(answer) {
  const isCors = (name) => name.startsWith("access-control-") || name === "timing-allow-origin";
  return Object.fromEntries(answer.headers.filter(([name]) => isCors(name)));
}

const namesIn = (field) => field?.split(", ") ?? [];

describe("CORS checks before a request goes upstream", () => {
  for (const origin of [
    "https://evil.example",
    "null",
    `${ALLOWED_ORIGIN}.evil.example`,
    `${ALLOWED_ORIGIN}, https://evil.example`,
  ]) {
    test(`rejects the origin "${origin}" without CORS fields`, async () => {
      for (const answer of [
        await gate.get(VIEWS, from(origin)),
        await gate.post(JOBS, { prompt: "x" }, from(origin)),
        await preflight(origin, "POST"),
      ]) {
        assertProblem(answer, 403, "origin-not-allowed");
        assert.deepEqual(cors(answer), {});
      }
    });
  }

  test("responds to a preflight without a token", async () => {
    const answer = await preflight(ALLOWED_ORIGIN, "POST");
    assert.deepEqual([answer.status, answer.text], [204, ""]);
    assert.equal(answer.header("vary"), "Origin");
    assert.deepEqual(cors(answer), {
      "access-control-allow-headers": ALLOWED_HEADERS,
      "access-control-allow-methods": "POST",
      "access-control-allow-origin": ALLOWED_ORIGIN,
      "access-control-expose-headers": EXPOSED_HEADERS,
      "access-control-max-age": "7200",
      "timing-allow-origin": ALLOWED_ORIGIN,
    });
  });
});

test("names an allowed origin in Access-Control-Allow-Origin", async () => {
  for (const origin of [ALLOWED_ORIGIN, "http://localhost:5173"]) {
    for (const [answer, status] of [
      // The first request fetches the page views, and the second gets them from the cache.
      [await gate.get(VIEWS, from(origin)), 200],
      [await gate.get(VIEWS, from(origin)), 200],
      [await gate.post(JOBS, { prompt: "x" }, from(origin)), 201],
      [await gate.get(`${JOBS}s`, from(origin)), 200],
    ]) {
      assert.equal(answer.status, status, answer.text);
      assert.ok(namesIn(answer.header("vary")).includes("Origin"));
      assert.deepEqual(cors(answer), {
        "access-control-allow-origin": origin,
        "access-control-expose-headers": EXPOSED_HEADERS,
        "timing-allow-origin": origin,
      });
    }
  }
});

function preflight(origin, method, target = JOBS) {
  const headers = [["Access-Control-Request-Method", method]];
  return gate.send({
    method: "OPTIONS",
    target,
    authorization: null,
    ...from(origin, { headers }),
  });
}
