import assert from "node:assert/strict";
import { test } from "node:test";
import { importSource } from "./source.mjs";

const {
  addDays,
  alignWeekdays,
  boundsOf,
  findEarlierBounds,
  findEarlierRange,
  countDays,
  PRESETS,
  periodOf,
  presetRange,
  rangeOf,
  rangeSentence,
  stepRange,
} = await importSource("analytics/period/range.ts");
const { rangeProblem } = await importSource("analytics/period/range_problem.ts");
const { isDay } = await importSource("analytics/period/address_words.ts");

const TODAY = "2026-11-21";
const NOW = Date.parse(`${TODAY}T09:12:34.567Z`);
const days = (from, to) => ({ from, to });
const daysOf = (range) => range && `${range.from} ${range.to}`;

const preset = (id, today = TODAY) => daysOf(presetRange(id, today));

test("presets count back from today, inclusively", () => {
  assert.equal(preset("today"), "2026-11-21 2026-11-21");
  assert.equal(preset("yesterday"), "2026-11-20 2026-11-20");
  assert.equal(preset("last-7-days"), "2026-11-15 2026-11-21");
  assert.equal(preset("last-28-days"), "2026-10-25 2026-11-21");
  assert.equal(preset("last-30-days"), "2026-10-23 2026-11-21");
  assert.equal(preset("last-90-days"), "2026-08-24 2026-11-21");
  assert.equal(preset("this-month"), "2026-11-01 2026-11-21");
  assert.equal(preset("last-month"), "2026-10-01 2026-10-31");
  assert.equal(preset("last-12-months"), "2025-11-22 2026-11-21");
});

test("presets cross the end of a year and handle leap years", () => {
  assert.equal(preset("last-month", "2026-01-31"), "2025-12-01 2025-12-31");
  assert.equal(preset("last-month", "2024-03-31"), "2024-02-01 2024-02-29");
  assert.equal(preset("last-12-months", "2024-02-29"), "2023-03-01 2024-02-29");
});

test("each preset is a valid range with a unique key", () => {
  for (const { id } of PRESETS) {
    assert.equal(rangeProblem(presetRange(id, TODAY), TODAY), null, id);
  }
  assert.equal(new Set(PRESETS.map(({ key }) => key)).size, PRESETS.length);
});

test("days that equal a preset take its name, so that they advance", () => {
  const other = days("2026-11-14", "2026-11-20");
  assert.equal(periodOf(presetRange("last-7-days", TODAY), TODAY, other), "last-7-days");
  assert.deepEqual(periodOf(other, TODAY, "last-7-days"), other);
});

test("a preset of days stays one even if its days are a month", () => {
  for (const [id, today, length] of [
    ["last-7-days", "2026-11-07", 7],
    ["last-28-days", "2026-11-28", 28],
    ["last-30-days", "2026-03-30", 30],
  ]) {
    const range = presetRange(id, today);
    assert.deepEqual(range, presetRange("this-month", today));
    const earlier = findEarlierRange(id, "previous-period", today);
    assert.deepEqual([earlier.to, countDays(earlier)], [addDays(range.from, -1), length]);
    assert.deepEqual(stepRange(id, -1, today), earlier);
    assert.equal(periodOf(range, today, earlier), id);
    assert.equal(periodOf(range, today, "last-month"), "this-month");
    const month = findEarlierRange("this-month", "previous-period", today);
    assert.equal(month.from, presetRange("last-month", today).from);
    const year = findEarlierRange(id, "previous-year", today);
    assert.deepEqual(year, days(addDays(range.from, -364), addDays(range.to, -364)));
  }
});

