import assert from "node:assert/strict";
import { test } from "node:test";
import { importSource } from "./source.mjs";

const { addDays, boundsOf, isDay, PRESETS, presetRange, rangeProblem, rangeSentence } =
  await importSource("range.ts");

const NOW = Date.parse("2026-11-21T09:12:34.567Z");

test("presets count back from today, today included", () => {
  const range = (id) => Object.values(presetRange(id, NOW));
  assert.deepEqual(range("last-7-days"), ["2026-11-15", "2026-11-21"]);
  assert.deepEqual(range("last-28-days"), ["2026-10-25", "2026-11-21"]);
  assert.deepEqual(range("last-30-days"), ["2026-10-23", "2026-11-21"]);
  assert.deepEqual(range("last-90-days"), ["2026-08-24", "2026-11-21"]);
  assert.deepEqual(range("this-month"), ["2026-11-01", "2026-11-21"]);
  assert.deepEqual(range("last-month"), ["2026-10-01", "2026-10-31"]);
});

test("last month reaches over a year's end and knows February", () => {
  const lastMonth = (day) => Object.values(presetRange("last-month", Date.parse(day)));
  assert.deepEqual(lastMonth("2026-01-31T23:59:59Z"), ["2025-12-01", "2025-12-31"]);
  assert.deepEqual(lastMonth("2024-03-31"), ["2024-02-01", "2024-02-29"]);
});

test("every preset is a range that makes sense", () => {
  for (const { id } of PRESETS) assert.equal(rangeProblem(presetRange(id, NOW)), null, id);
});

test("only days of the calendar are days", () => {
  assert.ok(isDay("2024-02-29"));
  for (const text of ["2023-02-29", "2026-13-01", "2026-1-1", "", "today", "2026-11-01T00:00"]) {
    assert.equal(isDay(text), false, text);
  }
  assert.equal(addDays("2026-12-31", 1), "2027-01-01");
});

test("a range is refused in words", () => {
  assert.match(rangeProblem({ from: "", to: "2026-01-01" }), /first day/);
  assert.match(rangeProblem({ from: "2026-01-01", to: "" }), /last day/);
  assert.match(rangeProblem({ from: "2026-01-02", to: "2026-01-01" }), /before/);
  assert.equal(rangeProblem({ from: "2026-01-01", to: "2026-01-01" }), null);
});

test("a past range ends, exclusively, on the day after its last", () => {
  assert.deepEqual(boundsOf({ from: "2026-11-01", to: "2026-11-20" }, NOW), {
    dateFrom: "2026-11-01",
    dateTo: "2026-11-21",
    frozenAt: null,
  });
});

test("a range that is not over is cut off at the last five minutes", () => {
  const range = { from: "2026-11-01", to: "2026-11-21" };
  const at = (time) => boundsOf(range, Date.parse(`2026-11-21T${time}Z`));
  const cutOff = {
    dateFrom: "2026-11-01",
    dateTo: "2026-11-21T09:10:00Z",
    frozenAt: Date.parse("2026-11-21T09:10:00Z"),
  };
  for (const time of ["09:10:00", "09:12:34.567", "09:14:59.999"]) {
    assert.deepEqual(at(time), cutOff, time);
  }
  assert.equal(at("09:15:00").dateTo, "2026-11-21T09:15:00Z");
});

test("a range is never cut off to nothing", () => {
  const today = { from: "2026-11-21", to: "2026-11-21" };
  for (const time of ["00:00:00.500", "00:04:59.999"]) {
    const now = Date.parse(`2026-11-21T${time}Z`);
    assert.equal(boundsOf(today, now).dateTo, "2026-11-22", time);
  }
  assert.equal(boundsOf({ from: "2027-01-01", to: "2027-01-31" }, NOW).dateTo, "2027-02-01");
});

test("the exclusive end is said in words", () => {
  const november = { from: "2026-11-01", to: "2026-11-30" };
  assert.equal(
    rangeSentence(november, null),
    "Counts views from 1 November 2026 up to, but not including, 1 December 2026 (UTC).",
  );
  assert.match(rangeSentence(november, NOW), /Today is counted until 09:12 UTC\.$/);
});
