/**
 * Operations. The gateway builds its own upstream requests, and forwards only the trace of the
 * caller's header fields. It returns the upstream's 2xx status and content without private header
 * fields.
 */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { assertCommonHead, assertProblem, JOBS, startGate, VIEWS } from "../recorded_gateway.mjs";

/** The runtime adds these header fields to a request with `cache: "no-store"`. */
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

let gate;

before(async () => {
  gate = await startGate("operations", { upstream: { jobDurationMs: 60_000 } });
});
after(() => gate?.stop());
beforeEach(() => gate.upstream.reset());

/** Returns the only request that the upstream has received. */
async function receivedOnce() {
  const requests = await gate.upstream.requests();
  assert.equal(requests.length, 1);
  return requests[0];
}

/**
 * Asserts the status and the header fields of a response of the gateway. Besides the fields that
 * every response may have, the response must have exactly the fields in `more`.
 */
function assertResponse(answer, status, more = [], head = {}) {
  assert.deepEqual([answer.status, answer.complete], [status, true], answer.text);
  assert.match(answer.header("content-type"), /^application\/json/);
  assertCommonHead(answer, head);
  const names = answer.headers.map(([name]) => name);
  assert.deepEqual(
    names.filter((name) => !RESPONSE_FIELDS.includes(name)),
    more,
    "the response has other header fields",
  );
}

const assertRead = (answer) => assertResponse(answer, 200, BUDGET_FIELDS);
const assertWritten = (answer, status) => assertResponse(answer, status, BUDGET_FIELDS);
const assertViews = (answer) => assertResponse(answer, 200, VIEWS_FIELDS, VIEWS_HEAD);

let days = 0;

/** Returns a target for page views with a new start date, so that the response is not cached. */
function newViews() {
  days += 1;
  return `${VIEWS}?dateFrom=${new Date(Date.UTC(2020, 0, days)).toISOString().slice(0, 10)}`;
}

/** Returns the upstream target for page views. The gateway always requests a whole page. */
const pageOf = (views) => `${views}&limit=250&offset=0`;

async function createdJob() {
  const answer = await gate.post(JOBS, { prompt: "document the API" });
  assertWritten(answer, 201);
  return answer.json;
}

