import assert from "node:assert/strict";
import { test } from "node:test";
import { columns } from "./columns.mjs";
import { importRows, importSource } from "./source.mjs";

const { compareRows } = await importRows("comparison.ts");
const { arrangeRows, usualSorting } = await importRows("arrangement.ts");
const { LOW_CLICK_RATE, sumClicks } = await importRows("search_clicks.ts");
const { countRatings, sumRatings, toPageRows } = await importRows("feedback_rows.ts");
const { facetsOf, filterByFacets, pickFacets, valueLabel, valuesOf } =
  await importRows("facets.ts");
const { matchSentence } = await importRows("match_sentence.ts");
const { REPORTS } = await importRows("report.ts");
const { nameOfText } = await importSource("shell/readable_text.ts");
const { jobPrompt } = await importSource("analytics/report/job_prompt.ts");

const term = (query, hits, ctr) => ({ query, hits, ctr });
const TERMS = [
  term("never clicked", 10, 0),
  term("rarely clicked", 20, LOW_CLICK_RATE - 1),
  term("at the threshold", 30, LOW_CLICK_RATE),
  term("often clicked", 40, 100),
  term("unknown rate", 50, null),
];
const queries = (arrangement) => arrangeRows(TERMS, arrangement, "hits").map(({ query }) => query);

test('"No clicks" lists terms with a click rate of 0, but not unknown rates', () => {
  assert.deepEqual(queries("no-clicks"), ["never clicked"]);
});

test('"Low click rate" lists rates above 0 and below the threshold', () => {
  assert.deepEqual(queries("low-click-rate"), ["rarely clicked"]);
  assert.equal(usualSorting("low-click-rate", REPORTS.searches).column, "hits");
});

test("a blank search term is named by its characters", () => {
  const names = ["", " ", "\u200b", "\ufeff\u3164\u2800 ", "\u00ad"].map(nameOfText);
  assert.deepEqual(names, [
    ...["(blank)", "(blank: U+0020)", "(blank: U+200B)", "(blank: U+FEFF U+3164 U+2800 …)"],
    "(blank: U+00AD)",
  ]);
  for (const text of ["a", " a ", "0", "–", "指南", "👍🏽", "\u0301"])
    assert.equal(nameOfText(text), text);
});

test("the searches without a click are the sum over all terms with a known rate", () => {
  const { searches, clickless } = sumClicks(TERMS);
  assert.equal(searches, 100);
  assert.ok(Math.abs(clickless - (10 + 20 * 0.81 + 30 * 0.8)) < 1e-9, String(clickless));
  assert.deepEqual(sumClicks([term("more clicks than searches", 10, 150)]), {
    searches: 10,
    clickless: 0,
  });
  assert.deepEqual(sumClicks([]), { searches: 0, clickless: 0 });
});

const entry = (helpful, status, source) => ({ path: "/a", helpful, status, source });
const ENTRIES = [
  entry("Yes", "pending", "contextual"),
  entry("No", "pending", "contextual"),
  entry("No", "in_progress", "contextual"),
  entry(null, "resolved", "code_snippet"),
  entry(null, null, "agent"),
];

test("the helpful share counts only entries with a rating", () => {
  assert.deepEqual(countRatings(ENTRIES), { helpful: 1, all: 3 });
  assert.deepEqual(countRatings([]), { helpful: 0, all: 0 });
});

test("feedback filters by rating, status and source together", () => {
  const chosen = { helpful: "No", status: "in_progress", source: "contextual" };
  assert.deepEqual(filterByFacets(ENTRIES, chosen), [ENTRIES[2]]);
  assert.deepEqual(filterByFacets(ENTRIES, { helpful: "" }), ENTRIES.slice(3));
  assert.deepEqual(filterByFacets(ENTRIES, { status: "dismissed" }), []);
  assert.deepEqual(valuesOf(ENTRIES, "helpful"), [
    { value: "", count: 2 },
    { value: "No", count: 2 },
    { value: "Yes", count: 1 },
  ]);
});

test("filters of other reports in the address have no effect", () => {
  const facets = { category: "Setup", status: "pending" };
  assert.deepEqual(pickFacets("feedback", facets), { status: "pending" });
  assert.deepEqual(pickFacets("conversations", facets), { category: "Setup" });
  assert.deepEqual(pickFacets("views", facets), {});
});

test("filter values have labels in words", () => {
  const [helpful, status] = facetsOf("feedback");
  const labels = ["Yes", "No", ""].map((value) => valueLabel(helpful, value));
  assert.deepEqual(labels, ["Helpful", "Not helpful", "Not rated"]);
  assert.equal(valueLabel(status, "in_progress"), "In progress");
});

test("a page's helpful share is null without ratings", () => {
  const page = { path: "/a", thumbsUp: 3, thumbsDown: 1, code: 2, total: 6 };
  assert.deepEqual(toPageRows([page])[0], {
    path: "/a",
    up: 3,
    down: 1,
    share: 0.75,
    code: 2,
    total: 6,
  });
  assert.equal(toPageRows([{ ...page, thumbsUp: 0, thumbsDown: 0 }])[0].share, null);
  assert.equal(toPageRows([{ ...page, thumbsUp: null }])[0].share, null);
  const rows = [toPageRows([page])[0], toPageRows([{ ...page, thumbsUp: null }])[0]];
  assert.deepEqual(sumRatings(rows), { helpful: 3, all: 4 });
});

test("entries of one page, by its path and by its address, are one row", () => {
  const page = { thumbsUp: 3, thumbsDown: 1, code: null, total: 4 };
  const rows = toPageRows([
    { ...page, path: "https://docs.example.com/a" },
    { ...page, path: null },
    { ...page, path: "/a", total: 6 },
  ]);
  assert.deepEqual(columns(rows, "path", "up", "share", "code", "total"), [
    ["/a", 6, 0.75, null, 10],
    [null, 3, 0.75, null, 4],
  ]);
});

test("feedback by page compares the entries of each page and keeps its ratings", () => {
  const page = (path, up, down) => ({ path, up, down, share: null, code: 0, total: up + down });
  const columns = { key: "path", compared: REPORTS.feedbackByPage.main };
  const now = { rows: [page("/a", 2, 3)], isComplete: true };
  const earlier = { rows: [page("/a", 1, 1), page("/b", 0, 4)], isComplete: true };
  assert.deepEqual(compareRows(now, earlier, columns), [
    { ...page("/a", 2, 3), earlier: 2, change: 3 },
    { ...page("/b", 0, 0), earlier: 4, change: -4 },
  ]);
});

test("pages with unhelpful ratings suggest a job, other pages do not", () => {
  const days = { range: { from: "2026-10-01", to: "2026-10-31" }, earlierRange: null };
  const row = { path: "/a", up: 3, down: 1, share: 0.75, code: 0, total: 4 };
  const prompt = jobPrompt(REPORTS.feedbackByPage, row, days);
  assert.match(prompt, /^Improve the page \/a\./);
  assert.match(prompt, /1 of 4 ratings say that it was not helpful/);
  assert.equal(jobPrompt(REPORTS.feedbackByPage, { ...row, down: 0 }, days), null);
});

test("a filter shows the number of matching entries", () => {
  const shown = {
    report: REPORTS.feedback,
    isComplete: true,
    arrangement: "pages",
    filter: "",
    matches: { rows: 2, human: 0, ai: 0, total: 0 },
  };
  assert.equal(matchSentence({ ...shown, facets: { helpful: "No" } }), "2 entries");
  assert.equal(matchSentence({ ...shown, facets: {} }), "");
});
