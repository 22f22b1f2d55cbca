import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { signal } from "@preact/signals";
import { column } from "./columns.mjs";
import { failure, fakeViews } from "./fake_views.mjs";
import { importSource } from "./source.mjs";
import { createGate } from "./waiting.mjs";

const { Listing } = await importSource("analytics/rows/listing.ts");
const { REPORTS } = await importSource("analytics/rows/report.ts");

const BOUNDS = { dateFrom: "2026-10-01", dateTo: "2026-11-01", frozenAt: null };
const RANGE = { from: "2026-10-01", to: "2026-10-31" };

/** Returns a client with `count` rows. A request can fail once at an offset, or always. */
function fakeClient(count, options = {}) {
  const { failOnceAt, slowFrom, headersAt = () => ({}), failAlways = () => false } = options;
  const [paused, resumed] = [createGate(), createGate()];
  let failingOffset = failOnceAt;
  const client = fakeViews(count, {
    async before({ offset }) {
      await delay(1);
      if (offset !== slowFrom) return;
      paused.open();
      await resumed.opened;
    },
    answer({ offset, dateTo }) {
      if (failAlways(dateTo)) throw failure();
      if (offset !== failingOffset) return headersAt(offset);
      failingOffset = undefined;
      throw failure();
    },
  });
  return { ...client, paused: paused.opened, resume: resumed.open };
}

const open = (client, options = {}) =>
  new Listing({
    ...{ client, report: REPORTS.views, range: RANGE, bounds: BOUNDS, limit: signal(null) },
    ended: new AbortController().signal,
    ...options,
  });
const offsets = ({ requests }) => column(requests, "offset");
const offsetsOf = (count) => Array.from({ length: Math.ceil(count / 250) }, (_, n) => n * 250);
const inOrder = (rows) => rows.value.every(({ path }, index) => path === `/${index}`);

test("loading all rows requests each page once", async () => {
  const client = fakeClient(1100);
  const views = open(client);
  assert.equal(await views.load("first rows"), true);
  assert.deepEqual([views.state.value, views.rows.value.length], ["partial", 250]);
  assert.equal(await views.load("all rows"), true);
  assert.deepEqual([views.state.value, views.rows.value.length], ["complete", 1100]);
  assert.ok(inOrder(views.rows));
  assert.deepEqual(offsets(client), offsetsOf(1100));
});

test("a complete listing requests nothing", async () => {
  const client = fakeClient(100);
  const views = open(client);
  await views.load("first rows");
  assert.equal(views.state.value, "complete");
  assert.equal(await views.load("all rows"), true);
  assert.deepEqual(offsets(client), [0]);
});

test("loading resumes at the page that failed", async () => {
  const client = fakeClient(1000, { failOnceAt: 500 });
  const views = open(client);
  assert.equal(await views.load("all rows"), false);
  assert.equal(views.problem.value.remedy, "retry");
  assert.deepEqual([views.state.value, views.rows.value.length], ["partial", 500]);
  assert.equal(await views.load("all rows"), true);
  assert.equal(views.problem.value, null);
  assert.equal(views.rows.value.length, 1000);
  assert.ok(inOrder(views.rows));
  assert.deepEqual(offsets(client), [0, 250, 500, 500, 750]);
});

test("a listing whose first page fails stays empty", async () => {
  const views = open(fakeClient(10, { failOnceAt: 0 }));
  assert.equal(await views.load("first rows"), false);
  assert.equal(views.state.value, "empty");
});

test("a stopped listing keeps its rows, has no problem and can resume", async () => {
  const client = fakeClient(1000);
  const views = open(client);
  await views.load("first rows");
  const loading = views.load("all rows");
  views.stop();
  assert.equal(await loading, false);
  assert.deepEqual([views.state.value, views.problem.value], ["partial", null]);
  assert.equal(await views.load("all rows"), true);
  assert.ok(inOrder(views.rows));
  assert.deepEqual(offsets(client), offsetsOf(1000));
});

