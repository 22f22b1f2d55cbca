/** Groups of questions and search terms. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { importSource } from "./source.mjs";

const { groupTexts } = await importSource("analytics/rows/text_groups.ts");

const ask = (...queries) => queries.map((query) => ({ query, answer: "unanswered" }));
const summary = (groups) => groups.map(({ text, count }) => [text, count]);

test("questions that differ in case, punctuation, spaces or form are one group", () => {
  const rows = ask(
    "How do I reset my password?",
    "how do i reset my password",
    "  How do I  reset my password ?!",
    "How do I reset my password?",
    "Where is the API key?",
    "Ｗhere is the API key",
  );
  assert.deepEqual(summary(groupTexts(rows)), [
    ["How do I reset my password?", 4],
    ["Where is the API key?", 2],
  ]);
});

test("composed and decomposed letters are one group, but an accent makes another word", () => {
  assert.deepEqual(summary(groupTexts(ask("café", "cafe\u0301", "cafe"))), [
    ["café", 2],
    ["cafe", 1],
  ]);
});

test("marks of Indic scripts stay part of the word", () => {
  assert.deepEqual(summary(groupTexts(ask("कि", "की"))), [
    ["कि", 1],
    ["की", 1],
  ]);
});

test("a group of terms counts searches and names the most frequent spelling", () => {
  const rows = [
    { query: "Webhooks", hits: 3 },
    { query: "webhooks", hits: 40 },
    { query: "web hooks", hits: 9 },
    { query: "sdk", hits: 12 },
    { query: "unknown count", hits: null },
  ];
  const groups = groupTexts(rows);
  assert.deepEqual(summary(groups), [
    ["webhooks", 43],
    ["sdk", 12],
    ["web hooks", 9],
    ["unknown count", 0],
  ]);
  assert.deepEqual(
    groups[0].rows.map(({ query }) => query),
    ["webhooks", "Webhooks"],
  );
});

test("texts without a letter or digit, and rows without a text, are in no group", () => {
  assert.deepEqual(groupTexts([...ask("??", " ", "\u200b", ""), { query: null }, {}]), []);
});
