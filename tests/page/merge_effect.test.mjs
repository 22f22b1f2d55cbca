import assert from "node:assert/strict";
import { test } from "node:test";
import { signal } from "@preact/signals";
import { importSource } from "./source.mjs";

const { effectDays } = await importSource("effect/effect_days.ts");
const { readReactions, readViews } = await importSource("effect/effect_figures.ts");
const { subjectPage } = await importSource("effect/subject_page.ts");
const { toPullRequestState } = await importSource("jobs/pull_request_state.ts");

const MERGED_AT = Date.UTC(2026, 10, 4, 23, 30);
const weekday = (day) => new Date(`${day}T00:00:00Z`).getUTCDay();
const span = ({ from, to }) => (Date.parse(to) - Date.parse(from)) / 86_400_000 + 1;

test("until seven whole days have passed after the merge, it is too early to tell", () => {
  for (const today of ["2026-11-03", "2026-11-04", "2026-11-05", "2026-11-11"]) {
    assert.deepEqual(effectDays(MERGED_AT, today), { readyOn: "2026-11-12" }, today);
  }
  assert.deepEqual(effectDays(MERGED_AT, "2026-11-12"), {
    before: { from: "2026-10-28", to: "2026-11-03" },
    after: { from: "2026-11-05", to: "2026-11-11" },
  });
});

test("both periods are as long as each other, at most four weeks, with the same weekdays", () => {
  for (const [today, days] of [
    ["2026-11-18", 7],
    ["2026-11-19", 14],
    ["2026-12-03", 28],
    ["2027-06-01", 28],
  ]) {
    const { before, after } = effectDays(MERGED_AT, today);
    assert.deepEqual([span(before), span(after)], [days, days], today);
    assert.ok(before.to < "2026-11-04" && after.from > "2026-11-04" && after.to < today, today);
    // Whole weeks have every weekday equally often.
    assert.equal((weekday(before.to) - weekday(before.from) + 7) % 7, 6);
    assert.equal((weekday(after.to) - weekday(after.from) + 7) % 7, 6);
  }
});

for (const [prompt, page] of [
  ["Update the page /guides/webhooks.\n\nNov 1 – 28: 5 views.", "/guides/webhooks"],
  ["Improve “/guides/café”, please", "/guides/café"],
  ["See https://docs.acme.example/api/errors?x=1#top: fix it", "/api/errors"],
  ["Fix the page (/quickstart)!", "/quickstart"],
  ["Rewrite / for newcomers", "/"],
  ["Fix https://github.com/acme/x/issues/4 on /guides/a", "/guides/a"],
  ["Fix https://github.com/acme/x/issues/4", null],
  ["Explain and/or in the glossary", null],
  ["Add a page about 24/7 support", null],
  ["", null],
]) {
  test(`the subject of "${prompt.slice(0, 40)}" is ${page}`, () => {
    assert.equal(subjectPage(prompt), page);
  });
}

const DAYS = { from: "2026-11-05", to: "2026-11-11" };
const ended = new AbortController().signal;

test("the views of a page are those of all its spellings", async () => {
  const row = (path, human) => ({ path, human, ai: 1, total: human + 1 });
  const pages = [
    { views: [row("/a", 1), row("/caf%C3%A9", 10), row(null, 5)], missing: ["2026-11-07"] },
    {
      views: [row("/café/", 20), row("/cafe", 40), row("/café.md", null)],
      missing: ["2026-11-07"],
    },
  ];
  let asked;
  const archivedViews = (query) => {
    asked = query;
    return { pages: () => pages };
  };
  const views = await readViews({ analytics: { archivedViews } }, "/café", DAYS, ended);
  assert.deepEqual(views, { human: 30, ai: 3, missing: 1 });
  assert.deepEqual([asked.dateFrom, asked.dateTo], ["2026-11-05", "2026-11-12"]);
});

test("the requests for reactions count in the limit of the page", async () => {
  const limit = signal(null);
  const answer = (headers, body) => {
    for (const { onResponse } of options) onResponse({ headers: new Headers(headers) });
    return Promise.resolve(body);
  };
  const options = [];
  const headers = { ratelimit: '"analytics";r=41', "ratelimit-policy": '"analytics";q=100;w=3600' };
  const client = {
    withOptions: (given) => {
      options.push(given);
      return client;
    },
    analytics: {
      feedbackByPage: () => answer(headers, { feedback: [], hasMore: false }),
      searches: () => answer({}, { searches: [], nextPosition: null }),
    },
  };
  await readReactions(client, limit, "/a", DAYS, ended);
  assert.equal(limit.value.left, 41);
});

test("the state of a pull request has its draft flag", () => {
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

test("an unknown state of a pull request and other values give null", () => {
  for (const body of [{ state: "unknown" }, { state: "reopened" }, {}, null, "open", 5]) {
    assert.equal(toPullRequestState(body), null, JSON.stringify(body));
  }
});
