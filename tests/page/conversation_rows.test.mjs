import assert from "node:assert/strict";
import { test } from "node:test";
import { column } from "./columns.mjs";
import { importRows } from "./source.mjs";

const { countUnanswered, toTurnRow } = await importRows("conversation_rows.ts");
const { filterByFacets, pickFacets, valuesOf } = await importRows("facets.ts");
const { sortRows } = await importRows("rows.ts");
const { answerSentence } = await importRows("partial_notice.ts");
const { REPORTS } = await importRows("report.ts");
const { usualSorting } = await importRows("arrangement.ts");

const turn = (query, resolutionStatus, queryCategory = null, pageUrl = null) =>
  toTurnRow({ query, resolutionStatus, queryCategory, pageUrl, timestamp: null, sources: null });

const ROWS = [
  turn("Newest answered", "answered", "Setup"),
  turn("Z, newer unanswered", "unanswered", "Billing"),
  turn("A, older unanswered", "unanswered", "Setup"),
  turn("No status", null),
];

test("unanswered questions sort first and keep the order of the API", () => {
  const sorting = usualSorting("pages", REPORTS.conversations);
  const sorted = sortRows(ROWS, sorting, REPORTS.conversations.tieBreak);
  assert.deepEqual(column(sorted, "query"), [
    "Z, newer unanswered",
    "A, older unanswered",
    "Newest answered",
    "No status",
  ]);
  assert.equal(countUnanswered(ROWS), 2);
});

test("categories have counts, most frequent first, and include questions without one", () => {
  assert.deepEqual(valuesOf(ROWS, "category"), [
    { value: "Setup", count: 2 },
    { value: "", count: 1 },
    { value: "Billing", count: 1 },
  ]);
  assert.deepEqual(filterByFacets(ROWS, { category: "" }), [ROWS[3]]);
  assert.deepEqual(filterByFacets(ROWS, {}), ROWS);
});

test("a category is one value, whether its characters are composed or not", () => {
  const rows = [turn("a", null, "Café"), turn("b", null, "Cafe\u0301")];
  assert.deepEqual(valuesOf(rows, "category"), [{ value: "Café", count: 2 }]);
  const chosen = pickFacets("conversations", { category: "Cafe\u0301" });
  assert.deepEqual(filterByFacets(rows, chosen), rows);
});

test("the answer status and the category filter together", () => {
  const chosen = { answer: "unanswered", category: "Setup" };
  assert.deepEqual(filterByFacets(ROWS, chosen), [ROWS[2]]);
  assert.deepEqual(filterByFacets(ROWS, { answer: "" }), [ROWS[3]]);
});

test("the page of a question is the path of its URL", () => {
  assert.equal(turn("q", null, null, "https://docs.example.com/a/b?c#d").page, "/a/b");
  assert.equal(turn("q", null, null, "https://docs.example.com/中文#c").page, "/中文");
  assert.equal(turn("q", null, null, "https://docs.example.com").page, "/");
  assert.equal(turn("q", null, null, "a/b").page, "/a/b");
});

test("the notice of a partly loaded list describes the missing rows", () => {
  const list = {
    report: REPORTS.conversations,
    arrangement: "pages",
    sorting: { column: "answer", direction: "descending" },
    filter: "",
  };
  assert.equal(answerSentence(list), "Older questions haven’t been loaded.");
  const filtered = { ...list, facets: { category: "Setup" } };
  assert.equal(answerSentence(filtered), "The filter covers only these questions.");
});
