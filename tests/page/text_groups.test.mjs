import assert from "node:assert/strict";
import { test } from "node:test";
import { column, columns } from "./columns.mjs";
import { importRows } from "./source.mjs";

const { groupQuestions, groupTerms } = await importRows("text_groups.ts");

const ask = (...queries) => queries.map((query) => ({ query, answer: "answered" }));
const questions = (rows) => groupQuestions(rows).map(({ query, times }) => [query, times]);
const terms = (rows) => groupTerms(rows).map(({ query, hits }) => [query, hits]);

test("questions that differ in case, punctuation, spaces or form are one group", () => {
  const rows = ask(
    "How do I reset my password?",
    "how do i reset my password",
    "  How do I  reset my password ?!",
    "How do I reset my password?",
    "Where is the API key?",
    "Ｗhere is the API key",
  );
  assert.deepEqual(questions(rows), [
    ["How do I reset my password?", 4],
    ["Where is the API key?", 2],
  ]);
  assert.deepEqual(groupQuestions(rows)[0].spellings, [
    "How do I reset my password?",
    "how do i reset my password",
    "  How do I  reset my password ?!",
  ]);
});

test("composed and decomposed letters are one group, but an accent makes another word", () => {
  assert.deepEqual(questions(ask("café", "cafe\u0301", "cafe")), [
    ["café", 2],
    ["cafe", 1],
  ]);
});

test("marks of Indic scripts stay part of the word", () => {
  assert.equal(groupQuestions(ask("कि", "की")).length, 2);
});

test("a group of questions is unanswered if one of them is, and has the latest time", () => {
  const [group] = groupQuestions([
    { query: "Why?", answer: "answered", asked: "2026-11-02T00:00:00Z" },
    { query: "why", answer: "unanswered", asked: "2026-11-20T00:00:00Z" },
    { query: "Why?", answer: "answered", asked: null },
  ]);
  assert.deepEqual([group.answer, group.asked], ["unanswered", "2026-11-20T00:00:00Z"]);
});

test("a group of terms sums searches and changes, and weighs click rates by searches", () => {
  const rows = [
    { query: "Webhooks", hits: 10, ctr: 0, change: -2, earlier: 12 },
    { query: "webhooks", hits: 30, ctr: 40, change: 5, earlier: 25 },
    { query: "web-hooks", hits: 9, ctr: null, change: 9, earlier: 0 },
    { query: "unknown", hits: null, ctr: null, change: null, earlier: null },
  ];
  const [group, other, unknown] = groupTerms(rows);
  assert.deepEqual([group.query, group.hits, group.ctr], ["webhooks", 40, 30]);
  assert.deepEqual([group.change, group.earlier], [3, 37]);
  assert.deepEqual([other.query, other.hits, other.ctr], ["web-hooks", 9, null]);
  assert.deepEqual([unknown.hits, unknown.change], [0, null]);
});

test("beginnings of a word fold into the most frequent term that continues it", () => {
  const rows = [
    { query: "aut", hits: 4 },
    { query: "authent", hits: 6 },
    { query: "authentication", hits: 100 },
    { query: "author", hits: 8 },
    { query: "api", hits: 50 },
    { query: "api key", hits: 20 },
    { query: "api k", hits: 3 },
  ];
  assert.deepEqual(terms(rows), [
    ["authentication", 110],
    ["api", 50],
    ["api key", 23],
    ["author", 8],
  ]);
  assert.deepEqual(groupTerms(rows)[0].spellings, ["authentication", "authent", "aut"]);
});

test("a beginning that is more frequent than each continuation is a word of its own", () => {
  const rows = [
    { query: "java", hits: 1000, ctr: 0 },
    { query: "javascript", hits: 10, ctr: 50 },
    { query: "log", hits: 30 },
    { query: "login", hits: 30 },
  ];
  assert.deepEqual(terms(rows), [
    ["java", 1000],
    ["login", 60],
    ["javascript", 10],
  ]);
});

test("symbols of names make other questions", () => {
  assert.equal(groupQuestions(ask("C SDK", "C++ SDK", "C# SDK", "c++ sdk?")).length, 3);
});

test("a group with an unknown click rate has no known click rate", () => {
  const rows = [
    { query: "Deploy", hits: 500, ctr: null },
    { query: "deploy", hits: 1, ctr: 0 },
  ];
  assert.deepEqual(columns(groupTerms(rows), "hits", "ctr"), [[501, null]]);
});

test("terms with fewer than three letters are left out, except in dense scripts", () => {
  const rows = ["a", "ab", "é!", "42", "abc", "支付", "결제"].map((query) => ({ query, hits: 1 }));
  assert.deepEqual(column(groupTerms(rows), "query"), ["abc", "支付", "결제"]);
});

test("questions without a letter stay, and terms without one are left out", () => {
  const rows = [...ask("??", "?", " ?? ", "", " "), { query: null }, {}];
  assert.deepEqual(columns(groupQuestions(rows), "times", "spellings"), [
    [4, ["", " "]],
    [2, ["??", " ?? "]],
    [1, ["?"]],
  ]);
  assert.deepEqual(groupTerms(rows), []);
});

test("20,000 terms with common beginnings are grouped quickly enough to sort them on a click", () => {
  const rows = Array.from({ length: 20_000 }, (_, at) => ({ query: `term ${at}`, hits: at }));
  assert.ok(groupTerms(rows).length > 10_000);
});
