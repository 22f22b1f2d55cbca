import assert from "node:assert/strict";
import { test } from "node:test";
import { column, columns } from "./columns.mjs";
import { importSource } from "./source.mjs";

const { groupOf, groupsFor, MEASURES, trendPoints } = await importSource(
  "analytics/trend/trend.ts",
);
const { addDays } = await importSource("analytics/period/range.ts");
const { layOutChart, linePoints } = await importSource("analytics/trend/chart_layout.ts");
const { gapSentence, markdownNote, markdownStep, mergeMarks, mergeNote, pointLabel, pointLines } =
  await importSource("analytics/trend/trend_words.ts");
const { isSelected, sumSelected } = await importSource("analytics/trend/bar_selection.ts");

const SHOWN = { measure: MEASURES.views, gap: "No data" };

const held = (date, human, ai, days = 1) => ({
  date,
  human,
  ai,
  total: human + ai,
  days,
  missing: [],
});
const week = { from: "2026-11-02", to: "2026-11-08" };

test("a trend has a point for each day, held or missing", () => {
  const points = trendPoints(week, "day", [held("2026-11-03", 5, 2)]);
  assert.equal(points.length, 7);
  assert.deepEqual(column(points, "held"), [0, 1, 0, 0, 0, 0, 0]);
  assert.deepEqual([points[1].human, points[1].ai], [5, 2]);
});

test("a trend has weeks from Monday, or months, cut to the range", () => {
  const range = { from: "2026-10-07", to: "2026-11-10" };
  const weeks = trendPoints(range, "week", [held("2026-10-05", 7, 1, 3)]);
  assert.deepEqual([weeks[0].from, weeks[0].to], ["2026-10-07", "2026-10-11"]);
  assert.deepEqual([weeks[0].held, weeks[0].days], [3, 5]);
  const months = trendPoints(range, "month", [held("2026-11-01", 1, 1, 10)]);
  assert.deepEqual(columns(months, "from", "to", "held"), [
    ["2026-10-07", "2026-10-31", 0],
    ["2026-11-01", "2026-11-10", 10],
  ]);
});

test("a trend groups by day, week or month depending on its length", () => {
  assert.equal(groupOf(week), "day");
  assert.equal(groupOf({ from: "2026-08-24", to: "2026-11-21" }), "day");
  assert.equal(groupOf({ from: "2025-11-22", to: "2026-11-21" }), "week");
  assert.equal(groupOf({ from: "2023-11-22", to: "2026-11-21" }), "month");
});

test("a chart offers the intervals that have several bars", () => {
  const range = (to) => ({ from: "2026-01-01", to });
  assert.deepEqual(groupsFor(range("2026-01-07")), ["day"]);
  assert.deepEqual(groupsFor(range("2026-01-28")), ["day", "week"]);
  assert.deepEqual(groupsFor(range("2026-12-31")), ["day", "week", "month"]);
  assert.equal(groupOf(range("2026-01-07"), "month"), "day");
  assert.equal(groupOf(range("2026-12-31"), "day"), "day");
});

test("a chart offers at most 400 bars per day", () => {
  const from = "2026-01-01";
  assert.deepEqual(groupsFor({ from, to: "2027-02-04" }), ["day", "week", "month"]);
  assert.deepEqual(groupsFor({ from, to: "2027-02-05" }), ["week", "month"]);
});

test("charts of visitors and searches have at most 92 bars, also with a chosen interval", () => {
  for (const { maxBars } of [MEASURES.visitors, MEASURES.searches]) {
    const year = { from: "2025-11-22", to: "2026-11-21" };
    assert.deepEqual(groupsFor(year, maxBars), ["week", "month"]);
    assert.equal(groupOf(year, "day", maxBars), "week");
    assert.deepEqual(groupsFor({ from: "0001-01-01", to: "2026-11-21" }, maxBars), []);
    for (let days = 1; days < 4000; days += 1) {
      const range = { from: "2026-10-31", to: addDays("2026-10-31", days) };
      for (const group of groupsFor(range, maxBars)) {
        assert.ok(trendPoints(range, group, []).length <= 92, `${days} days by ${group}`);
      }
    }
  }
});