test("only dates of the calendar are days", () => {
  for (const text of ["2024-02-29", "1970-01-01", "9999-12-31"]) assert.ok(isDay(text), text);
  for (const text of [
    ...["2023-02-29", "2026-13-01", "2026-1-1", "", "today", "2026-11-01T00:00"],
    ...["0000-01-01", "0026-11-01", "0202-11-01", "1969-12-31", "+12026-11-01", "10000-01-01"],
  ]) {
    assert.equal(isDay(text), false, text);
  }
  assert.equal(addDays("2026-12-31", 1), "2027-01-01");
  assert.equal(countDays(days("2026-10-01", "2026-10-31")), 31);
});

test("future days of an address are left out", () => {
  assert.deepEqual(rangeOf(days("2026-11-01", "2027-02-03"), TODAY), days("2026-11-01", TODAY));
  assert.deepEqual(rangeOf(days("2027-01-01", "2027-02-03"), TODAY), days(TODAY, TODAY));
  const earlier = findEarlierRange(days("2026-11-01", "2026-11-30"), "previous-period", TODAY);
  assert.equal(daysOf(earlier), "2026-10-01 2026-10-21");
  for (const from of ["2027-01-01", "9999-12-01", "9999-12-31"]) {
    const last = days(from, "9999-12-31");
    assert.deepEqual(rangeOf(last, TODAY), days(TODAY, TODAY));
    assert.equal(daysOf(stepRange(last, -1, TODAY)), "2026-11-20 2026-11-20");
    const before = findEarlierRange(last, "previous-period", TODAY);
    assert.equal(daysOf(before), "2026-11-14 2026-11-14");
  }
});

test("a reversed, incomplete or future range is rejected with a reason", () => {
  const problem = (from, to) => rangeProblem(days(from, to), TODAY);
  assert.match(problem("", "2026-01-01"), /start date/);
  assert.match(problem("2026-01-01", ""), /end date/);
  assert.match(problem("0026-11-01", TODAY), /start date/);
  assert.match(problem("2026-11-01", "0026-11-20"), /end date/);
  assert.match(problem("2026-01-02", "2026-01-01"), /must be on or after/);
  assert.match(problem("2026-11-20", "2026-11-22"), /End date is in the future/);
  assert.match(problem("2026-11-22", "2026-11-23"), /Start date is in the future/);
  assert.equal(problem(TODAY, TODAY), null);
});

const step = (from, to, by) => daysOf(stepRange(days(from, to), by, TODAY));

test("a step has the length of the range", () => {
  assert.equal(step("2026-11-15", TODAY, -1), "2026-11-08 2026-11-14");
  assert.equal(step("2026-11-08", "2026-11-14", 1), "2026-11-15 2026-11-21");
});

test("a step from a month goes to a month, up to today", () => {
  assert.equal(step("2026-11-01", TODAY, -1), "2026-10-01 2026-10-31");
  assert.equal(step("2026-10-01", "2026-10-31", 1), "2026-11-01 2026-11-21");
  assert.equal(step("2026-03-01", "2026-03-31", -1), "2026-02-01 2026-02-28");
});

test("a step stops at today and keeps the length of the range", () => {
  assert.equal(step("2026-11-15", TODAY, 1), null);
  assert.equal(step("2026-11-10", "2026-11-16", 1), "2026-11-15 2026-11-21");
});

test("a step stops at the first day that an address can name", () => {
  assert.equal(step("1970-01-08", "1970-01-14", -1), "1970-01-01 1970-01-07");
  assert.equal(step("1970-01-07", "1970-01-13", -1), null);
  assert.equal(step("1970-01-01", "1970-01-31", -1), null);
});

const compared = (from, to, with_) => daysOf(findEarlierRange(days(from, to), with_, TODAY));

test("the previous period has the same length and ends the day before", () => {
  assert.equal(compared("2026-11-15", TODAY, "previous-period"), "2026-11-08 2026-11-14");
  assert.equal(compared("2026-11-15", TODAY, "none"), null);
});

