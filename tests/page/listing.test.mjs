import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { signal } from "@preact/signals";
import { column } from "./columns.mjs";
import { failure, fakeViews } from "./fake_views.mjs";
import { importRows } from "./source.mjs";
import { createGate } from "./waiting.mjs";

const { Listing } = await importRows("listing.ts");
const { REPORTS } = await importRows("report.ts");

const BOUNDS = { dateFrom: "2026-10-01", dateTo: "2026-11-01", frozenAt: null };
const FALLBACK = { dateFrom: "2026-10-01", dateTo: "2026-10-31T09:05:00Z", frozenAt: 1 };
const RANGE = { from: "2026-10-01", to: "2026-10-31" };

const createListing = (client, changes) =>
  new Listing({
    ...{ client, report: REPORTS.views, range: RANGE, bounds: BOUNDS, limit: signal(null) },
    ended: new AbortController().signal,
    ...changes,
  });

/** Opens a listing of `count` rows. A request can fail once at an offset, or always. */
function open(count, options = {}) {
  const { failOnceAt, slowFrom, headersAt, failAlways = () => false, ...changes } = options;
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
      if (offset !== failingOffset) return headersAt?.(offset);
      failingOffset = undefined;
      throw failure();
    },
  });
  const views = createListing(client, changes);
  return { ...client, views, paused: paused.opened, resume: resumed.open };
}

const offsets = (requests) => column(requests, "offset");
const offsetsOf = (count) => Array.from({ length: Math.ceil(count / 250) }, (_, n) => n * 250);
const inOrder = (rows) => rows.value.every(({ path }, index) => path === `/${index}`);
const sizeOf = ({ state, rows }) => [state.value, rows.value.length];

test("loading all rows requests each page once", async () => {
  const { views, requests } = open(1100);
  assert.equal(await views.load("first rows"), true);
  assert.deepEqual(sizeOf(views), ["partial", 250]);
  assert.equal(await views.load("all rows"), true);
  assert.deepEqual(sizeOf(views), ["complete", 1100]);
  assert.ok(inOrder(views.rows));
  assert.deepEqual(offsets(requests), offsetsOf(1100));
});

test("a complete listing requests nothing", async () => {
  const { views, requests } = open(100);
  await views.load("first rows");
  assert.equal(views.state.value, "complete");
  assert.equal(await views.load("all rows"), true);
  assert.deepEqual(offsets(requests), [0]);
});

test("loading resumes at the page that failed", async () => {
  const { views, requests } = open(1000, { failOnceAt: 500 });
  assert.equal(await views.load("all rows"), false);
  assert.equal(views.problem.value.remedy, "retry");
  assert.deepEqual(sizeOf(views), ["partial", 500]);
  assert.equal(await views.load("all rows"), true);
  assert.equal(views.problem.value, null);
  assert.equal(views.rows.value.length, 1000);
  assert.ok(inOrder(views.rows));
  assert.deepEqual(offsets(requests), [0, 250, 500, 500, 750]);
});

test("a listing whose first page fails stays empty", async () => {
  const { views } = open(10, { failOnceAt: 0 });
  assert.equal(await views.load("first rows"), false);
  assert.equal(views.state.value, "empty");
});

test("a stopped listing keeps its rows, has no problem and can resume", async () => {
  const { views, requests } = open(1000);
  await views.load("first rows");
  const loading = views.load("all rows");
  views.stop();
  assert.equal(await loading, false);
  assert.deepEqual([views.state.value, views.problem.value], ["partial", null]);
  assert.equal(await views.load("all rows"), true);
  assert.ok(inOrder(views.rows));
  assert.deepEqual(offsets(requests), offsetsOf(1000));
});

test("concurrent loads of a listing request each page once", async () => {
  const { views, requests } = open(500);
  const [first, second] = await Promise.all([views.load("all rows"), views.load("all rows")]);
  assert.deepEqual([first, second], [true, false]);
  assert.deepEqual(offsets(requests), offsetsOf(500));
});

test("the end of the session stops the loading", async () => {
  const end = new AbortController();
  const { views } = open(1000, { ended: end.signal });
  const loading = views.load("all rows");
  end.abort();
  assert.equal(await loading, false);
  assert.equal(views.problem.value, null);
});

