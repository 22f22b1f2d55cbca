import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as settle } from "node:timers/promises";
import { signal } from "@preact/signals";
import { columns } from "./columns.mjs";
import { importSource } from "./source.mjs";

const { CountedTrend, CountedTrendCache } = await importSource("analytics/trend/counted_trend.ts");

const RANGE = { from: "2026-10-01", to: "2026-10-05" };
const LATEST_FIRST = ["2026-10-05", "2026-10-04", "2026-10-03", "2026-10-02", "2026-10-01"];
const QUOTA = 100;
/** A tenth of the quota, at most 10. */
const RESERVE = 10;

/** Returns a fake client. By default, response `n` has 10 × n people and n AI. */
function fakeClient(answer = () => ({})) {
  const requests = [];
  let onResponse;
  const respond = async (params, { signal }) => {
    requests.push(params);
    const n = requests.length;
    const { headers = {}, error, counts = { human: 10 * n, ai: n } } = answer(n);
    await settle();
    signal.throwIfAborted();
    onResponse({ headers: new Headers(headers) });
    if (error) throw error;
    return { totals: counts, totalSearches: counts.human };
  };
  const client = {
    requests,
    analytics: { visitors: respond, searches: respond },
    withOptions(options) {
      onResponse = options.onResponse;
      return client;
    },
  };
  return client;
}

const ended = new AbortController().signal;
const DAILY = { name: "visitors", range: RANGE, group: "day" };
function openTrend(answer, changes = {}) {
  const client = fakeClient(answer);
  const trend = new CountedTrend({ client, limit: signal(null), ended, ...DAILY, ...changes });
  return { client, trend };
}
const openCache = () => new CountedTrendCache({ client: fakeClient(), limit: signal(null), ended });

const rateLimit = (left) => ({
  "ratelimit-policy": `"org";q=${QUOTA};w=3600`,
  ratelimit: `"org";r=${left};t=60`,
});
const datesOf = ({ requests }) => requests.map(({ dateFrom }) => dateFrom);
const humans = ({ points }) => points.value.map(({ held, human }) => (held === 0 ? null : human));

test("each bar takes one request for its own days, the latest first", async () => {
  const { client, trend } = openTrend();
  assert.equal(trend.missing.value, 5);
  await trend.load("above reserve");
  assert.deepEqual(datesOf(client), LATEST_FIRST);
  const ends = ["2026-10-06", ...LATEST_FIRST.slice(0, -1)].map((day) => [day, 1]);
  assert.deepEqual(columns(client.requests, "dateTo", "limit"), ends);
  assert.deepEqual(humans(trend), [50, 40, 30, 20, 10]);
  assert.deepEqual([trend.missing.value, trend.isLoading.value], [0, false]);
  await trend.load("all");
  assert.equal(client.requests.length, 5, "a loaded bar is not requested again");
});

test("a week at the edge of the range counts only its days within the range", async () => {
  const range = { from: "2026-10-01", to: "2026-10-13" };
  const { client, trend } = openTrend(undefined, { range, group: "week" });
  await trend.load("all");
  assert.deepEqual(columns(client.requests, "dateFrom", "dateTo"), [
    ["2026-10-12", "2026-10-14"],
    ["2026-10-05", "2026-10-12"],
    ["2026-10-01", "2026-10-05"],
  ]);
  assert.deepEqual(columns(trend.points.value, "held", "span"), [
    [4, 7],
    [7, 7],
    [2, 7],
  ]);
});

test("searches have one count", async () => {
  const { trend } = openTrend(undefined, { name: "searches" });
  await trend.load("all");
  const { human, ai, held } = trend.points.value.at(-1);
  assert.deepEqual({ human, ai, held }, { human: 10, ai: 0, held: 1 });
});

test("a bar without counts is not requested again", async () => {
  const { client, trend } = openTrend((n) =>
    n === 2 ? { counts: { human: null, ai: null } } : {},
  );
  await trend.load("all");
  assert.equal(client.requests.length, 5);
  assert.deepEqual(humans(trend), [50, 40, 30, null, 10]);
  assert.equal(trend.missing.value, 0);
});

test("loading stops at the reserve, and continues past it on request", async () => {
  const { trend } = openTrend((n) => ({ headers: rateLimit(RESERVE + 2 - n) }));
  await trend.load("above reserve");
  assert.deepEqual(humans(trend), [null, null, null, 20, 10]);
  assert.equal(trend.problem.value, null);
  await trend.load("all");
  assert.equal(trend.missing.value, 0);
});

test("loading continues past the reserve for cached responses, which cost nothing", async () => {
  const cached = { "cache-status": "quillgate; hit; ttl=60", ...rateLimit(0) };
  const { trend } = openTrend(() => ({ headers: cached }));
  await trend.load("above reserve");
  assert.equal(trend.missing.value, 0);
});

test("a failure keeps the loaded bars, and loading resumes with the failed one", async () => {
  const error = Object.assign(new Error("bad gateway"), { name: "ServerError", status: 502 });
  const { client, trend } = openTrend((n) => (n === 3 ? { error } : {}));
  await trend.load("all");
  assert.deepEqual(humans(trend), [null, null, null, 20, 10]);
  assert.equal(trend.problem.value.remedy, "retry");
  await trend.load("all");
  assert.equal(trend.problem.value, null);
  assert.deepEqual(datesOf(client), [...LATEST_FIRST.slice(0, 3), ...LATEST_FIRST.slice(2)]);
  assert.equal(trend.missing.value, 0);
});

test("stop keeps the loaded bars and sets no problem", async () => {
  const { trend } = openTrend((n) => {
    if (n === 3) trend.stop();
    return {};
  });
  assert.equal(await trend.load("all"), false);
  assert.deepEqual(humans(trend), [null, null, null, 20, 10]);
  assert.deepEqual([trend.problem.value, trend.isLoading.value], [null, false]);
});

test("loading with the reserve protects it again when more requests are free", async () => {
  const left = [RESERVE - 1, RESERVE + 1, RESERVE, RESERVE - 1];
  const { client, trend } = openTrend((n) => ({ headers: rateLimit(left[n - 1]) }));
  assert.equal(await trend.load("all"), true);
  assert.equal(client.requests.length, 3);
});

test("a chart is kept by report, days and interval, and open for all intervals", () => {
  const trends = openCache();
  trends.open("visitors", RANGE);
  const trend = trends.find(DAILY);
  assert.equal(trends.find({ ...DAILY, range: { ...RANGE } }), trend);
  assert.notEqual(trends.find({ ...DAILY, name: "searches" }), trend);
  assert.notEqual(trends.find({ ...DAILY, group: "week" }), trend);
  assert.equal(trends.isOpen("visitors", { ...RANGE }), true);
  assert.equal(trends.isOpen("searches", RANGE), false);
});

test("a chart that is only offered is not kept", () => {
  const trends = openCache();
  const offered = trends.find(DAILY);
  assert.notEqual(trends.find(DAILY), offered);
  trends.open("visitors", RANGE);
  assert.notEqual(trends.find(DAILY), offered);
});
