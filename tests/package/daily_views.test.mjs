/** Methods of `client.analytics` for the archive of a gateway. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { Client } from "quillgate";

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
  server = createServer(async (request, response) => {
    const body = (await request.toArray()).join("");
    const { pathname, searchParams } = new URL(request.url, "http://gate");
    const { authorization } = request.headers;
    const query = Object.fromEntries(searchParams);
    requests.push({ method: request.method, pathname, query, authorization, body });
    const { status = 200, body: json, headers } = responses.shift();
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify(json));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const baseUrl = `http://127.0.0.1:${server.address().port}`;
  client = new Client({ baseUrl, projectId: "acme", auth: { token: "a.b.c" }, logLevel: "off" });
});
after(() => server.close());

/** Sets the next responses and clears the recorded requests. */
function respondWith(...given) {
  responses = given;
  requests.length = 0;
}

test("dailyViews() reads the archive's route with the credential of the client", async () => {
  respondWith({ body: { ...SERIES, views: [{ ...DAY, later: true }] } });
  const params = { ...DAYS, prefix: "/a b&c", group: "week", limit: 10, cursor: undefined };
  assert.deepEqual(await client.analytics.dailyViews(params), { ...SERIES, nextPosition: null });
  assert.deepEqual(requests, [
    {
      method: "GET",
      pathname: "/v1/analytics/acme/views/daily",
      query: { ...DAYS, prefix: "/a b&c", group: "week", limit: "10" },
      authorization: "Bearer a.b.c",
      body: "",
    },
  ]);
});

test("archivedViews() reads every page of the archive's list", async () => {
  const row = (path) => ({ path, human: 2, ai: 1, total: 3 });
  const totals = { human: 6, ai: 3, total: 9 };
  const page = { totals, missing: ["2026-11-02"] };
  respondWith(
    { body: { ...page, views: [row("/a"), row("/b")], nextCursor: "/b" } },
    { body: { ...page, views: [row("/c")], nextCursor: null } },
  );
  const rows = await client.analytics.archivedViews({ ...DAYS, limit: 2 }).all();
  assert.deepEqual(rows, [row("/a"), row("/b"), row("/c")]);
  assert.deepEqual(
    requests.map(({ pathname, query }) => [pathname, query]),
    [
      ["/v1/analytics/acme/views/archived", { ...DAYS, limit: "2" }],
      ["/v1/analytics/acme/views/archived", { ...DAYS, limit: "2", cursor: "/b" }],
    ],
  );
});

test("archivedViews() exports CSV and rejects limits above 1,000", async () => {
  const body = { totals: {}, views: [{ path: "/a,b", total: 3 }], missing: [] };
  respondWith({ body });
  const csv = await new Response(
    client.analytics.archivedViews(DAYS).export({ format: "csv" }),
  ).text();
  assert.equal(csv, 'path,human,ai,total\r\n"/a,b",,,3\r\n');
  const many = client.analytics.archivedViews({ ...DAYS, limit: 1001 });
  await assert.rejects(many, /limit/);
});

test("archiveStatus() and the backfill methods call their routes", async () => {
  const status = {
    ...{ dateFrom: "2026-01-01", dateTo: "2026-11-03", complete: 305, partial: 0, failed: 0 },
    ...{ missing: [{ dateFrom: "2026-11-02", dateTo: "2026-11-03" }], failures: [] },
    ...{ requests: 2, hours: 1, completeAt: "2026-11-03T01:00:00Z", bytes: 4096 },
  };
  const plan = { dateFrom: "2026-01-01", days: 1, requests: 2, hours: null, completeAt: null };
  respondWith({ body: status }, { body: plan }, { body: plan });
  const { analytics } = client;
  assert.deepEqual(await analytics.archiveStatus(), status);
  assert.deepEqual(await analytics.estimateBackfill({ dateFrom: "2026-01-01" }), plan);
  assert.deepEqual(await analytics.beginBackfill({ dateFrom: "2026-01-01" }), plan);
  const path = "/v1/analytics/acme/views/daily";
  assert.deepEqual(
    requests.map(({ method, pathname, query, body }) => [method, pathname, query, body]),
    [
      ["GET", `${path}/status`, {}, ""],
      ["GET", `${path}/backfill`, { dateFrom: "2026-01-01" }, ""],
      ["POST", `${path}/backfill`, {}, '{"dateFrom":"2026-01-01"}'],
    ],
  );
});