test("the oldest page determines the age of the listing", async () => {
  const stale = (age) => ({ age, "cache-status": "quillgate; fwd=stale; detail=stale" });
  const ages = { 250: "60", 500: "600" };
  const headersAt = (offset) => (ages[offset] ? stale(ages[offset]) : {});
  const { views } = open(1000, { headersAt });
  await views.load("first rows");
  assert.equal(views.staleness.value, null);
  await views.load("all rows");
  const { asOf, why } = views.staleness.value;
  assert.equal(why, "no answer");
  assert.ok(Date.now() - asOf >= 600_000 && Date.now() - asOf < 660_000);
});

test("the rest of the limit is kept while responses do not name it", async () => {
  const { views } = open(500, { headersAt: (offset) => (offset === 0 ? limitOf(7) : {}) });
  await views.load("all rows");
  assert.equal(views.limit.value.left, 7);
});

test("only a refresh bypasses the gateway’s cache", async () => {
  const usual = open(500);
  await usual.views.load("all rows");
  assert.deepEqual(column(usual.requests, "headers"), [{}, {}]);
  const refresh = open(500, { source: "Mintlify" });
  await refresh.views.load("all rows");
  const headers = { "cache-control": "no-cache" };
  assert.deepEqual(column(refresh.requests, "headers"), [headers, headers]);
});

test("a small site is loaded completely and automatically", async () => {
  const { views } = open(800, { headersAt: () => limitOf(60) });
  assert.equal(await views.load("small site"), true);
  assert.deepEqual(sizeOf(views), ["complete", 800]);
});

test("loading the rest stops at the reserve, and continues on request", async () => {
  const { views } = open(4000, { headersAt: (offset) => limitOf(12 - offset / 250) });
  assert.equal(await views.load("rows above reserve"), true);
  assert.deepEqual(sizeOf(views), ["partial", 750]);
  await views.load("all rows");
  assert.equal(views.rows.value.length, 4000);
});

test("at most a thousand rows of a large site are loaded automatically", async () => {
  const { views, requests } = open(4000, { headersAt: () => limitOf(60) });
  await views.load("small site");
  assert.deepEqual(sizeOf(views), ["partial", 1000]);
  assert.deepEqual(offsets(requests), [0, 250, 500, 750]);
});

test("automatic loading stops once half of the budget is spent", async () => {
  const { views, requests } = open(800, { headersAt: (offset) => limitOf(offset === 0 ? 50 : 49) });
  await views.load("small site");
  assert.deepEqual(offsets(requests), [0, 250]);
  assert.equal(views.state.value, "partial");
});

test("automatic loading continues with cached pages, which name no budget", async () => {
  const cached = { "cache-status": "quillgate; hit; ttl=200", age: "5" };
  const { views } = open(600, { headersAt: () => cached });
  await views.load("small site");
  assert.equal(views.state.value, "complete");
  const unknown = open(600);
  await unknown.views.load("small site");
  assert.deepEqual(offsets(unknown.requests), [0]);
});

test("a listing can load a given number of rows", async () => {
  const { views, requests } = open(2000);
  assert.equal(await views.load({ rows: 600 }), true);
  assert.deepEqual(offsets(requests), [0, 250, 500]);
});

test("an unfinished range falls back to its last successful bounds", async () => {
  const { views } = open(300, {
    headersAt: () => ({ age: "120" }),
    failAlways: (dateTo) => dateTo === BOUNDS.dateTo,
    fallback: FALLBACK,
  });
  assert.equal(await views.load("first rows"), true);
  assert.equal(views.problem.value, null);
  assert.equal(views.bounds.value.dateTo, FALLBACK.dateTo);
  assert.equal(views.staleness.value.why, "no answer");
  assert.ok(Date.now() - views.staleness.value.asOf >= 120_000);
});

test("a fallback that fails too leaves the first problem", async () => {
  const { views } = open(300, { failAlways: () => true, fallback: FALLBACK });
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
  const { views } = open(1000);
  const shown = recordRowCounts(views);
  assert.equal(await views.load("all rows"), true);
  assert.deepEqual(shown, [0, 250, 1000]);
  assert.deepEqual([views.requests.value, views.state.value], [4, "complete"]);
  assert.ok(inOrder(views.rows));
});

test("rows appear before a slow page that follows them", async () => {
  const { views, paused, resume } = open(1000, { slowFrom: 750 });
  const shown = recordRowCounts(views);
  const areShown = new Promise((resolve) => {
    views.rows.subscribe(({ length }) => length === 750 && resolve());
  });
  const loading = views.load("all rows");
  await paused;
  await areShown;
  assert.equal(views.state.value, "loading");
  resume();
  assert.equal(await loading, true);
  assert.deepEqual(shown, [0, 250, 750, 1000]);
});