test("concurrent loads of a listing request each page once", async () => {
  const client = fakeClient(500);
  const views = open(client);
  const [first, second] = await Promise.all([views.load("all rows"), views.load("all rows")]);
  assert.deepEqual([first, second], [true, false]);
  assert.deepEqual(offsets(client), offsetsOf(500));
});

test("the end of the session stops the loading", async () => {
  const end = new AbortController();
  const views = open(fakeClient(1000), { ended: end.signal });
  const loading = views.load("all rows");
  end.abort();
  assert.equal(await loading, false);
  assert.equal(views.problem.value, null);
});

test("the oldest page determines the age of the listing", async () => {
  const stale = (age) => ({ age, "cache-status": "quillgate; fwd=stale; detail=stale" });
  const ages = { 250: "60", 500: "600" };
  const headersAt = (offset) => (ages[offset] ? stale(ages[offset]) : {});
  const views = open(fakeClient(1000, { headersAt }));
  await views.load("first rows");
  assert.equal(views.staleness.value, null);
  await views.load("all rows");
  const { asOf, why } = views.staleness.value;
  assert.equal(why, "no answer");
  assert.ok(Date.now() - asOf >= 600_000 && Date.now() - asOf < 660_000);
});

test("the rest of the limit is kept while responses do not name it", async () => {
  const limit = { "ratelimit-policy": '"analytics";q=100;w=3600', ratelimit: '"analytics";r=7' };
  const views = open(fakeClient(500, { headersAt: (offset) => (offset === 0 ? limit : {}) }));
  await views.load("all rows");
  assert.equal(views.limit.value.left, 7);
});

test("only a refresh bypasses the gateway’s cache", async () => {
  const usual = fakeClient(500);
  await open(usual).load("all rows");
  assert.deepEqual(column(usual.requests, "headers"), [{}, {}]);
  const refresh = fakeClient(500);
  await open(refresh, { source: "Mintlify" }).load("all rows");
  assert.deepEqual(
    column(refresh.requests, "headers"),
    Array(2).fill({ "cache-control": "no-cache" }),
  );
});

test("a small site is loaded completely and automatically", async () => {
  const client = fakeClient(800, { headersAt: () => limitOf(60) });
  const views = open(client);
  assert.equal(await views.load("small site"), true);
  assert.deepEqual([views.state.value, views.rows.value.length], ["complete", 800]);
});

test("loading the rest stops at the reserve, and continues on request", async () => {
  const client = fakeClient(4000, { headersAt: (offset) => limitOf(12 - offset / 250) });
  const views = open(client);
  assert.equal(await views.load("rows above reserve"), true);
  assert.deepEqual([views.state.value, views.rows.value.length], ["partial", 750]);
  await views.load("all rows");
  assert.equal(views.rows.value.length, 4000);
});

test("at most a thousand rows of a large site are loaded automatically", async () => {
  const client = fakeClient(4000, { headersAt: () => limitOf(60) });
  const views = open(client);
  await views.load("small site");
  assert.deepEqual([views.state.value, views.rows.value.length], ["partial", 1000]);
  assert.deepEqual(offsets(client), [0, 250, 500, 750]);
});

test("automatic loading stops once half of the budget is spent", async () => {
  const client = fakeClient(800, { headersAt: (offset) => limitOf(offset === 0 ? 50 : 49) });
  const views = open(client);
  await views.load("small site");
  assert.deepEqual(offsets(client), [0, 250]);
  assert.equal(views.state.value, "partial");
});

test("automatic loading continues with cached pages, which name no budget", async () => {
  const cached = { "cache-status": "quillgate; hit; ttl=200", age: "5" };
  const client = fakeClient(600, { headersAt: () => cached });
  const views = open(client);
  await views.load("small site");
  assert.equal(views.state.value, "complete");
  const unknown = fakeClient(600);
  await open(unknown).load("small site");
  assert.deepEqual(offsets(unknown), [0]);
});

