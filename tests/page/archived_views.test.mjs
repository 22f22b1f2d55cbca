import assert from "node:assert/strict";
import { test } from "node:test";
import { signal } from "@preact/signals";
import { importSource } from "./source.mjs";

const { Listing } = await importSource("analytics/rows/listing.ts");
const { REPORTS } = await importSource("analytics/rows/report.ts");

const RANGE = { from: "2026-10-01", to: "2026-10-31" };
const BOUNDS = { dateFrom: "2026-10-01", dateTo: "2026-11-01", frozenAt: null };
const row = (path) => ({ path, human: 2, ai: 1, total: 3 });
const TOTALS = { human: 6, ai: 3, total: 9 };
const PAGES = [
  { views: [row("/a"), row("/b")], totals: TOTALS, missing: [], nextCursor: "/b" },
  { views: [row("/c")], totals: TOTALS, missing: [], nextCursor: null },
];

/** Returns a client whose archive has these pages, or fails with an error. It records its calls. */
function fakeClient(archive) {
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
  return { calls, withOptions: () => ({ analytics }) };
}

function open(client, options = {}) {
  return new Listing({
    ...{ client, report: REPORTS.views, range: RANGE, bounds: BOUNDS, isArchived: true },
    ...{ limit: signal(null), ended: new AbortController().signal },
    ...options,
  });
}

const sources = ({ calls }) => calls.map(([source]) => source);
const paths = ({ rows }) => rows.value.map(({ path }) => path);

test("a listing of archived days has all rows, whatever the goal, and sends no other request", async () => {
  const client = fakeClient(PAGES);
  const listing = open(client);
  assert.equal(await listing.load("first rows"), true);
  assert.deepEqual(paths(listing), ["/a", "/b", "/c"]);
  assert.deepEqual([listing.state.value, listing.isFromArchive.value], ["complete", true]);
  assert.deepEqual(listing.totals.value, TOTALS);
  const { dateFrom, dateTo } = BOUNDS;
  assert.deepEqual(client.calls, [["archive", { dateFrom, dateTo, limit: 1000 }]]);
});

test("a listing reads Mintlify if the archive lacks a day or does not answer", async () => {
  const missing = [{ ...PAGES[0], missing: ["2026-10-07"] }];
  const interrupted = [PAGES[0]];
  for (const archive of [missing, interrupted, new Error("bad gateway")]) {
    const client = fakeClient(archive);
    const listing = open(client);
    assert.equal(await listing.load("first rows"), true);
    assert.deepEqual(paths(listing), ["/live"]);
    assert.equal(listing.isFromArchive.value, false);
    assert.deepEqual(sources(client), ["archive", "platform"]);
  }
});

test("a listing never asks the archive for part of a day, another report or a project without one", async () => {
  for (const options of [
    { bounds: { ...BOUNDS, dateTo: "2026-10-31T12:00:00Z" } },
    { report: REPORTS.visitors },
    { isArchived: false },
    { source: "Mintlify" },
  ]) {
    const client = fakeClient(PAGES);
    await open(client, options)
      .load("first rows")
      .catch(() => {});
    assert.ok(!sources(client).includes("archive"), JSON.stringify(options));
  }
});

test("a stopped listing neither keeps part of the archive nor asks Mintlify", async () => {
  const client = fakeClient(PAGES);
  const listing = open(client);
  const loading = listing.load("small site");
  listing.stop();
  assert.equal(await loading, false);
  assert.deepEqual([paths(listing), listing.state.value], [[], "empty"]);
  assert.deepEqual(sources(client), ["archive"]);
});
