import assert from "node:assert/strict";
import { test } from "node:test";
import { parseInstant } from "quillgate/values";
import { columns } from "./columns.mjs";
import { importSource } from "./source.mjs";

const { rowTrend } = await importSource("analytics/trend/row_trend.ts");
const { MEASURES } = await importSource("analytics/trend/trend.ts");

const TODAY = "2026-11-08";
const WEEK = { from: "2026-11-02", to: "2026-11-07" };

const parsed = (times) => times.map((time) => parseInstant(time));
const rows = (days, times, { counted = times, loaded = times, ...changes } = {}) => ({
  days,
  loaded: parsed(loaded),
  counted: parsed(counted),
  isComplete: true,
  ...changes,
});
const trendOf = (now, changes = {}) =>
  rowTrend(
    {
      measure: MEASURES.feedback,
      period: now.days,
      now,
      earlier: null,
      scope: "",
      interval: null,
      isWithoutToday: false,
      ...changes,
    },
    TODAY,
  );
const countsOf = (points) => points.map(({ held, human }) => (held === 0 ? null : human));

test("rows are counted by the UTC day of their time, whatever its format", () => {
  const times = [
    "2026-11-07T23:59:59Z",
    "2026-11-04T23:00:00-02:00",
    "2026-11-03T10:00:00.000Z",
    "2026-11-03T09:00:00Z",
    null,
    "soon",
  ];
  const { points, gap, range, undated } = trendOf(rows(WEEK, times));
  assert.deepEqual(countsOf(points), [0, 2, 0, 1, 0, 1]);
  assert.deepEqual([gap, range, undated], ["No data", WEEK, 2]);
});

test("a running day is not in the chart, and a period without an ended day has none", () => {
  const { points } = trendOf(rows({ from: "2026-11-07", to: TODAY }, [`${TODAY}T01:00:00Z`]));
  assert.deepEqual(countsOf(points), [0]);
  assert.equal(trendOf(rows({ from: TODAY, to: "2026-11-07" }, [])), null);
});

test("a day that passed after the rows were loaded is not loaded, and stays in the chart", () => {
  const { points } = trendOf(
    rows({ from: "2026-11-06", to: "2026-11-06" }, ["2026-11-06T08:00:00Z"]),
    {
      period: { from: "2026-11-06", to: "2026-11-07" },
    },
  );
  assert.deepEqual(countsOf(points), [1, null]);
});

test("while older rows are missing, only the days after the last row are counted", () => {
  const times = ["2026-11-07T10:00:00Z", null, "2026-11-05T12:00:00Z", "2026-11-05T11:00:00Z"];
  const part = rows(WEEK, times, { isComplete: false });
  const { points, gap } = trendOf(part);
  assert.deepEqual(countsOf(points), [null, null, null, null, 0, 1]);
  assert.equal(gap, "Not loaded");
  const others = [times.toReversed(), [null], []];
  for (const loaded of others) {
    const unknown = trendOf(rows(WEEK, loaded, { isComplete: false }));
    assert.ok(unknown.points.every(({ held }) => held === 0));
  }
});

test("filtered rows are counted, and all loaded rows determine which days are complete", () => {
  const loaded = ["2026-11-07T10:00:00Z", "2026-11-06T10:00:00Z", "2026-11-03T10:00:00Z"];
  const part = rows(WEEK, loaded, { counted: [loaded[1]], isComplete: false });
  assert.deepEqual(countsOf(trendOf(part).points), [null, null, 0, 0, 1, 0]);
});

test("weeks and months add up their days", () => {
  const days = { from: "2026-10-07", to: "2026-11-07" };
  const times = ["2026-11-01T00:00:00Z", "2026-10-31T00:00:00Z", "2026-10-07T00:00:00Z"];
  const weeks = trendOf(rows(days, times), { interval: "week" });
  assert.deepEqual(columns(weeks.points, "human", "held"), [
    [1, 5],
    [0, 7],
    [0, 7],
    [2, 7],
    [0, 6],
  ]);
  const months = trendOf(rows(days, times), { interval: "month" });
  assert.deepEqual(countsOf(months.points), [2, 1]);
});

test("a day is compared with the same weekday", () => {
  const now = rows({ from: "2026-10-01", to: "2026-10-31" }, ["2026-10-01T00:00:00Z"]);
  const earlier = rows({ from: "2026-09-01", to: "2026-09-30" }, ["2026-09-03T00:00:00Z"]);
  const trend = trendOf(now, { earlier });
  assert.deepEqual([trend.earlier[0].from, trend.earlier[0].human], ["2026-09-03", 1]);
  assert.equal(trend.earlier.length, trend.points.length);
  assert.deepEqual(countsOf(trend.earlier.slice(-4)), [0, null, null, null]);
  assert.equal(trend.isEarlierPart, false);
});

test("a partly loaded comparison is marked, and has no line without a whole day", () => {
  const days = { from: "2026-10-26", to: "2026-10-31" };
  const now = rows(WEEK, []);
  const part = rows(days, ["2026-10-31T10:00:00Z", "2026-10-29T10:00:00Z"], { isComplete: false });
  const trend = trendOf(now, { earlier: part });
  assert.deepEqual(countsOf(trend.earlier), [null, null, null, null, 0, 1]);
  assert.equal(trend.isEarlierPart, true);
  const none = trendOf(now, { earlier: rows(days, [], { isComplete: false }) });
  assert.deepEqual(none.earlier, []);
});