test("a day is compared with the same weekday of the week before", () => {
  assert.equal(compared(TODAY, TODAY, "previous-period"), "2026-11-14 2026-11-14");
  const yesterday = findEarlierRange("yesterday", "previous-period", TODAY);
  assert.equal(daysOf(yesterday), "2026-11-13 2026-11-13");
});

test("the line of a comparison has the weekdays of the bars", () => {
  const weekday = (day) => new Date(day).getUTCDay();
  for (const [earlier, range, expected] of [
    ["2026-09-01 2026-09-30", "2026-10-01 2026-10-31", "2026-09-03 2026-10-03"],
    ["2026-02-01 2026-02-28", "2026-03-01 2026-03-31", "2026-02-01 2026-03-03"],
    ["2025-10-01 2025-10-31", "2026-10-01 2026-10-31", "2025-10-02 2025-11-01"],
    ["2026-06-24 2026-09-21", "2026-09-22 2026-12-20", "2026-06-23 2026-09-20"],
  ]) {
    const [from, to] = range.split(" ");
    const aligned = alignWeekdays(days(...earlier.split(" ")), days(from, to));
    assert.equal(daysOf(aligned), expected);
    assert.equal(weekday(aligned.from), weekday(from));
  }
});

test("the previous period of a month, or a part of it, is the same part of a month", () => {
  assert.equal(compared("2026-10-01", "2026-10-31", "previous-period"), "2026-09-01 2026-09-30");
  assert.equal(compared("2026-11-01", TODAY, "previous-period"), "2026-10-01 2026-10-21");
  const march = days("2026-03-01", "2026-03-30");
  const february = findEarlierRange(march, "previous-period", "2026-03-30");
  assert.equal(daysOf(february), "2026-02-01 2026-02-28");
});

test("the last day of a running month is compared with as many days of an earlier month", () => {
  for (const [time, comparison, ...expected] of [
    ["2026-02-28T00:05", "previous-period", "2026-01-01 2026-01-28", "2026-01-28T00:00:00Z"],
    ["2026-11-30T09:00", "previous-period", "2026-10-01 2026-10-30", "2026-10-30T09:00:00Z"],
    ["2026-03-30T00:05", "previous-period", "2026-02-01 2026-02-28", "2026-03-01"],
    ["2026-03-31T09:00", "previous-period", "2026-02-01 2026-02-28", "2026-03-01"],
    ["2028-02-29T09:00", "previous-year", "2027-02-01 2027-02-28", "2027-03-01"],
    ["2026-11-30T09:00", "previous-year", "2025-11-01 2025-11-30", "2025-11-30T09:00:00Z"],
  ]) {
    const today = time.slice(0, 10);
    const range = presetRange("this-month", today);
    const earlier = findEarlierRange("this-month", comparison, today);
    const bounds = findEarlierBounds(earlier, range, boundsOf(range, Date.parse(`${time}Z`)));
    assert.deepEqual([daysOf(earlier), bounds.dateTo], expected, `${time} ${comparison}`);
  }
  const november = findEarlierRange("last-month", "previous-period", "2026-12-01");
  assert.equal(daysOf(november), "2026-10-01 2026-10-31");
});

test("the previous year keeps the weekdays, or the month", () => {
  assert.equal(compared("2026-11-15", TODAY, "previous-year"), "2025-11-16 2025-11-22");
  assert.equal(compared("2026-10-01", "2026-10-31", "previous-year"), "2025-10-01 2025-10-31");
  assert.equal(compared("2025-11-22", TODAY, "previous-year"), "2024-11-22 2025-11-21");
});

test("the comparison with an unfinished day ends at the same time of day", () => {
  const range = days(TODAY, TODAY);
  const earlier = days("2026-11-20", "2026-11-20");
  const bounds = findEarlierBounds(earlier, range, boundsOf(range, NOW));
  const dateTo = "2026-11-20T09:10:00Z";
  assert.deepEqual(bounds, { dateFrom: "2026-11-20", dateTo, frozenAt: null });
});

