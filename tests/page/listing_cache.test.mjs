import assert from "node:assert/strict";
import { test } from "node:test";
import { column } from "./columns.mjs";
import { failure, fakeViews } from "./fake_views.mjs";
import { importRows } from "./source.mjs";
import { createGate, until } from "./waiting.mjs";

const { ListingCache } = await importRows("listing_cache.ts");
const { REPORTS } = await importRows("report.ts");

const VIEWS = REPORTS.views;
const OCTOBER = { from: "2026-10-01", to: "2026-10-31" };
const SEPTEMBER = { from: "2026-09-01", to: "2026-09-30" };
const AUGUST = { from: "2026-08-01", to: "2026-08-31" };

const RICH = {
  "ratelimit-policy": '"analytics";q=100;w=3600',
  ratelimit: '"analytics";r=90',
  "cache-status": "quillgate; fwd=uri-miss; stored",
};

/** Returns a cache of `count` rows and its client, whose requests can wait or fail. */
function openCache(count, { headers = RICH, memory } = {}) {
  const client = {
    sent: [],
    held: null,
    failing: false,
    /** Makes the next requests wait until the test calls the returned function. */
    hold() {
      const gate = createGate();
      client.held = gate.opened;
      return () => {
        client.held = null;
        gate.open();
      };
    },
    ...fakeViews(count, {
      before(request) {
        client.sent.push(request);
        return client.held;
      },
      answer() {
        if (client.failing) throw failure();
        return headers;
      },
    }),
  };
  return { client, cache: new ListingCache(client, new AbortController().signal, memory) };
}

async function openAll(cache, range) {
  cache.open(VIEWS, range);
  const listing = cache.find(VIEWS, range);
  await until(() => listing.state.value === "complete");
  return listing;
}

function createMemory() {
  let stored = null;
  return {
    read: () => stored,
    write: (value) => {
      stored = JSON.parse(JSON.stringify(value));
    },
  };
}

test("reopening a range sends no request", async () => {
  const { client, cache } = openCache(100);
  await openAll(cache, OCTOBER);
  await openAll(cache, SEPTEMBER);
  cache.open(VIEWS, OCTOBER);
  assert.equal(client.sent.length, 2);
});

test("a report that loaded only its first rows loads on when it is opened", async () => {
  const { client, cache } = openCache(600);
  const listing = await cache.openBeside(VIEWS, OCTOBER, "first rows");
  await cache.openEarlier(listing, SEPTEMBER, "first rows");
  assert.equal(client.sent.length, 2);
  cache.open(VIEWS, OCTOBER);
  assert.equal(cache.find(VIEWS, OCTOBER), listing);
  await until(() => listing.state.value === "complete");
  const earlier = await cache.openEarlier(listing, SEPTEMBER);
  await until(() => earlier.state.value === "complete");
  assert.equal(client.sent.length, 6);
});

test("a refresh keeps the old rows until it has as many new ones", async () => {
  const { client, cache } = openCache(600);
  const shown = await openAll(cache, OCTOBER);
  const release = client.hold();
  const refreshing = cache.refresh(shown);
  assert.equal(cache.find(VIEWS, OCTOBER), shown);
  assert.equal(shown.rows.value.length, 600);
  release();
  assert.equal(await refreshing, true);
  const renewed = cache.find(VIEWS, OCTOBER);
  assert.notEqual(renewed, shown);
  assert.equal(renewed.rows.value.length, 600);
  assert.equal(cache.renewal.value, null);
});

test("a failed refresh keeps the rows and can be repeated", async () => {
  const { client, cache } = openCache(600);
  const shown = await openAll(cache, OCTOBER);
  client.failing = true;
  assert.equal(await cache.refresh(shown), false);
  assert.equal(cache.find(VIEWS, OCTOBER), shown);
  assert.equal(cache.renewal.value.problem.value.remedy, "retry");
  client.failing = false;
  assert.equal(await cache.refresh(shown), true);
  assert.equal(cache.find(VIEWS, OCTOBER).rows.value.length, 600);
});

test("a stopped refresh changes nothing", async () => {
  const { client, cache } = openCache(600);
  const shown = await openAll(cache, OCTOBER);
  const release = client.hold();
  const refreshing = cache.refresh(shown);
  cache.stopRenewal();
  release();
  assert.equal(await refreshing, false);
  assert.equal(cache.find(VIEWS, OCTOBER), shown);
});

