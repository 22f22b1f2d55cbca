import assert from "node:assert/strict";
import { test } from "node:test";
import { column, columns } from "./columns.mjs";
import { importSource } from "./source.mjs";

const { readTrend } = await importSource("analytics/trend/daily_trend.ts");

const RANGE = { from: "2026-11-01", to: "2026-11-05" };
const TODAY = "2026-11-05";
function fakeClient(...responses) {
  const requests = [];
  const dailyViews = async (params) => {
    requests.push(params);
    const { status = 200, body } = responses[requests.length - 1];
    if (status === 200) return body;
    throw Object.assign(new Error("refused"), { name: "ApiError", status, problem: body });
  };
  return { requests, analytics: { dailyViews } };
}

const read = (client, changes = {}) => {
  const query = { range: RANGE, earlierRange: null, subject: {}, interval: null, ...changes };
  return readTrend(client, query, TODAY, new AbortController().signal);
};
const page = (...views) => ({ body: { views, missing: [], nextCursor: null } });
const day = (date, human, ai) => ({ date, human, ai, total: human + ai, days: 1, missing: [] });

test("the trend requests finished days of the filtered folder", async () => {
  const client = fakeClient(page(day("2026-11-02", 5, 1)));
  const trend = await read(client, { subject: { prefix: "/guides" } });
  assert.equal(trend.state, "drawn");
  assert.deepEqual(trend.range, { from: "2026-11-01", to: "2026-11-04" });
  assert.equal(trend.isWithoutToday, true);
  assert.equal(trend.points.length, 4);
  const [{ dateFrom, dateTo, group, prefix }] = client.requests;
  assert.deepEqual([dateFrom, dateTo, group, prefix], ["2026-11-01", TODAY, "day", "/guides"]);
});

test("the trend adds up the spellings of a page", async () => {
  const client = fakeClient(
    page(day("2026-11-01", 5, 1), day("2026-11-02", 1, 0)),
    page(day("2026-11-01", 2, 3), day("2026-11-02", 0, 0)),
  );
  const { points } = await read(client, { subject: { paths: ["/café", "/caf%C3%A9"] } });
  assert.deepEqual(column(client.requests, "path"), ["/café", "/caf%C3%A9"]);
  assert.deepEqual(columns(points.slice(0, 3), "human", "ai", "held"), [
    [7, 4, 1],
    [1, 0, 1],
    [0, 0, 0],
  ]);
});

test("the trend has the points of the comparison, if the archive holds any", async () => {
  const earlierRange = { from: "2026-10-27", to: "2026-10-31" };
  const now = page(day("2026-11-02", 5, 1));
  const compared = await read(fakeClient(now, page(day("2026-10-28", 3, 1))), { earlierRange });
  assert.equal(compared.earlier.length, 5);
  assert.equal(compared.earlier[1].human, 3);
  assert.deepEqual((await read(fakeClient(now, page()), { earlierRange })).earlier, []);
  const failed = await read(fakeClient(now, { status: 502, body: {} }), { earlierRange });
  assert.deepEqual([failed.state, failed.earlier], ["drawn", []]);
});

test("the line of a month has the weekdays of the bars, and no days of another month", async () => {
  const days = (month, count) =>
    Array.from({ length: count }, (_, at) =>
      day(`2026-${month}-${String(at + 1).padStart(2, "0")}`, at + 1, 0),
    );
  const client = fakeClient(page(...days("10", 31)), page(...days("09", 30)));
  const { points, earlier } = await read(client, {
    range: { from: "2026-10-01", to: "2026-10-31" },
    earlierRange: { from: "2026-09-01", to: "2026-09-30" },
  });
  const { dateFrom, dateTo } = client.requests[1];
  assert.deepEqual([dateFrom, dateTo], ["2026-09-01", "2026-10-01"]);
  assert.equal(points.length, earlier.length);
  assert.deepEqual([earlier[0].from, earlier[0].human], ["2026-09-03", 3]);
  assert.deepEqual(column(earlier.slice(-4), "held"), [1, 0, 0, 0]);
});

test("the trend is off without an archive, with the gateway’s instructions", async () => {
  const detail = "bind a D1 database as ARCHIVE";
  const body = { type: "/problems/archive-not-configured", detail };
  const trend = await read(fakeClient({ status: 501, body }));
  assert.deepEqual(trend, { state: "off", detail: "Bind a D1 database as ARCHIVE" });
});

test("the trend has no chart when the archive holds no day of the range", async () => {
  const body = { views: [], missing: ["2026-11-01"], nextCursor: null };
  assert.equal((await read(fakeClient({ body }))).state, "nothing held");
  const today = { from: TODAY, to: TODAY };
  assert.equal((await read(fakeClient(), { range: today })).state, "nothing held");
});

test("the trend reports any other error as a problem", async () => {
  const trend = await read(fakeClient({ status: 500, body: { detail: "it broke" } }));
  assert.equal(trend.state, "failed");
  assert.match(trend.problem.cause, /It broke \(500\)/);
});