test("the comparison with an unfinished long range ends at the full hour", () => {
  const range = presetRange("last-28-days", TODAY);
  const earlier = findEarlierRange(range, "previous-period", TODAY);
  const at = (time) =>
    findEarlierBounds(earlier, range, boundsOf(range, Date.parse(`${TODAY}T${time}Z`))).dateTo;
  assert.equal(at("09:12:00"), "2026-10-24T09:00:00Z");
  assert.equal(at("09:58:00"), "2026-10-24T09:00:00Z");
});

test("the comparison ends as late in its day as the range, even right after midnight", () => {
  const now = Date.parse(`${TODAY}T00:02:03Z`);
  const boundsOn = (id) => {
    const range = presetRange(id, TODAY);
    const bounds = boundsOf(range, now);
    const earlier = findEarlierRange(id, "previous-period", TODAY);
    return [bounds.dateTo, findEarlierBounds(earlier, range, bounds).dateTo];
  };
  assert.deepEqual(boundsOn("last-7-days"), [`${TODAY}T00:00:01Z`, "2026-11-14T00:00:01Z"]);
  assert.deepEqual(boundsOn("last-28-days"), [`${TODAY}T00:00:01Z`, "2026-10-24T00:00:00Z"]);
  assert.deepEqual(boundsOn("today"), [`${TODAY}T00:00:01Z`, "2026-11-14T00:00:01Z"]);
});

test("the comparison with finished days has whole days", () => {
  const range = days("2026-10-01", "2026-10-31");
  const earlier = days("2026-09-01", "2026-09-30");
  assert.equal(findEarlierBounds(earlier, range, boundsOf(range, NOW)).dateTo, "2026-10-01");
});

test("the bounds of a past range exclude the day after its last", () => {
  const bounds = { dateFrom: "2026-11-01", dateTo: "2026-11-21", frozenAt: null };
  assert.deepEqual(boundsOf(days("2026-11-01", "2026-11-20"), NOW), bounds);
});

test("the bounds of an unfinished range are rounded down to the cache’s freshness", () => {
  const range = days("2026-11-01", TODAY);
  const at = (time, freshness) =>
    boundsOf(range, Date.parse(`${TODAY}T${time}Z`), freshness).dateTo;
  for (const time of ["09:10:00", "09:12:34.567", "09:14:59.999"]) {
    assert.equal(at(time), `${TODAY}T09:10:00Z`, time);
    assert.equal(at(time, 3_600_000), `${TODAY}T09:00:00Z`, time);
  }
  assert.equal(at("09:15:00"), `${TODAY}T09:15:00Z`);
  assert.equal(boundsOf(range, NOW).frozenAt, Date.parse(`${TODAY}T09:10:00Z`));
});

test("the first bounds of a day are never empty, and the same for all", () => {
  const today = days(TODAY, TODAY);
  const at = (time) => boundsOf(today, Date.parse(`${TODAY}T${time}Z`)).dateTo;
  for (const time of ["00:00:00.000", "00:00:01.500", "00:04:59.999"]) {
    assert.equal(at(time), `${TODAY}T00:00:01Z`, time);
  }
  assert.equal(at("00:05:00.000"), `${TODAY}T00:05:00Z`);
  assert.equal(boundsOf(days("2027-01-01", "2027-01-31"), NOW).dateTo, "2027-02-01");
});

test("a range appears in the locale’s format, with the time up to which today counts", () => {
  const november = days("2026-11-01", "2026-11-30");
  const plain = (text) => text.replace(/[\u2009\u202F\u00A0]/g, " ");
  assert.equal(plain(rangeSentence(november, null)), "Nov 1 – 30, 2026 UTC");
  assert.match(plain(rangeSentence(november, NOW)), /UTC · updated 9:12 AM UTC$/);
  assert.equal(plain(rangeSentence(days(TODAY, TODAY), null)), "Nov 21, 2026 UTC");
});