test("a comparison loads the earlier period only while requests are left", async () => {
  const { client, cache } = openCache(100);
  const shown = await openAll(cache, OCTOBER);
  cache.openEarlier(shown, SEPTEMBER);
  const earlier = cache.findEarlier(shown, SEPTEMBER);
  await until(() => earlier.state.value === "complete");
  const { dateFrom, dateTo, offset } = client.sent.at(-1);
  assert.deepEqual([dateFrom, dateTo, offset], ["2026-09-01", "2026-10-01", 0]);
  cache.openEarlier(shown, SEPTEMBER);
  assert.equal(client.sent.length, 2);

  const spent = { ...RICH, ratelimit: '"analytics";r=0' };
  const { client: poor, cache: frugal } = openCache(100, { headers: spent });
  const own = await openAll(frugal, OCTOBER);
  frugal.openEarlier(own, SEPTEMBER);
  assert.equal(frugal.findEarlier(own, SEPTEMBER), null);
  assert.equal(poor.sent.length, 1);
});

test("the gateway’s freshness determines the end of an unfinished range", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.parse("2026-11-21T09:12:00Z") });
  const open = { from: "2026-01-01", to: "2026-11-21" };
  const other = { from: "2026-01-02", to: "2026-11-21" };
  const headers = { ...RICH, "cache-control": "private, max-age=3600" };
  const { cache } = openCache(10, { headers, memory: createMemory() });
  await openAll(cache, open);
  cache.open(VIEWS, other);
  assert.equal(cache.find(VIEWS, other).bounds.value.dateTo, "2026-11-21T09:00:00Z");
});

test("the bounds of the last success survive a reload and serve as fallback", async () => {
  const memory = createMemory();
  const today = new Date().toISOString().slice(0, 10);
  const open = { from: "2026-01-01", to: today };
  const answered = { dateFrom: "2026-01-01", dateTo: `${today}T00:00:01Z`, frozenAt: 1 };
  const bounds = { [`views ${open.from} ${open.to}`]: answered };
  memory.write({ freshness: 300_000, bounds });
  const { client, cache } = openCache(10, { memory });
  client.failing = true;
  cache.open(VIEWS, open);
  const shown = cache.find(VIEWS, open);
  await until(() => shown.problem.value !== null);
  assert.equal(client.sent.at(-1).dateTo, answered.dateTo, "the last request is for the fallback");
});

test("a loaded period or a sitemap tells about how many rows another period has", async () => {
  const { cache } = openCache(600);
  assert.equal(cache.knownRows(VIEWS), null);
  await openAll(cache, OCTOBER);
  assert.equal(cache.knownRows(VIEWS), 600);
  cache.sitemapPages.value = 700;
  assert.equal(cache.knownRows(VIEWS), 700);
  assert.equal(cache.knownRows({ ...VIEWS, name: "searches", key: "query" }), null);
});

/** Opens October. Its first request stays unanswered until `release` is called. */
async function openUnanswered(count = 600) {
  const { client, cache } = openCache(count);
  const release = client.hold();
  cache.open(VIEWS, OCTOBER);
  const shown = cache.find(VIEWS, OCTOBER);
  await until(() => client.sent.length === 1);
  return { client, cache, shown, release };
}

test("a range stopped before its first rows stays stopped when it is reopened", async () => {
  const { cache, shown, release } = await openUnanswered();
  shown.stop();
  cache.open(VIEWS, OCTOBER);
  assert.equal(shown.state.value, "empty");
  release();
  cache.open(VIEWS, SEPTEMBER);
  cache.open(VIEWS, OCTOBER);
  assert.equal(cache.find(VIEWS, OCTOBER), shown);
  assert.equal(shown.state.value, "empty");
  shown.load("small site");
  await until(() => shown.state.value === "complete");
});

test("a range that was left before its first rows resumes when it is reopened", async () => {
  const { cache, shown, release } = await openUnanswered();
  cache.open(VIEWS, SEPTEMBER);
  assert.equal(shown.state.value, "empty");
  release();
  cache.open(VIEWS, OCTOBER);
  await until(() => shown.state.value === "complete");
});

test("reopening the same range does not stop its comparison from loading", async () => {
  const { cache } = openCache(600);
  const shown = await openAll(cache, OCTOBER);
  cache.openEarlier(shown, SEPTEMBER);
  const earlier = cache.findEarlier(shown, SEPTEMBER);
  cache.open(VIEWS, OCTOBER);
  assert.equal(earlier.state.value, "loading");
  await until(() => earlier.state.value === "complete");
});

/** Opens October with 900 rows. The client waits before its second page. */
async function openHalf() {
  const opened = await openUnanswered(900);
  opened.release();
  const release = opened.client.hold();
  await until(() => opened.client.sent.length === 2);
  return { ...opened, release };
}

test("a range that was left while loading resumes when it is reopened", async () => {
  const { client, cache, shown, release } = await openHalf();
  cache.open(VIEWS, SEPTEMBER);
  assert.equal(shown.state.value, "partial");
  release();
  cache.open(VIEWS, OCTOBER);
  await until(() => shown.state.value === "complete");
  assert.equal(new Set(shown.rows.value.map(({ path }) => path)).size, 900);
  assert.ok(client.sent.filter(({ dateFrom }) => dateFrom.startsWith("2026-10")).length <= 5);
});

