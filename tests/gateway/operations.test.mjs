/** The four operations through the gateway: what goes upstream, and what comes back. */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { assertCommonHead, assertProblem, JOBS, PROJECT, startGate, VIEWS } from "./gate.mjs";

/** What the runtime says for a request with `cache: "no-store"`. */
const NOTHING_KEPT = { "cache-control": "no-cache", pragma: "no-cache" };

/** Header fields that the runtime adds to a request upstream by itself. */
const OF_THE_RUNTIME = ["host", "content-length", "cf-worker", "accept-encoding"];
/** Header fields that an answer may have, and the runtime's own two for the framing. */
const ANSWERED = [
  "cache-control",
  "content-length",
  "content-type",
  "server-timing",
  "transfer-encoding",
  "vary",
  "x-content-type-options",
  "x-request-id",
];
/** Those that an answer under a budget has, too. */
const OF_A_BUDGET = ["ratelimit", "ratelimit-policy"];
/** Those that page views have, too. */
const OF_VIEWS = ["age", "cache-status", "etag", ...OF_A_BUDGET];
const VIEWS_HEAD = { cacheControl: /^private, max-age=\d+$/, vary: "Origin, Authorization" };
/** The caller's trace, and the gateway's own place in it. */
const OF_THE_TRACE = /^00-1{32}-(?!2{16}|0{16})[0-9a-f]{16}-01$/;
/** A caller's header fields, none of which is any of the upstream's business. */
const OF_THE_CALLER = [
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

/** The one request that the upstream has received. */
async function receivedOnce() {
  const requests = await gate.upstream.requests();
  assert.equal(requests.length, 1);
  return requests[0];
}

/** Checks an answer's status and head, which has the fields of `more` and no unknown ones. */
function assertAnswered(answer, status, more = [], head = {}) {
  assert.deepEqual([answer.status, answer.complete], [status, true], answer.text);
  assert.match(answer.header("content-type"), /^application\/json/);
  assertCommonHead(answer, head);
  const names = answer.headers.map(([name]) => name);
  assert.deepEqual(
    names.filter((name) => !ANSWERED.includes(name)),
    more,
    "no other header field is passed on",
  );
}

const assertRead = (answer) => assertAnswered(answer, 200, OF_A_BUDGET);
const assertWritten = (answer, status) => assertAnswered(answer, status, OF_A_BUDGET);
const assertViews = (answer) => assertAnswered(answer, 200, OF_VIEWS, VIEWS_HEAD);

let days = 0;

/** Page views of a range that was not asked for before, so that they are fetched. */
function newViews() {
  days += 1;
  return `${VIEWS}?dateFrom=${new Date(Date.UTC(2020, 0, days)).toISOString().slice(0, 10)}`;
}

/** What is fetched for them: a whole page. */
const pageOf = (views) => `${views}&limit=250&offset=0`;

async function createdJob() {
  const answer = await gate.post(JOBS, { prompt: "write it down" });
  assertWritten(answer, 201);
  return answer.json;
}

describe("each operation", () => {
  test("creates a job with exactly the prompt", async () => {
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

  test("reads a job", async () => {
    const job = await createdJob();
    const answer = await gate.get(`${JOBS}/${job.id}`);
    assertRead(answer);
    assert.deepEqual(answer.json, job);
    const request = (await gate.upstream.requests()).at(-1);
    assert.deepEqual([request.method, request.target], ["GET", `${JOBS}/${job.id}`]);
    assert.deepEqual([request.body, request.authorization], ["", "accepted"]);
  });

  test("sends a follow-up", async () => {
    const job = await createdJob();
    const answer = await gate.post(`${JOBS}/${job.id}/message`, { prompt: "and more" });
    assertWritten(answer, 200);
    assert.equal(answer.json.id, job.id);
    const request = (await gate.upstream.requests()).at(-1);
    assert.deepEqual([request.method, request.target], ["POST", `${JOBS}/${job.id}/message`]);
    assert.deepEqual(JSON.parse(request.body), { prompt: "and more" });
    assert.deepEqual((await gate.upstream.jobs()).at(-1).messages, ["and more"]);
  });

  test("lists page views as the platform has them", async () => {
    const range = { dateFrom: "2024-02-01", dateTo: "2024-02-29T12:00:00+01:00" };
    const query = new URLSearchParams({ offset: "10", limit: "20", ...range });
    const answer = await gate.get(`${VIEWS}?${query}`);
    assertViews(answer);
    const { views, totals } = await gate.upstream.views(range);
    assert.deepEqual(answer.json, { totals, views: views.slice(10, 30), hasMore: true });
    const request = await receivedOnce();
    assert.equal(request.method, "GET");
    // In its one spelling, under which the page is kept.
    const order = "dateFrom=2024-02-01&dateTo=2024-02-29T11%3A00%3A00.000Z";
    assert.equal(request.target, `${VIEWS}?${order}&limit=250&offset=0`);
  });

  test("lists the jobs that were created through it", async () => {
    const [older, newer] = [await createdJob(), await createdJob()];
    const reached = await gate.received();
    const answer = await gate.get(`${JOBS}s?limit=2`);
    assertRead(answer);
    assert.deepEqual(
      answer.json.jobs.map(({ id }) => id),
      [newer.id, older.id],
    );
    assert.equal(await gate.received(), reached, "from its own records");
  });
});

describe("what the upstream sees", () => {
  /** All header fields but the runtime's, by name. */
  async function seen() {
    const { headers } = await receivedOnce();
    const own = headers.filter(([name]) => !OF_THE_RUNTIME.includes(name));
    const values = Object.fromEntries(headers);
    assert.equal(values.host, new URL(gate.upstream.url).host, "the upstream's own name");
    return Object.fromEntries(own);
  }

  test("of a GET: its few header fields, and nothing of the caller's", async () => {
    assertViews(await gate.get(newViews(), { headers: OF_THE_CALLER }));
    const { traceparent, ...fields } = await seen();
    assert.match(traceparent, OF_THE_TRACE);
    assert.deepEqual(fields, {
      accept: "application/json",
      authorization: "accepted",
      ...NOTHING_KEPT,
      "user-agent": "quillgate/0.1.0",
    });
  });

  test("of a POST: its few header fields, and nothing of the caller's", async () => {
    assertWritten(await gate.post(JOBS, { prompt: "x" }, { headers: OF_THE_CALLER }), 201);
    const { traceparent, ...fields } = await seen();
    assert.match(traceparent, OF_THE_TRACE);
    assert.deepEqual(fields, {
      accept: "application/json",
      authorization: "accepted",
      ...NOTHING_KEPT,
      "content-type": "application/json",
      "user-agent": "quillgate/0.1.0",
    });
  });

  test("a trace of the gateway's own when the caller has none, or no good one", async () => {
    const traces = new Set();
    for (const headers of [
      [],
      [["Traceparent", "of-the-caller"]],
      [["Traceparent", `00-${"0".repeat(32)}-2222222222222222-01`]],
    ]) {
      await gate.upstream.reset();
      assertWritten(await gate.post(JOBS, { prompt: "x" }, { headers }), 201);
      const { traceparent } = await seen();
      assert.match(traceparent, /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-00$/);
      traces.add(traceparent.slice(3, 35));
    }
    assert.equal(traces.size, 3, "another each time");
  });

  test("the method of the request line, whatever a header says", async () => {
    const headers = [
      ["X-HTTP-Method-Override", "POST"],
      ["X-Original-URL", JOBS],
    ];
    const views = newViews();
    assertViews(await gate.get(views, { headers }));
    const { method, target } = await receivedOnce();
    assert.deepEqual([method, target], ["GET", pageOf(views)]);
  });

  test("no body of a GET", async () => {
    assertViews(await gate.get(newViews(), { json: { prompt: "x" } }));
    assert.equal((await receivedOnce()).body, "");
  });

  test("the body rebuilt, not as it was sent", async () => {
    const body = ' { "\\u0070rompt" : "\\u0078" } \r\n';
    const headers = [["Content-Type", "Application/JSON; charset=utf-16"]];
    assertWritten(await gate.send({ method: "POST", target: JOBS, headers, body }), 201);
    assert.equal((await receivedOnce()).body, '{"prompt":"x"}');
  });

  test("a chunked body whole", async () => {
    const headers = [["Content-Type", "application/json"]];
    const prompt = "x".repeat(100_000);
    const body = JSON.stringify({ prompt });
    const answer = await gate.send({ method: "POST", target: JOBS, headers, body, chunked: true });
    assertWritten(answer, 201);
    assert.deepEqual(JSON.parse((await receivedOnce()).body), { prompt });
  });

  test("a prompt as large as the cap allows", async () => {
    const prompt = "x".repeat(128 * 1024 - '{"prompt":""}'.length);
    assertWritten(await gate.post(JOBS, { prompt }), 201);
    assert.deepEqual(JSON.parse((await receivedOnce()).body), { prompt });
  });

  test("an id percent-encoded, so that it stays one segment", async () => {
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

  test("the path that was authorised, when the runtime has resolved dots in it", async () => {
    for (const path of [
      `/v2/agent/other-docs/%2e%2e/${PROJECT}/job/j1`,
      `/v2/agent/other-docs/../${PROJECT}/job/j1`,
      `/v2/./agent/${PROJECT}/job/x/%2E%2E/j1`,
    ]) {
      assertProblem(await gate.get(path), 404, "upstream-error");
      assert.equal((await gate.upstream.requests()).at(-1).target, `${JOBS}/j1`);
    }
  });

  test("one request for each, also when two arrive in one packet", async () => {
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

describe("what the caller gets", () => {
  test("nothing of what is private to the upstream", async () => {
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
      const said = answer.raw.toString().replace(job.model, "");
      assert.doesNotMatch(said, /internal\.example|simulat/);
    }
  });

  test("no header that the upstream makes up", async () => {
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
    const body = '{"totals":{},"views":[],"hasMore":false}';
    for (const [ask, assertOwn] of [
      [() => gate.get(newViews()), assertViews],
      [() => gate.get(`${JOBS}/j1`), assertRead],
      [() => gate.post(JOBS, { prompt: "x" }), (answer) => assertWritten(answer, 200)],
    ]) {
      await gate.upstream.fault({ fault: { kind: "status", status: 200, body, headers } });
      const answer = await ask();
      assertOwn(answer);
      assert.notEqual(answer.header("x-request-id"), "of-the-upstream");
    }
  });

  test("the upstream's status, whichever 2xx it is", async () => {
    await gate.upstream.fault({ fault: { kind: "json", status: 202, body: { id: "j1" } } });
    const answer = await gate.post(JOBS, { prompt: "x" });
    assertWritten(answer, 202);
    assert.deepEqual(answer.json, { id: "j1" });
  });

  test("the upstream's own refusals, with its words and its status", async () => {
    const problem = assertProblem(await gate.get(`${JOBS}/none`), 404, "upstream-error");
    assert.deepEqual(problem.upstream, { status: 404, error: "Job not found", details: [] });
  });
});

describe("the request's id", () => {
  test("is the caller's own when that is harmless", async () => {
    for (const id of ["a", "build-42_x=", "A".repeat(255)]) {
      for (const target of [VIEWS, "/v2/nowhere", "/healthz"]) {
        const answer = await gate.get(target, { headers: [["X-Request-Id", id]] });
        assert.equal(answer.header("x-request-id"), id);
      }
    }
  });

  test("is a fresh one when the caller's is not", async () => {
    const ids = new Set();
    for (const id of [
      "",
      "a b",
      "a,b",
      "a;b",
      "<b>",
      "a/b",
      'a"',
      "A".repeat(256),
      "\xe4",
      "a\tb",
    ]) {
      const answer = await gate.get("/v2/nowhere", { headers: [["X-Request-Id", id]] });
      assertCommonHead(answer);
      ids.add(answer.header("x-request-id"));
    }
    assert.equal(ids.size, 10, "a different one each time");
  });

  test("is a fresh one when the caller sends two", async () => {
    const headers = [
      ["X-Request-Id", "one"],
      ["X-Request-Id", "two"],
    ];
    assertCommonHead(await gate.get("/v2/nowhere", { headers }));
  });

  test("is in the log line of its request", async () => {
    await gate.get(VIEWS, { headers: [["X-Request-Id", "to-be-found-in-the-log"]] });
    const line = await gate.logged("to-be-found-in-the-log");
    assert.equal(line.status, 200);
    const { subject, project, route } = line;
    assert.deepEqual(
      [subject, project, route],
      ["alice", PROJECT, "/v1/analytics/{projectId}/views"],
    );
  });
});

describe("a body", () => {
  test("of a job is not passed on before it is whole", async () => {
    const never = 24 * 3600 * 1000;
    const { id } = await createdJob();
    const fault = { kind: "slowDrip", chunkBytes: 40, intervalMs: never };
    await gate.upstream.fault({ fault });
    const exchange = gate.open(gate.bytes({ target: `${JOBS}/${id}` }));
    await gate.untilCounters(({ inFlight }) => inFlight === 1);
    // What comes after it has been answered: by now its first bytes would have been, too.
    assertViews(await gate.get(newViews()));
    assert.equal((await gate.upstream.counters()).inFlight, 1, "the upstream is not done");
    assert.equal(exchange.answer.hasHead, false, "and nothing is answered yet");

    exchange.leave();
    await gate.untilCounters(({ inFlight }) => inFlight === 0);
  });

  test("arrives whole when it comes in small pieces", async () => {
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

  test("of a caller who leaves while sending it never goes upstream", async () => {
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
    // What comes after it has been answered: by now it would have gone upstream, too.
    const views = newViews();
    assertViews(await gate.get(views));
    assert.deepEqual((await receivedOnce()).target, pageOf(views));
  });
});

test("neither answers nor log hold the admin key, the secret or a token", () =>
  gate.assertDiscreet());
