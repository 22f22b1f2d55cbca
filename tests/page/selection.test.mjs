import assert from "node:assert/strict";
import { test } from "node:test";
import { importRows, importSource } from "./source.mjs";

const { selectedRows, startLabel, toggleRow } = await importSource("analytics/report/selection.ts");
const { REPORTS } = await importRows("report.ts");

test("a selection keeps its rows when they are sorted, filtered or loaded again", () => {
  const rows = [
    { path: "/a", total: 1 },
    { path: "/b", total: 2 },
    { path: "/c", total: 3 },
  ];
  const [a, , c] = rows;
  const selection = toggleRow(REPORTS.views, toggleRow(REPORTS.views, new Set(), a), c);
  assert.deepEqual(selectedRows(REPORTS.views, rows.toReversed(), selection), [c, a]);
  const fresh = [{ path: "/a", total: 9 }];
  assert.deepEqual(selectedRows(REPORTS.views, fresh, selection), fresh);
  assert.deepEqual(selectedRows(REPORTS.views, rows, toggleRow(REPORTS.views, selection, a)), [c]);
  assert.deepEqual(selectedRows(REPORTS.views, rows, null), []);
});

test("equal comments of different times are different rows", () => {
  const rows = ["2026-11-01T00:00:00Z", "2026-11-02T00:00:00Z"].map((created) => ({
    path: "/a",
    comment: "Broken",
    created,
  }));
  const selection = toggleRow(REPORTS.feedback, new Set(), rows[1]);
  assert.deepEqual(selectedRows(REPORTS.feedback, rows, selection), [rows[1]]);
});

test("rows of one page without a time are different rows", () => {
  const [one, two] = ["a", "b"].map((id) => ({ id, path: "/a", comment: null, created: null }));
  const chosen = toggleRow(REPORTS.feedback, new Set(), one);
  assert.deepEqual(selectedRows(REPORTS.feedback, [one, two], chosen), [one]);
  const turns = ["First answer", "Other answer"].map((response) => ({
    query: "How?",
    asked: null,
    turn: { id: null, response },
  }));
  const selection = toggleRow(REPORTS.conversations, new Set(), turns[1]);
  assert.deepEqual(selectedRows(REPORTS.conversations, turns, selection), [turns[1]]);
});

test("a folder is not a row, but its pages are", () => {
  const page = { path: "/guides/a", total: 1 };
  const node = { path: "/guides/a", name: "a", level: 1, pages: 0, row: page, children: [] };
  const folder = { path: "/guides/", name: "guides", level: 0, pages: 1, row: page, children: [] };
  const selection = toggleRow(REPORTS.views, new Set(), page);
  assert.deepEqual(selectedRows(REPORTS.views, [folder, node], selection), [page]);
});

test("the button of a job names the number of the selected rows that it covers", () => {
  assert.equal(startLabel(REPORTS.views, 50, 50), "Start a job");
  assert.equal(startLabel(REPORTS.views, 80, 50), "Start a job about 50 of 80 pages");
  assert.equal(startLabel(REPORTS.searches, 2, 1), "Start a job about 1 of 2 terms");
});
