/** Methods of `client.analytics` for the archive of a gateway. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client } from "quillgate";
import { startScriptedServer } from "./scripted_server.mjs";

const DAYS = { dateFrom: "2026-11-01", dateTo: "2026-11-03" };
const DAY = {
  ...{ date: "2026-11-01", human: 5, ai: 2, total: 7, days: 1, missing: [] },
  visitors: { human: 3, ai: 1, total: 4 },
};
const SERIES = { views: [DAY], missing: ["2026-11-02"], nextCursor: null };

let server;
let client;
let responses = [];

before(async () => {
  server = await startScriptedServer(() => responses.shift());
  const auth = { token: "a.b.c" };
  client = new Client({ baseUrl: server.url, projectId: "acme", auth, logLevel: "off" });
});
after(() => server.stop());

function respondWith(...given) {
  responses = given.map((json) => ({ json }));
  server.requests.length = 0;
}

const readRequests = () =>
  server.requests.map(({ method, path, headers, body }) => {
    const { pathname, searchParams } = new URL(path, "http://gate");
    const query = Object.fromEntries(searchParams);
    return { method, pathname, query, authorization: headers.authorization, body };
  });

test("dailyViews() reads the archive's route with the credential of the client", async () => {
  respondWith({ ...SERIES, views: [{ ...DAY, later: true }] });
  const params = { ...DAYS, prefix: "/a b&c", group: "week", limit: 10, cursor: undefined };
  assert.deepEqual(await client.analytics.dailyViews(params), { ...SERIES, nextPosition: null });
  const query = { ...DAYS, prefix: "/a b&c", group: "week", limit: "10" };
  const pathname = "/v1/analytics/acme/views/daily";
  const authorization = "Bearer a.b.c";
  assert.deepEqual(readRequests(), [{ method: "GET", pathname, query, authorization, body: "" }]);
});

test("archivedViews() reads every page of the archive's list", async () => {
  const row = (path) => ({ path, human: 2, ai: 1, total: 3 });
  const totals = { human: 6, ai: 3, total: 9 };
  const page = { totals, missing: ["2026-11-02"] };
  respondWith(
    { ...page, views: [row("/a"), row("/b")], nextCursor: "/b" },
    { ...page, views: [row("/c")], nextCursor: null },
  );
  const rows = await client.analytics.archivedViews({ ...DAYS, limit: 2 }).all();
  assert.deepEqual(rows, [row("/a"), row("/b"), row("/c")]);
  const received = readRequests().map(({ pathname, query }) => [pathname, query]);
  assert.deepEqual(received, [
    ["/v1/analytics/acme/views/archived", { ...DAYS, limit: "2" }],
    ["/v1/analytics/acme/views/archived", { ...DAYS, limit: "2", cursor: "/b" }],
  ]);
});

test("archivedViews() exports CSV and rejects limits above 1,000", async () => {
  const body = { totals: {}, views: [{ path: "/a,b", total: 3 }], missing: [] };
  respondWith(body);
  const stream = client.analytics.archivedViews(DAYS).export({ format: "csv" });
  assert.equal(await new Response(stream).text(), 'path,human,ai,total\r\n"/a,b",,,3\r\n');
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
  respondWith(status, plan, plan);
  const { analytics } = client;
  assert.deepEqual(await analytics.archiveStatus(), status);
  assert.deepEqual(await analytics.estimateBackfill({ dateFrom: "2026-01-01" }), plan);
  assert.deepEqual(await analytics.beginBackfill({ dateFrom: "2026-01-01" }), plan);
  const path = "/v1/analytics/acme/views/daily";
  assert.deepEqual(
    readRequests().map(({ method, pathname, query, body }) => [method, pathname, query, body]),
    [
      ["GET", `${path}/status`, {}, ""],
      ["GET", `${path}/backfill`, { dateFrom: "2026-01-01" }, ""],
      ["POST", `${path}/backfill`, {}, '{"dateFrom":"2026-01-01"}'],
    ],
  );
});
