import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { closedRange, viewsOf } from "../analytics_requests.mjs";
import { assertCommonHead, JOBS, useGate, VIEWS } from "../recorded_gateway.mjs";

const NO_STORE_FIELDS = { "cache-control": "no-cache", pragma: "no-cache" };

/** Header fields that the runtime adds to every upstream request. */
const RUNTIME_FIELDS = ["host", "content-length", "cf-worker", "accept-encoding"];
/** Every response may have these header fields. The runtime adds two of them for framing. */
const RESPONSE_FIELDS = [
  "cache-control",
  "content-length",
  "content-type",
  "date",
  "server-timing",
  "transfer-encoding",
  "vary",
  "x-content-type-options",
  "x-request-id",
];
/** Additional header fields of operations with a budget. */
const BUDGET_FIELDS = ["ratelimit", "ratelimit-policy"];
/** Additional header fields of page views. */
const VIEWS_FIELDS = ["age", "cache-status", "etag", ...BUDGET_FIELDS];
const VIEWS_HEAD = { cacheControl: /^private, max-age=\d+$/, vary: "Origin, Authorization" };
/** Matches a `traceparent` with the caller's trace id and the id of the gateway's span. */
const CONTINUED_TRACE = /^00-1{32}-(?!2{16}|0{16})[0-9a-f]{16}-01$/;
/** Header fields of a caller. The gateway must forward only the trace. */
const CALLER_FIELDS = [
  ["Cookie", "session=of-the-caller"],
  ["X-Forwarded-For", "203.0.113.7"],
  ["X-Forwarded-Host", "evil.example"],
  ["X-Forwarded-Proto", "gopher"],
  ["X-Forwarded-Uri", "/v2/agent/other/job"],
  ["Forwarded", "for=203.0.113.7;host=evil.example"],
  ["X-Real-IP", "203.0.113.7"],
  ["X-Original-URL", "/v2/agent/other/job"],
  ["X-Rewrite-URL", "/v2/agent/other/job"],
  ["X-HTTP-Method-Override", "DELETE"],
  ["X-Method-Override", "DELETE"],
  ["X_Authorization", "Bearer smuggled"],
  ["Proxy-Authorization", "Basic c211Z2dsZWQ="],
  ["Api-Key", "smuggled"],
  ["X-Api-Key", "smuggled"],
  ["Referer", "https://docs.example/secret-page"],
  ["User-Agent", "of-the-caller/1.0"],
  ["Accept", "text/html"],
  ["Accept-Language", "tlh"],
  ["Accept-Encoding", "identity"],
  ["If-None-Match", '"etag"'],
  ["Range", "bytes=0-1"],
  ["Traceparent", "00-11111111111111111111111111111111-2222222222222222-01"],
  ["Idempotency-Key", "of-the-caller"],
  ["X-Custom", "of-the-caller"],
  ["Connection", "authorization, x-custom"],
];

const gate = useGate("operations", { upstream: { jobDurationMs: 60_000 } });
beforeEach(() => gate.upstream.reset());

async function receivedOnce() {
  const requests = await gate.upstream.requests();
  assert.equal(requests.length, 1);
  return requests[0];
}

/** Asserts the status and the header fields of a response of the gateway. */
function assertResponse(answer, status, more = [], head = {}) {
  assert.deepEqual([answer.status, answer.complete], [status, true], answer.text);
  assert.match(answer.header("content-type"), /^application\/json/);
  assertCommonHead(answer, head);
  const names = answer.headers.map(([name]) => name);
  const others = names.filter((name) => !RESPONSE_FIELDS.includes(name));
  assert.deepEqual(others, more, "the response has other header fields");
}
const assertWritten = (answer, status) => assertResponse(answer, status, BUDGET_FIELDS);
const assertViews = (answer) => assertResponse(answer, 200, VIEWS_FIELDS, VIEWS_HEAD);

describe("each operation", () => {
  test("creates a job with the exact prompt", async () => {
    const prompt = 'Ä "prompt"\n\\ with\u0000 \u{1f600} </script>';
    const answer = await gate.post(JOBS, { prompt });
    assertWritten(answer, 201);
    assert.equal(answer.json.status, "active");
    const request = await receivedOnce();
    assert.deepEqual([request.method, request.target], ["POST", JOBS]);
    assert.deepEqual(JSON.parse(request.body), { prompt });
    assert.equal(request.key, "key");
    assert.equal((await gate.upstream.jobs()).at(-1).prompt, prompt);
  });

  test("returns page views as the upstream has them", async () => {
    const range = { dateFrom: "2024-02-01", dateTo: "2024-02-29T12:00:00+01:00" };
    const query = new URLSearchParams({ offset: "10", limit: "20", ...range });
    const answer = await gate.get(`${VIEWS}?${query}`);
    assertViews(answer);
    const { views, totals } = await gate.upstream.views(range);
    assert.deepEqual(answer.json, { totals, views: views.slice(10, 30), hasMore: true });
    const request = await receivedOnce();
    assert.equal(request.method, "GET");
    // The gateway sends the canonical query, which is also its cache key.
    const canonical = "dateFrom=2024-02-01&dateTo=2024-02-29T11%3A00%3A00.000Z";
    assert.equal(request.target, `${VIEWS}?${canonical}&limit=250&offset=0`);
  });
});

describe("upstream requests", () => {
  /** Returns the header fields of the only upstream request, without those in RUNTIME_FIELDS. */
  async function receivedFields() {
    const { headers } = await receivedOnce();
    const own = headers.filter(([name]) => !RUNTIME_FIELDS.includes(name));
    const values = Object.fromEntries(headers);
    assert.equal(values.host, new URL(gate.upstream.url).host, "the upstream's own host");
    return Object.fromEntries(own);
  }

  test("forwards none of the caller's header fields with a GET request", async () => {
    assertViews(await gate.get(viewsOf(closedRange()), { headers: CALLER_FIELDS }));
    const { traceparent, ...fields } = await receivedFields();
    assert.match(traceparent, CONTINUED_TRACE);
    assert.deepEqual(fields, {
      accept: "application/json",
      authorization: "key",
      ...NO_STORE_FIELDS,
      "user-agent": "quillgate/0.1.0",
    });
  });

  test("accepts a body of exactly the maximum size", async () => {
    const prompt = "x".repeat(1024 * 1024 - '{"prompt":""}'.length);
    assertWritten(await gate.post(JOBS, { prompt }), 201);
    assert.deepEqual(JSON.parse((await receivedOnce()).body), { prompt });
  });
});