test("the label of a partial week has the number of its counted days", () => {
  const range = { from: "2026-11-02", to: "2026-11-09" };
  const held = [{ date: "2026-11-09", human: 5, ai: 5, days: 1 }];
  const [whole, partial] = trendPoints(range, "week", held);
  assert.deepEqual([whole.days, whole.span], [7, 7]);
  assert.deepEqual([partial.days, partial.span], [1, 7]);
  assert.equal(pointLabel(partial), "Nov 9, 2026 (1 of 7 days)");
  const earlier = { ...partial, human: 4, ai: 4 };
  assert.deepEqual(pointLines(partial, earlier, SHOWN).slice(1, 3), [
    "People 5 · AI 5",
    "Total 10 vs 8 (+25%)",
  ]);
  assert.deepEqual(pointLines({ ...partial, held: 0 }, earlier, SHOWN).slice(1), ["No data"]);
  const loaded = { ...whole, human: 30, held: 3 };
  assert.deepEqual(pointLines(loaded, { ...whole, human: 70 }, SHOWN).slice(2), []);
  assert.deepEqual(pointLines({ ...whole, held: 7 }, loaded, SHOWN).slice(2), []);
});

test("a bar is compared in percent only with one of as many days, or both with whole months", () => {
  const points = (from, to, group) =>
    trendPoints({ from, to }, group, []).map((point) => ({ ...point, human: 9, held: point.days }));
  const totalOf = (point, earlier) => pointLines(point, earlier, SHOWN)[2];
  const weeks = points("2026-11-04", "2026-11-16", "week");
  const [first, whole, last] = weeks;
  assert.deepEqual(column(weeks, "days"), [5, 7, 1]);
  for (const [one, other] of [
    [first, last],
    [first, whole],
    [whole, last],
  ]) {
    assert.equal(totalOf(one, other), "Total 9 vs 9");
    assert.equal(totalOf(other, one), "Total 9 vs 9");
  }
  assert.equal(totalOf(first, first), "Total 9 vs 9 (No change)");
  const [october] = points("2026-10-01", "2026-10-31", "month");
  const [september] = points("2026-09-01", "2026-09-30", "month");
  const [cut] = points("2026-11-01", "2026-11-30", "month");
  const [start] = points("2026-10-01", "2026-10-30", "month");
  assert.equal(totalOf(october, september), "Total 9 vs 9 (No change)");
  assert.equal(totalOf(cut, start), "Total 9 vs 9 (No change)");
  assert.equal(totalOf(october, start), "Total 9 vs 9");
});

test("the comparison's line shares the scale of the bars", () => {
  const point = (human) => ({ human, ai: 0, held: 1, days: 1, span: 1, from: "2026-11-01" });
  const chart = layOutChart([point(1), point(1)], { width: 100, height: 50 }, [point(4), point(2)]);
  assert.equal(linePoints(chart, [point(4), point(2)]), "25,0 75,25");
  assert.equal(linePoints(chart, [{ ...point(4), held: 0 }, point(2)]), "75,25");
});

test("the chart stacks AI on top of people within the plot", () => {
  const points = trendPoints(week, "day", [
    held("2026-11-03", 600, 300),
    held("2026-11-04", 90, 0),
  ]);
  const { bars, yTicks, xTicks } = layOutChart(points, { width: 700, height: 100 });
  const [, full, low] = bars;
  assert.equal(full.human.y + full.human.height, 100);
  assert.equal(full.ai.y + full.ai.height, full.human.y);
  assert.ok(full.ai.y >= 0);
  assert.ok(Math.abs(full.human.height / full.ai.height - 2) < 1e-9);
  assert.ok(low.human.height < full.human.height);
  assert.ok(bars.every(({ x, width }) => x >= 0 && x + width <= 700));
  assert.ok(yTicks.length <= 6 && yTicks.at(-1).value >= 900);
  assert.ok(xTicks.length <= 8);
});

