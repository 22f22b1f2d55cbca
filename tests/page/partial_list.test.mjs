/**
 * Partly loaded lists. The page estimates the missing rows and their requests, and a notice shows
 * the estimate.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { row } from "./count_rows.mjs";
import { importSource } from "./source.mjs";

const { remainderOf } = await importSource("analytics/rows/sums.ts");
const { REPORTS } = await importSource("analytics/rows/report.ts");
const { answerSentence, costSentence, estimateRequests, loadLabel, loadedSentence, requestsLeft } =
  await importSource("analytics/rows/partial_notice.ts");

const VIEWS = REPORTS.views;

describe("partial list", () => {
  const rows = [row("/a", 600, 0), row("/b", 150, 0)];

  test("the remainder has at most one row for each view that is left", () => {
    assert.deepEqual(remainderOf(1250, rows, "total", 250), { rows: 500, requests: 2 });
    assert.deepEqual(remainderOf(null, rows, "total", 250), { rows: null, requests: null });
    assert.equal(remainderOf(700, rows, "total", 250).requests, 1, "more views than the total");
  });

  const list = (changes = {}) => ({
    report: VIEWS,
    loaded: 250,
    part: 0.85,
    remainder: { rows: 3000, requests: 12 },
    lastSums: [1000, 500],
    arrangement: "pages",
    sorting: { column: "total", direction: "descending" },
    filter: "",
    ...changes,
  });
  const limit = { policy: "analytics", quota: 100, left: 59, at: 0, freesAt: 60_000 };

  test("the notice of a partial list names the loaded part of the total", () => {
    assert.equal(loadedSentence(list()), "Showing the top 250 pages (85% of views).");
    const feedback = list({ report: REPORTS.feedback, part: null });
    assert.equal(loadedSentence(feedback), "Showing the first 250 entries.");
  });

  test("the notice of a partial list names the requests to load the rest, and those left", () => {
    assert.equal(
      costSentence(12, limit, 0),
      "Loading the rest uses about 12 of your 59 remaining requests.",
    );
    assert.equal(
      costSentence(76, limit, 0),
      "Loading the rest takes about 76 requests; 59 requests left this hour.",
    );
    assert.equal(costSentence(null, limit, 0), "59 requests left this hour.");
    assert.equal(costSentence(1, null, 0), "Loading the rest uses about 1 request.");
    assert.equal(loadLabel(VIEWS, limit, 0), "Load all pages");
  });

  test("the last ten requests of a shared limit need a separate decision", () => {
    const scarce = { ...limit, left: 10 };
    assert.match(costSentence(76, scarce, 0), /^Only 10 requests left this hour, kept for others/);
    assert.equal(loadLabel(VIEWS, scarce, 0), "Use the last 10 requests");
    const own = { ...scarce, policy: "analytics-caller" };
    assert.equal(loadLabel(VIEWS, own, 0), "Load all pages");
  });

  test("without requests the notice names the time of the next one, until then", () => {
    const none = { ...limit, left: 0 };
    assert.match(costSentence(76, none, 0), /^No requests left. Continue at \d+:01/);
    assert.equal(requestsLeft(none, 0), 0);
    assert.equal(requestsLeft(none, 60_000), 1);
    assert.equal(requestsLeft({ ...none, freesAt: null }, 60_000), 0);
  });

  test("the estimate comes from another period, or from the last loaded rows", () => {
    assert.equal(estimateRequests(list(), 1000), 3);
    const even = list({ lastSums: [500, 500] });
    assert.equal(estimateRequests(even, null), 6, "3,000 views, 500 on each page");
    assert.equal(estimateRequests(even, 250), 6);
    assert.equal(estimateRequests(list(), null), 12, "later pages have fewer views");
    assert.equal(estimateRequests(list(), 100_000), 12, "the maximum");
    assert.equal(estimateRequests(list({ lastSums: [] }), null), null);
  });

  test("the notice of a partial list fits the arrangement and the filter", () => {
    const ascending = { column: "total", direction: "ascending" };
    assert.equal(
      answerSentence(list({ sorting: ascending })),
      "Pages with fewer views haven’t been loaded yet.",
    );
    assert.match(answerSentence(list({ filter: "x" })), /covers only these pages/);
    assert.match(answerSentence(list({ arrangement: "folders" })), /totals cover only these/);
    assert.match(answerSentence(list({ arrangement: "never-read" })), /may have views/);
    assert.match(answerSentence(list({ arrangement: "falls" })), /may have bigger changes/);
    assert.equal(answerSentence(list()), "");
  });
});