test("rows of a comparison appear only when they are complete", async () => {
  const { views } = open(1000, { isSecondary: true });
  const shown = recordRowCounts(views);
  assert.equal(await views.load("all rows"), true);
  assert.deepEqual(shown, [0, 1000]);
});

test("stopping and failing keep the rows that have not appeared yet", async () => {
  const { views } = open(1000, { failOnceAt: 500, isSecondary: true });
  assert.equal(await views.load("all rows"), false);
  assert.deepEqual([views.rows.value.length, views.requests.value], [500, 2]);
  const { views: stopped, ...slow } = open(1000, { slowFrom: 750, isSecondary: true });
  const loading = stopped.load("all rows");
  await slow.paused;
  stopped.stop();
  assert.deepEqual(sizeOf(stopped), ["partial", 750]);
  slow.resume();
  assert.equal(await loading, false);
  assert.equal(await stopped.load("all rows"), true);
  assert.ok(inOrder(stopped.rows));
  assert.deepEqual(offsets(slow.requests), offsetsOf(1000));
});

const row = (path) => ({ path, human: 2, ai: 1, total: 3 });
const TOTALS = { human: 6, ai: 3, total: 9 };
const PAGES = [
  { views: [row("/a"), row("/b")], totals: TOTALS, missing: [], nextCursor: "/b" },
  { views: [row("/c")], totals: TOTALS, missing: [], nextCursor: null },
];

/** Opens a listing whose archive has these pages, or fails with an error. `calls` are its calls. */
function openArchived(archive, changes = {}) {
  const calls = [];
  const analytics = {
    archivedViews: (params) => ({
      async *pages() {
        calls.push(["archive", params]);
        if (archive instanceof Error) throw archive;
        yield* archive;
      },
    }),
    views: () => ({
      async *pages() {
        calls.push(["platform"]);
        yield { views: [row("/live")], totals: TOTALS, nextPosition: null };
      },
    }),
  };
  const client = { withOptions: () => ({ analytics }) };
  return { calls, listing: createListing(client, { isArchived: true, ...changes }) };
}

const sources = (calls) => calls.map(([source]) => source);
const paths = ({ rows }) => column(rows.value, "path");

test("a listing of archived days has all rows, whatever the goal, and sends no other request", async () => {
  const { calls, listing } = openArchived(PAGES);
  assert.equal(await listing.load("first rows"), true);
  assert.deepEqual(paths(listing), ["/a", "/b", "/c"]);
  assert.deepEqual([listing.state.value, listing.isFromArchive.value], ["complete", true]);
  assert.deepEqual(listing.totals.value, TOTALS);
  const { dateFrom, dateTo } = BOUNDS;
  assert.deepEqual(calls, [["archive", { dateFrom, dateTo, limit: 1000 }]]);
});

test("a listing reads Mintlify if the archive lacks a day or does not answer", async () => {
  const missing = [{ ...PAGES[0], missing: ["2026-10-07"] }];
  const interrupted = [PAGES[0]];
  for (const archive of [missing, interrupted, new Error("bad gateway")]) {
    const { calls, listing } = openArchived(archive);
    assert.equal(await listing.load("first rows"), true);
    assert.deepEqual(paths(listing), ["/live"]);
    assert.equal(listing.isFromArchive.value, false);
    assert.deepEqual(sources(calls), ["archive", "platform"]);
  }
});

test("a listing never asks the archive for part of a day, another report or a project without one", async () => {
  for (const changes of [
    { bounds: { ...BOUNDS, dateTo: "2026-10-31T12:00:00Z" } },
    { report: REPORTS.visitors },
    { isArchived: false },
    { source: "Mintlify" },
  ]) {
    const { calls, listing } = openArchived(PAGES, changes);
    await listing.load("first rows").catch(() => {});
    assert.ok(!sources(calls).includes("archive"), JSON.stringify(changes));
  }
});

test("a stopped listing neither keeps part of the archive nor asks Mintlify", async () => {
  const { calls, listing } = openArchived(PAGES);
  const loading = listing.load("small site");
  listing.stop();
  assert.equal(await loading, false);
  assert.deepEqual([paths(listing), listing.state.value], [[], "empty"]);
  assert.deepEqual(sources(calls), ["archive"]);
});
