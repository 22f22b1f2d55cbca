import assert from "node:assert/strict";
import { test } from "node:test";
import { row } from "./count_rows.mjs";
import { importRows } from "./source.mjs";

const { expectRequests, requestRange } = await importRows("remainder.ts");
const { REPORTS } = await importRows("report.ts");
const { answerSentence, costSentence, loadLabel, loadedSentence, requestsLeft } =
  await importRows("partial_notice.ts");

const VIEWS = REPORTS.views;
const EXPECTED = { least: 20, most: 76 };

const list = (changes = {}) => ({
  report: VIEWS,
  loaded: 250,
  part: 0.85,
  arrangement: "pages",
  sorting: { column: "total", direction: "descending" },
  filter: "",
  ...changes,
});
const limit = { policy: "analytics", quota: 100, left: 59, at: 0, freesAt: 60_000 };

test("the notice of a partial list names the loaded part of the total", () => {
  assert.equal(loadedSentence(list()), "Showing the top 250 pages (85% of views).");
  assert.match(loadedSentence(list({ part: 0.996 })), /99% of views/);
  const feedback = list({ report: REPORTS.feedback, part: null });
  assert.equal(loadedSentence(feedback), "Showing the first 250 entries.");
});

test("the notice of a partial list names the requests to load the rest, and those left", () => {
  for (const [least, most, cost] of [
    [12, 12, "12 requests"],
    [10, 59, "10 to 59 requests"],
    [10, 607, "at least 10 requests"],
  ]) {
    const sentence = `Loading the rest uses ${cost}; 59 requests left this hour.`;
    assert.equal(costSentence({ least, most }, limit, 0), sentence);
  }
  assert.equal(costSentence(null, limit, 0), "59 requests left this hour.");
  const atMost = costSentence({ least: 1, most: 3 }, null, 0);
  assert.equal(atMost, "Loading the rest uses at most 3 requests.");
  assert.equal(loadLabel(VIEWS, limit, 0), "Load all pages");
});

test("the last ten requests of a shared limit need a separate decision", () => {
  const scarce = { ...limit, left: 10 };
  const sentence = costSentence(EXPECTED, scarce, 0);
  assert.match(sentence, /^Only 10 requests left this hour, kept for others/);
  assert.equal(loadLabel(VIEWS, scarce, 0), "Use the last 10 requests");
  const own = { ...scarce, policy: "analytics-caller" };
  assert.equal(loadLabel(VIEWS, own, 0), "Load all pages");
});

test("without requests the notice names the time of the next one, until then", () => {
  const none = { ...limit, left: 0 };
  assert.match(costSentence(EXPECTED, none, 0), /^No requests left. Continue at \d+:01/);
  assert.equal(requestsLeft(none, 0), 0);
  assert.equal(requestsLeft(none, 60_000), 1);
  assert.equal(requestsLeft({ ...none, freesAt: null }, 60_000), 0);
});

test("the requests have bounds, which come closer while rows load", () => {
  const pages = (...counts) => counts.map((count, at) => row(`/${at}`, count, 0));
  const expected = (rows, total, known = null, report = VIEWS) =>
    expectRequests({ report, rows: { value: rows }, totals: { value: { total } } }, known);
  const first = pages(6000, 100);
  assert.deepEqual(expected(first, 256_100), { least: 10, most: 1000 });
  assert.deepEqual(expected(pages(6000, 100, 50), 256_100), { least: 20, most: 1000 });
  assert.deepEqual(expected(first, 256_100, 20_002), { least: 10, most: 80 }, "a known period");
  assert.deepEqual(expected(first, 256_100, 2), { least: 10, most: 1000 }, "a smaller one");
  assert.deepEqual(expected(first, 256_100, 502), { least: 2, most: 2 });
  assert.deepEqual(expected(pages(100, 6000), 256_100), { least: 1, most: 1000 }, "no order");
  assert.deepEqual(expected(first, 6000), { least: 1, most: 1 }, "more views than the total");
  assert.deepEqual(expected(first, 6100, 502, REPORTS.visitors), { least: 1, most: 2 });
  assert.equal(expected(first, null), null);
});

test("bounds that are equal are one number", () => {
  assert.equal(requestRange({ least: 1, most: 1 }), "1 request");
  assert.equal(requestRange({ least: 1, most: 1200 }), "at most 1,200 requests");
  assert.equal(requestRange({ least: 5, most: 12 }), "5 to 12 requests");
});

test("the notice of a partial list fits the arrangement and the filter", () => {
  const least = list({ sorting: { column: "total", direction: "ascending" } });
  assert.equal(answerSentence(least), "Pages with fewer views haven’t been loaded yet.");
  assert.match(answerSentence(list({ filter: "x" })), /covers only these pages/);
  assert.match(answerSentence(list({ arrangement: "folders" })), /totals cover only these/);
  assert.match(answerSentence(list({ arrangement: "never-read" })), /may have views/);
  assert.match(answerSentence(list({ arrangement: "falls" })), /may have bigger changes/);
  assert.equal(answerSentence(list()), "");
});