test("the bar of a single day is in the middle and narrow", () => {
  const points = trendPoints({ from: week.from, to: week.from }, "day", []);
  const [{ x, width }] = layOutChart(points, { width: 1000, height: 100 }).bars;
  assert.deepEqual([x, width], [452, 96]);
});

test("the chart of an empty trend has finite coordinates", () => {
  const { bars, yTicks } = layOutChart([], { width: 300, height: 100 });
  assert.equal(bars.length, 0);
  assert.ok(yTicks.every(({ y }) => Number.isFinite(y)));
});

test("a chart marks the day since which views of Markdown count as AI", () => {
  const trend = (from, to, earlierFrom, measure = MEASURES.views) => {
    const pointsOf = (range) =>
      trendPoints(range, "day", []).map((point) => ({ ...point, held: 1 }));
    const earlier = earlierFrom ? pointsOf({ from: earlierFrom, to: earlierFrom }) : [];
    return { measure, points: pointsOf({ from, to }), earlier };
  };
  const crossing = trend("2026-07-29", "2026-08-02");
  assert.equal(markdownStep(crossing), 2);
  assert.equal(markdownNote(crossing), "Since Jul 31, 2026, views of Markdown count as AI");
  const compared = trend("2026-08-01", "2026-08-31", "2026-07-01");
  assert.equal(markdownStep(compared), null);
  assert.match(markdownNote(compared), /Jul 31/);
  for (const other of [
    trend("2026-07-01", "2026-07-30"),
    trend("2026-07-31", "2026-08-31"),
    trend("2026-07-29", "2026-08-02", null, MEASURES.visitors),
  ]) {
    assert.deepEqual([markdownStep(other), markdownNote(other)], [null, null]);
  }
});

test("days without data differ from days that are not loaded", () => {
  assert.equal(gapSentence("No data", 2), "No data for 2 days");
  assert.equal(gapSentence("Not loaded", 1), "1 day not loaded");
});

test("a chart marks the bars with a merge, and names the days", () => {
  const points = [
    { from: "2026-11-02", to: "2026-11-08" },
    { from: "2026-11-09", to: "2026-11-15" },
  ];
  const merges = ["2026-11-15", "2026-11-09", "2026-11-01", "2026-11-16"];
  const { bars, days } = mergeMarks(points, merges);
  assert.deepEqual([bars, days], [[1], ["2026-11-15", "2026-11-09"]]);
  assert.equal(mergeNote(days), "Merged Nov 9, 2026; Nov 15, 2026");
  assert.equal(mergeNote([]), "");
});

const day = (from, human, ai, held = 1) => ({ from, to: from, human, ai, held, days: 1, span: 1 });
const POINTS = [
  day("2026-11-01", 10, 1),
  day("2026-11-02", 20, 2),
  day("2026-11-03", 0, 0, 0),
  day("2026-11-04", 40, 4),
];

test("a selection covers all bars between its ends, in either direction", () => {
  for (const selection of [
    { start: 1, end: 3 },
    { start: 3, end: 1 },
  ]) {
    const selected = POINTS.map((_, index) => isSelected(selection, index));
    assert.deepEqual(selected, [false, true, true, true]);
    const days = { from: "2026-11-02", to: "2026-11-04", days: 3, span: 3 };
    assert.deepEqual(sumSelected(POINTS, selection), { ...days, human: 60, ai: 6, held: 2 });
  }
});

test("without a selection, no bar is selected", () => {
  assert.equal(isSelected(null, 0), false);
});

test("a selection beyond the last bar has no sum", () => {
  assert.equal(sumSelected(POINTS, { start: 4, end: 5 }), undefined);
});
