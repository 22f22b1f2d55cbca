/** `client.analytics.dailyViews()`, which reads the archive of a gateway. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { ApiError, Client, DecodeError, ValidationError } from "quillgate";

const DAYS = { dateFrom: "2026-11-01", dateTo: "2026-11-03" };
const DAY = {
  date: "2026-11-01",
  human: 5,
  ai: 2,
  total: 7,
  days: 1,
  missing: [],
  visitors: { human: 3, ai: 1, total: 4 },
};
const SERIES = { views: [DAY], missing: ["2026-11-02"], nextCursor: null };

let server;
let client;
let responses = [];
const requests = [];

before(async () => {
  server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url, "http://gate");
    const { authorization } = request.headers;
    requests.push({ pathname, query: Object.fromEntries(searchParams), authorization });
    const { status = 200, body, headers } = responses.shift();
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify(body));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const baseUrl = `http://127.0.0.1:${server.address().port}`;
  client = new Client({ baseUrl, projectId: "acme", token: "a.b.c", logLevel: "off" });
});
after(() => server.close());

/** Sets the coming responses and clears the recorded requests. */
function respondWith(...given) {
  responses = given;
  requests.length = 0;
}

test("dailyViews() reads the archive's route with the credential of the client", async () => {
  respondWith({ body: { ...SERIES, views: [{ ...DAY, later: true }] } });
  const params = { ...DAYS, prefix: "/a b&c", group: "week", limit: 10, cursor: undefined };
  assert.deepEqual(await client.analytics.dailyViews(params), SERIES);
  assert.deepEqual(requests, [
    {
      pathname: "/v1/analytics/acme/views/daily",
      query: { ...DAYS, prefix: "/a b&c", group: "week", limit: "10" },
      authorization: "Bearer a.b.c",
    },
  ]);
});

test("dailyViews().withResponse() resolves to the series, the response and the request id", async () => {
  respondWith({ body: SERIES, headers: { "x-request-id": "r7" } });
  const { data, response, requestId } = await client.analytics.dailyViews(DAYS).withResponse();
  assert.deepEqual([data, requestId], [SERIES, "r7"]);
  assert.ok(response instanceof Response);
  assert.deepEqual([response.status, response.bodyUsed], [200, true]);
  assert.equal(requests.length, 1);
});

test("dailyViews() returns null for absent counts", async () => {
  const bare = { date: "2026-11-01", days: 1, missing: [] };
  respondWith({ body: { views: [bare], missing: [] } });
  const { views, nextCursor } = await client.analytics.dailyViews(DAYS);
  assert.deepEqual(views[0], { ...bare, human: null, ai: null, total: null, visitors: null });
  assert.equal(nextCursor, null);
});

test("dailyViews() rejects with the status and the detail of a gateway without an archive", async () => {
  const detail = "bind a D1 database as ARCHIVE";
  respondWith({ status: 501, body: { type: "/problems/archive-not-configured", detail } });
  const reading = client.analytics.dailyViews(DAYS, { maxRetries: 0 });
  const error = await reading.catch((reason) => reason);
  assert.ok(error instanceof ApiError);
  assert.equal(error.status, 501);
  assert.equal(error.problem.detail, detail);
  assert.equal(requests.length, 1);
});

test("dailyViews() rejects a malformed series with the path of the mistake", async () => {
  for (const [body, where] of [
    [{ ...SERIES, views: {} }, "views"],
    [{ ...SERIES, views: [{ ...DAY, days: -1 }] }, "views[0].days"],
    [{ ...SERIES, views: [{ ...DAY, human: "5" }] }, "views[0].human"],
    [{ ...SERIES, missing: [1] }, "missing[0]"],
    [{ ...SERIES, nextCursor: 1 }, "nextCursor"],
  ]) {
    respondWith({ body });
    const error = await client.analytics.dailyViews(DAYS).catch((reason) => reason);
    assert.ok(error instanceof DecodeError, where);
    assert.ok(error.message.startsWith(where), error.message);
  }
});

test("dailyViews() rejects invalid dates and unknown parameters before it sends anything", async () => {
  respondWith();
  const params = { ...DAYS, dateFrom: "2026-02-30" };
  await assert.rejects(client.analytics.dailyViews(params), ValidationError);
  const unknown = client.analytics.dailyViews({ ...DAYS, from: "x" });
  await assert.rejects(unknown, /from is not a parameter of this operation/);
  assert.equal(requests.length, 0);
});

test("dailyViews() rejects a missing date before it sends anything", async () => {
  const { dateFrom, dateTo } = DAYS;
  for (const [params, field] of [
    [{}, "dateFrom"],
    [undefined, "dateFrom"],
    [null, "dateFrom"],
    [{ dateTo }, "dateFrom"],
    [{ dateFrom }, "dateTo"],
    [{ dateFrom, dateTo: undefined }, "dateTo"],
  ]) {
    respondWith({ body: SERIES });
    const error = await client.analytics.dailyViews(params).catch((reason) => reason);
    assert.ok(error instanceof ValidationError, `${error}`);
    assert.deepEqual([error.field, error.rule], [field, "required"]);
    assert.equal(error.message, `${field} is required`);
    assert.equal(requests.length, 0);
  }
});

test("dailyViews() rejects with the reason of an aborted signal", async () => {
  respondWith();
  const signal = AbortSignal.abort(new Error("enough"));
  await assert.rejects(client.analytics.dailyViews(DAYS, { signal }), /enough/);
  assert.equal(requests.length, 0);
});
