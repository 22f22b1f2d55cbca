import assert from "node:assert/strict";
import { test } from "node:test";
import { importSource } from "./source.mjs";

const { isSelected, sumSelected } = await importSource("analytics/trend/bar_selection.ts");

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