test("reopening a route resumes loading unless the visitor stopped it", async () => {
  const left = await openHalf();
  left.cache.leave();
  left.release();
  assert.equal(left.shown.state.value, "partial");
  left.cache.open(VIEWS, OCTOBER);
  await until(() => left.shown.state.value === "complete");

  const stopped = await openHalf();
  stopped.shown.stop();
  stopped.release();
  stopped.cache.leave();
  stopped.cache.open(VIEWS, OCTOBER);
  assert.equal(stopped.shown.state.value, "partial");
});

test("a refresh of a range that was still loading loads as far", async () => {
  for (const failures of [0, 1]) {
    const { client, cache, shown, release } = await openHalf();
    client.failing = failures > 0;
    const refreshing = cache.refresh(shown);
    release();
    assert.equal(await refreshing, failures === 0);
    client.failing = false;
    if (failures > 0) assert.equal(await cache.refresh(shown), true);
    const renewed = cache.find(VIEWS, OCTOBER);
    assert.notEqual(renewed, shown);
    await until(() => renewed.state.value === "complete");
    assert.equal(renewed.rows.value.length, 900);
  }
});

test("a range that was still loading resumes when its refresh fails or is canceled", async () => {
  for (const end of ["fail", "cancel"]) {
    const { client, cache, shown, release } = await openHalf();
    client.failing = end === "fail";
    const refreshing = cache.refresh(shown);
    // A second press has no effect.
    assert.equal(await cache.refresh(shown), false);
    assert.equal(shown.state.value, "partial");
    cache.renewal.value.problem.subscribe((problem) => {
      if (problem !== null) client.failing = false;
    });
    if (end === "cancel") cache.stopRenewal();
    release();
    assert.equal(await refreshing, false);
    assert.equal(shown.state.value, "loading");
    await until(() => shown.state.value === "complete");
    assert.equal(cache.find(VIEWS, OCTOBER), shown);
  }
});

test("a canceled refresh of a range that was left does not resume it", async () => {
  const { cache, shown, release } = await openHalf();
  const refreshing = cache.refresh(shown);
  cache.leave();
  release();
  assert.equal(await refreshing, false);
  assert.equal(shown.state.value, "partial");
});

test("a refresh of a range that the visitor stopped loads only as many rows", async () => {
  const { client, cache, shown, release } = await openHalf();
  shown.stop();
  release();
  assert.equal(await cache.refresh(shown), true);
  const renewed = cache.find(VIEWS, OCTOBER);
  assert.deepEqual([renewed.state.value, renewed.rows.value.length], ["partial", 250]);
  assert.equal(client.sent.length, 3);
});

test("changing or closing the comparison stops loading its period", async () => {
  const { client, cache } = openCache(900);
  const shown = await openAll(cache, OCTOBER);
  const release = client.hold();
  cache.openEarlier(shown, SEPTEMBER);
  const september = cache.findEarlier(shown, SEPTEMBER);
  cache.openEarlier(shown, AUGUST);
  assert.notEqual(september.state.value, "loading");
  const august = cache.findEarlier(shown, AUGUST);
  cache.closeEarlier();
  assert.notEqual(august.state.value, "loading");
  release();
  cache.openEarlier(shown, SEPTEMBER);
  await until(() => september.state.value === "complete");
});

/** Opens a day that is still running, and continues on the next day. */
async function openBeforeMidnight(t) {
  t.mock.timers.enable({ apis: ["Date"], now: Date.parse("2026-10-31T23:50:00Z") });
  const { client, cache } = openCache(10);
  const listing = await openAll(cache, OCTOBER);
  t.mock.timers.setTime(Date.parse("2026-11-01T00:10:00Z"));
  return { client, cache, listing };
}

test("a range that was cut off is requested again once its last day has ended", async (t) => {
  const { client, cache, listing } = await openBeforeMidnight(t);
  cache.open(VIEWS, OCTOBER);
  assert.equal(cache.find(VIEWS, OCTOBER), listing, "the rows on the screen stay");
  cache.leave();
  await openAll(cache, OCTOBER);
  assert.deepEqual(column(client.sent, "dateTo"), ["2026-10-31T23:50:00Z", "2026-11-01"]);
});

test("a range whose last day has ended keeps its earlier answer while the gateway fails", async (t) => {
  const { client, cache } = await openBeforeMidnight(t);
  client.failing = true;
  cache.leave();
  cache.open(VIEWS, OCTOBER);
  await until(() => client.sent.at(-1).dateTo === "2026-10-31T23:50:00Z" && client.sent.length > 2);
});

test("a range opened beside another is requested again once its last day has ended", async (t) => {
  const { client, cache } = await openBeforeMidnight(t);
  await cache.openBeside(VIEWS, OCTOBER);
  await cache.openBeside(VIEWS, OCTOBER);
  assert.deepEqual(column(client.sent, "dateTo"), ["2026-10-31T23:50:00Z", "2026-11-01"]);
});