test("a listing can load a given number of rows", async () => {
  const client = fakeClient(2000);
  const views = open(client);
  assert.equal(await views.load({ rows: 600 }), true);
  assert.deepEqual(offsets(client), [0, 250, 500]);
});

test("an unfinished range falls back to its last successful bounds", async () => {
  const fallback = { dateFrom: "2026-10-01", dateTo: "2026-10-31T09:05:00Z", frozenAt: 1 };
  const headersAt = () => ({ age: "120" });
  const client = fakeClient(300, { headersAt, failAlways: (dateTo) => dateTo === BOUNDS.dateTo });
  const views = open(client, { fallback });
  assert.equal(await views.load("first rows"), true);
  assert.equal(views.problem.value, null);
  assert.equal(views.bounds.value.dateTo, fallback.dateTo);
  assert.equal(views.staleness.value.why, "no answer");
  assert.ok(Date.now() - views.staleness.value.asOf >= 120_000);
});

test("a fallback that fails too leaves the first problem", async () => {
  const fallback = { dateFrom: "2026-10-01", dateTo: "2026-10-31T09:05:00Z", frozenAt: 1 };
  const views = open(fakeClient(300, { failAlways: () => true }), { fallback });
  assert.equal(await views.load("first rows"), false);
  assert.equal(views.problem.value.remedy, "retry");
  assert.deepEqual([views.state.value, views.bounds.value], ["empty", BOUNDS]);
});

function limitOf(left) {
  return { "ratelimit-policy": '"analytics";q=100;w=3600', ratelimit: `"analytics";r=${left}` };
}

function recordRowCounts(listing) {
  const shown = [];
  listing.rows.subscribe((rows) => shown.push(rows.length));
  return shown;
}

test("the first rows appear immediately, and fast ones after them together", async () => {
  const views = open(fakeClient(1000));
  const shown = recordRowCounts(views);
  assert.equal(await views.load("all rows"), true);
  assert.deepEqual(shown, [0, 250, 1000]);
  assert.deepEqual([views.requests.value, views.state.value], [4, "complete"]);
  assert.ok(inOrder(views.rows));
});

test("rows appear before a slow page that follows them", async () => {
  const client = fakeClient(1000, { slowFrom: 750 });
  const views = open(client);
  const shown = recordRowCounts(views);
  const areShown = new Promise((resolve) => {
    views.rows.subscribe(({ length }) => length === 750 && resolve());
  });
  const loading = views.load("all rows");
  await client.paused;
  await areShown;
  assert.equal(views.state.value, "loading");
  client.resume();
  assert.equal(await loading, true);
  assert.deepEqual(shown, [0, 250, 750, 1000]);
});

test("rows of a comparison appear only when they are complete", async () => {
  const views = open(fakeClient(1000), { isSecondary: true });
  const shown = recordRowCounts(views);
  assert.equal(await views.load("all rows"), true);
  assert.deepEqual(shown, [0, 1000]);
});

test("stopping and failing keep the rows that have not appeared yet", async () => {
  const views = open(fakeClient(1000, { failOnceAt: 500 }), { isSecondary: true });
  assert.equal(await views.load("all rows"), false);
  assert.deepEqual([views.rows.value.length, views.requests.value], [500, 2]);
  const slow = fakeClient(1000, { slowFrom: 750 });
  const stopped = open(slow, { isSecondary: true });
  const loading = stopped.load("all rows");
  await slow.paused;
  stopped.stop();
  assert.deepEqual([stopped.rows.value.length, stopped.state.value], [750, "partial"]);
  slow.resume();
  assert.equal(await loading, false);
  assert.equal(await stopped.load("all rows"), true);
  assert.ok(inOrder(stopped.rows));
  assert.deepEqual(offsets(slow), offsetsOf(1000));
});
