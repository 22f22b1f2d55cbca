import assert from "node:assert/strict";
import { test } from "node:test";
import { importSource } from "./source.mjs";

const { toPullRequestState } = await importSource("jobs/pull_request_state.ts");

test("a state has its draft flag", () => {
  const open = { state: "open", isDraft: true, mergedAt: null };
  assert.deepEqual(toPullRequestState({ ...open, more: 1 }), open);
  const merged = { state: "merged", isDraft: false, mergedAt: null };
  assert.deepEqual(toPullRequestState({ state: "merged" }), merged);
});

test("a merged pull request has the time of the merge, unless it is not a date-time", () => {
  const mergedAt = (time) => toPullRequestState({ state: "merged", mergedAt: time }).mergedAt;
  assert.equal(mergedAt("2026-11-20T08:30:00.000Z"), Date.UTC(2026, 10, 20, 8, 30));
  for (const time of [null, undefined, "yesterday", 5]) assert.equal(mergedAt(time), null);
});

test("an unknown state and other values have none", () => {
  for (const body of [{ state: "unknown" }, { state: "reopened" }, {}, null, "open", 5]) {
    assert.equal(toPullRequestState(body), null, JSON.stringify(body));
  }
});