describe("each operation", () => {
  test("creates a job with the exact prompt", async () => {
    const prompt = 'Ä "prompt"\n\\ with\u0000 \u{1f600} </script>';
    const answer = await gate.post(JOBS, { prompt });
    assertWritten(answer, 201);
    assert.equal(answer.json.status, "active");
    const request = await receivedOnce();
    assert.deepEqual([request.method, request.target], ["POST", JOBS]);
    assert.deepEqual(JSON.parse(request.body), { prompt });
    assert.equal(request.authorization, "accepted");
    assert.equal((await gate.upstream.jobs()).at(-1).prompt, prompt);
  });

  test("returns a job as the upstream has it", async () => {
    const job = await createdJob();
    const answer = await gate.get(`${JOBS}/${job.id}`);
    assertRead(answer);
    assert.deepEqual(answer.json, job);
    const request = (await gate.upstream.requests()).at(-1);
    assert.deepEqual([request.method, request.target], ["GET", `${JOBS}/${job.id}`]);
    assert.deepEqual([request.body, request.authorization], ["", "accepted"]);
  });

  test("sends a follow-up to a job", async () => {
    const job = await createdJob();
    const answer = await gate.post(`${JOBS}/${job.id}/message`, { prompt: "and more" });
    assertWritten(answer, 200);
    assert.equal(answer.json.id, job.id);
    const request = (await gate.upstream.requests()).at(-1);
    assert.deepEqual([request.method, request.target], ["POST", `${JOBS}/${job.id}/message`]);
    assert.deepEqual(JSON.parse(request.body), { prompt: "and more" });
    assert.deepEqual((await gate.upstream.jobs()).at(-1).messages, ["and more"]);
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

  test("lists jobs from its own records without a request upstream", async () => {
    const [older, newer] = [await createdJob(), await createdJob()];
    const received = await gate.received();
    const answer = await gate.get(`${JOBS}s?limit=2`);
    assertRead(answer);
    assert.deepEqual(
      answer.json.jobs.map(({ id }) => id),
      [newer.id, older.id],
    );
    assert.equal(await gate.received(), received, "requests upstream");
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
    assertViews(await gate.get(newViews(), { headers: CALLER_FIELDS }));
    const { traceparent, ...fields } = await receivedFields();
    assert.match(traceparent, CONTINUED_TRACE);
    assert.deepEqual(fields, {
      accept: "application/json",
      authorization: "accepted",
      ...NO_STORE_FIELDS,
      "user-agent": "quillgate/0.1.0",
    });
  });

  test("forwards none of the caller's header fields with a POST request", async () => {
    assertWritten(await gate.post(JOBS, { prompt: "x" }, { headers: CALLER_FIELDS }), 201);
    const { traceparent, ...fields } = await receivedFields();
    assert.match(traceparent, CONTINUED_TRACE);
    assert.deepEqual(fields, {
      accept: "application/json",
      authorization: "accepted",
      ...NO_STORE_FIELDS,
      "content-type": "application/json",
      "user-agent": "quillgate/0.1.0",
    });
  });

  test("drops the body of a GET request", async () => {
    assertViews(await gate.get(newViews(), { json: { prompt: "x" } }));
    assert.equal((await receivedOnce()).body, "");
  });

  test("serializes a request body again instead of forwarding its bytes", async () => {
    const body = ' { "\\u0070rompt" : "\\u0078" } \r\n';
    const headers = [["Content-Type", "Application/JSON; charset=utf-16"]];
    assertWritten(await gate.send({ method: "POST", target: JOBS, headers, body }), 201);
    assert.equal((await receivedOnce()).body, '{"prompt":"x"}');
  });

  test("forwards the whole content of a chunked body", async () => {
    const headers = [["Content-Type", "application/json"]];
    const prompt = "x".repeat(100_000);
    const body = JSON.stringify({ prompt });
    const answer = await gate.send({ method: "POST", target: JOBS, headers, body, chunked: true });
    assertWritten(answer, 201);
    assert.deepEqual(JSON.parse((await receivedOnce()).body), { prompt });
  });

  test("accepts a body of exactly the maximum size", async () => {
    const prompt = "x".repeat(1024 * 1024 - '{"prompt":""}'.length);
    assertWritten(await gate.post(JOBS, { prompt }), 201);
    assert.deepEqual(JSON.parse((await receivedOnce()).body), { prompt });
  });

  test("percent-encodes an id so that it stays one path segment", async () => {
    for (const [sent, target] of [
      ["a;b=c", "a%3Bb%3Dc"],
      ["a%20b+c", "a%20b%2Bc"],
      ["%C3%BC", "%C3%BC"],
      ["%6a%6f%62", "job"],
      ["...", "..."],
    ]) {
      const answer = await gate.get(`${JOBS}/${sent}`);
      assertProblem(answer, 404, "upstream-error");
      assert.equal((await gate.upstream.requests()).at(-1).target, `${JOBS}/${target}`);
    }
  });

  test("sends one upstream request for each of two pipelined requests", async () => {
    const [first, second] = [newViews(), newViews()];
    const bytes = Buffer.concat([first, second].map((target) => gate.bytes({ target })));
    const exchange = gate.open(bytes);
    const answer = await exchange.until(({ raw }) => raw.toString().split("hasMore").length === 3);
    exchange.leave();
    assert.equal(answer.status, 200);
    const targets = (await gate.upstream.requests()).map(({ target }) => target);
    assert.deepEqual(targets, [pageOf(first), pageOf(second)]);
  });
});

describe("responses to callers", () => {
  test("keeps the upstream's private header fields out of responses", async () => {
    const hidden = ["set-cookie", "server", "x-internal-host", "x-powered-by"];
    const direct = await fetch(`${gate.upstream.url}${VIEWS}`, {
      headers: { authorization: `Bearer ${gate.key}` },
    });
    await direct.text();
    for (const name of hidden) assert.ok(direct.headers.has(name), `the upstream sends ${name}`);
    const job = await createdJob();
    for (const target of [newViews(), `${JOBS}/${job.id}`, `${JOBS}/none`]) {
      const answer = await gate.get(target);
      for (const name of hidden) assert.equal(answer.header(name), undefined, name);
      const received = answer.raw.toString().replace(job.model, "");
      assert.doesNotMatch(received, /internal\.example|simulat/);
    }
  });

  test("does not forward unexpected header fields of an upstream response", async () => {
    const headers = {
      "access-control-allow-origin": "*",
      "cache-control": "public, max-age=31536000",
      "content-disposition": "attachment",
      link: "<https://evil.example/x.css>; rel=stylesheet",
      location: "https://evil.example/",
      refresh: "0; url=https://evil.example/",
      "set-cookie": "a=b",
      "x-request-id": "of-the-upstream",
    };
    const body = '{"id":"j1","totals":{},"views":[],"hasMore":false}';
    for (const [send, assertOwn] of [
      [() => gate.get(newViews()), assertViews],
      [() => gate.get(`${JOBS}/j1`), assertRead],
      [() => gate.post(JOBS, { prompt: "x" }), (answer) => assertWritten(answer, 200)],
    ]) {
      await gate.upstream.fault({ fault: { kind: "status", status: 200, body, headers } });
      const answer = await send();
      assertOwn(answer);
      assert.notEqual(answer.header("x-request-id"), "of-the-upstream");
    }
  });

  test("returns the upstream's exact 2xx status", async () => {
    await gate.upstream.fault({ fault: { kind: "json", status: 202, body: { id: "j1" } } });
    const answer = await gate.post(JOBS, { prompt: "x" });
    assertWritten(answer, 202);
    assert.deepEqual(answer.json, { id: "j1" });
  });
});

describe("bodies in parts", () => {
  test("does not start the response before a job's whole body has arrived", async () => {
    const longerThanTheTest = 24 * 3600 * 1000;
    const { id } = await createdJob();
    const fault = { kind: "slowDrip", chunkBytes: 40, intervalMs: longerThanTheTest };
    await gate.upstream.fault({ fault });
    const exchange = gate.open(gate.bytes({ target: `${JOBS}/${id}` }));
    await gate.untilCounters(({ inFlight }) => inFlight === 1);
    // A gateway that streams the body would start its response before this later request completes.
    assertViews(await gate.get(newViews()));
    assert.equal((await gate.upstream.counters()).inFlight, 1, "the upstream is still sending");
    assert.equal(exchange.answer.hasHead, false, "the gateway has started its response");

    exchange.reset();
    await gate.untilCounters(({ inFlight }) => inFlight === 0);
  });

  test("returns a whole body that the upstream sends in small chunks", async () => {
    const drip = { fault: { kind: "slowDrip", chunkBytes: 97, intervalMs: 1 } };
    const job = await createdJob();
    await gate.upstream.fault(drip);
    const read = await gate.get(`${JOBS}/${job.id}`);
    assertRead(read);
    assert.deepEqual(read.json, job);

    const range = { dateFrom: "2023-03-01", dateTo: "2023-04-01" };
    const { totals, views } = await gate.upstream.views(range);
    await gate.upstream.fault(drip);
    const page = await gate.get(`${VIEWS}?limit=50&${new URLSearchParams(range)}`);
    assertViews(page);
    assert.deepEqual(page.json, { totals, views: views.slice(0, 50), hasMore: true });
  });

  test("sends nothing upstream when the caller disconnects while sending a body", async () => {
    const bytes = gate.bytes({
      method: "POST",
      target: JOBS,
      headers: [
        ["Content-Type", "application/json"],
        ["Content-Length", "100"],
      ],
    });
    const exchange = gate.open(Buffer.concat([bytes, Buffer.from('{"prompt":"half of')]));
    await exchange.sent;
    exchange.leave();
    // If the aborted request went upstream, it would do so before this later request completes.
    const views = newViews();
    assertViews(await gate.get(views));
    assert.deepEqual((await receivedOnce()).target, pageOf(views));
  });
});
