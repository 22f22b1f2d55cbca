/**
 * Bounds of the cache for page views. Thousands of spellings of one query share an upstream page.
 * Clients with open-ended ranges share each page within the same five minutes. The gateway caches
 * at most 2,000 pages on disk.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { Client } from "../../../pkg/dist/node.js";
import { importSource } from "../../page/source.mjs";
import {
  assertViews,
  budget,
  closedRange,
  costOf,
  dayFromToday,
  NO_CACHE,
  organization,
  PAGE_ROWS,
  upstreamsOwn,
  viewsOf,
} from "../analytics_requests.mjs";
import { runSql } from "../jobs_gateway.mjs";
import { PROJECT, startGate } from "../recorded_gateway.mjs";
import { instrumentedConfig, objectCalls } from "./instrumented_worker.mjs";

const LIMIT = { ANALYTICS_LIMIT_PER_HOUR: "100000" };
const ROWS = 600;
const MISS = "fwd=uri-miss; stored";
const HIT = "hit; ttl=+";
const REFETCHED = "fwd=request; stored";
/** Number of concurrent requests in tests that send thousands. */
const CONCURRENCY = 8;
const FIVE_MINUTES_MS = 300_000;

let gate;
let worker;

before(async () => {
  worker = instrumentedConfig();
  gate = await startGate("cache-bounds", {
    upstream: { pages: ROWS },
    gateway: { config: worker.config, vars: LIMIT },
  });
});
after(async () => {
  await gate?.stop();
  worker?.dispose();
});
beforeEach(() => unlimited(gate));

/** Resets the simulator and removes its limit on analytics. */
async function unlimited({ upstream }) {
  await upstream.reset();
  await upstream.setLimits({ analytics: null });
}

/**
 * Requests all targets, {@link CONCURRENCY} at a time. Returns the responses in the order of the
 * targets.
 */
async function getAll(targets) {
  const authorization = `Bearer ${gate.token()}`;
  const answers = [];
  let next = 0;
  const work = async () => {
    while (next < targets.length) {
      const at = next;
      next += 1;
      answers[at] = await gate.get(targets[at], { authorization });
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  return answers;
}

/** Starts a gateway that keeps its storage across restarts, until the end of the test. */
async function startStored(t, name) {
  const state = mkdtempSync(join(tmpdir(), `quillgate-${name}-`));
  const own = await startGate(name, { upstream: { pages: ROWS }, gateway: { state, vars: LIMIT } });
  t.after(async () => {
    await own.stop();
    rmSync(state, { recursive: true, force: true, maxRetries: 5 });
  });
  await unlimited(own);
  return { own, state };
}

describe("hundreds of spellings of one page", () => {
  const COUNT = 500;
  const MIDNIGHTS = [
    (zeros) => `2024-01-01T00:00:00.${zeros}Z`,
    (zeros) => `2024-01-01T00:00:00.000${zeros}9+00:00`,
    (zeros) => `2024-01-01T05:30:00.${zeros}+05:30`,
    (zeros) => `2023-12-31T14:00:00.${zeros}-10:00`,
  ];

  /**
   * Returns query parameters for a slice of the same upstream page, written differently for each
   * number `at`.
   */
  function spelling(at, dateFrom) {
    const dateTo = MIDNIGHTS[at % MIDNIGHTS.length]("0".repeat(1 + (at % 97)));
    const limit = 1 + (at % PAGE_ROWS);
    const offset = (at * 7) % (PAGE_ROWS + 1 - limit);
    return { dateFrom, dateTo, limit, offset };
  }

  test(`sends one request and one object call for ${COUNT} spellings, limits and offsets of a page`, async () => {
    const range = { ...closedRange(), dateTo: "2024-01-01T00:00:00Z" };
    const whole = viewsOf({ ...range, limit: PAGE_ROWS });
    const expected = await upstreamsOwn(gate, whole);
    const calls = await objectCalls(gate);
    const spellings = Array.from({ length: COUNT }, (_, at) => spelling(at, range.dateFrom));
    assert.equal(new Set(spellings.map(viewsOf)).size, COUNT);
    const { result, visits, units } = await costOf(gate, async () => {
      assertViews(await gate.get(whole), MISS);
      return await getAll(spellings.map(viewsOf));
    });
    assert.deepEqual({ visits, units }, { visits: 1, units: 1 });
    assert.equal((await objectCalls(gate)) - calls, 1);
    for (const [at, answer] of result.entries()) {
      const { limit, offset } = spellings[at];
      const views = expected.views.slice(offset, offset + limit);
      assert.deepEqual(assertViews(answer, HIT), { ...expected, views, hasMore: true });
    }
  });

  test("returns the new rows in every slice of a page that was fetched again", async () => {
    const range = closedRange();
    const slices = [0, 3, 7].map((offset) => viewsOf({ ...range, limit: 5, offset }));
    const page = await upstreamsOwn(gate, viewsOf({ ...range, limit: PAGE_ROWS }));
    for (const target of slices) await gate.get(target);
    for (const row of page.views) row.human += 1;
    await gate.upstream.fault({ fault: { kind: "json", status: 200, body: page } });
    assertViews(await gate.get(slices[0], { headers: NO_CACHE }), REFETCHED);
    for (const [at, offset] of [0, 3, 7].entries()) {
      const { views } = assertViews(await gate.get(slices[at]), HIT);
      assert.deepEqual(views, page.views.slice(offset, offset + 5));
    }
  });
});

describe("the pages on disk", () => {
  const MAX_PAGES = 2000;

  /** Stores {@link MAX_PAGES} pages of the list of the only stored page. */
  const FILL = `WITH RECURSIVE one (number) AS
      (SELECT 1 UNION ALL SELECT number + 1 FROM one WHERE number < ${MAX_PAGES - 1})
    INSERT INTO page (list, number, text, tag, rows, has_more, totals, fetched, fresh_until)
      SELECT list, one.number, text, tag, rows, has_more, totals, fetched, fresh_until
      FROM page, one`;

  test(`caches at most ${MAX_PAGES} pages on disk and evicts the oldest first`, async (t) => {
    const { own, state } = await startStored(t, "cache-pages");
    const range = closedRange();
    const target = (page) => viewsOf({ ...range, offset: PAGE_ROWS * page });
    await own.get(target(0));
    await own.restart(() => runSql(state, [[FILL]], "organisation", "ORG_GATE"));
    assert.equal((await organization(own)).cachedPages, MAX_PAGES);
    await own.get(target(MAX_PAGES));
    const { cachedPages } = await organization(own);
    assert.ok(cachedPages <= MAX_PAGES && cachedPages >= MAX_PAGES / 2, String(cachedPages));
    const first = await costOf(own, () => own.get(target(0)));
    assert.equal(first.visits, 1);
    const last = await costOf(own, () => own.get(target(MAX_PAGES - 1)));
    assert.equal(last.visits, 0);
  });
});

describe("a page of large rows", () => {
  /** Returns a page of 1.5 MB. Each row takes about 6 kB and consists mostly of surrogate pairs. */
  function largePage() {
    const path = (at) => `/${at}/${"-".repeat(at % 2)}${"🚀".repeat(1500)}`;
    const views = Array.from({ length: PAGE_ROWS }, (_, at) => ({ path: path(at), total: at }));
    return { totals: { total: 1 }, views, hasMore: false };
  }

  test("charges one unit for all slices of a page of large rows, even after a restart", async (t) => {
    const { own } = await startStored(t, "cache-large");
    const range = closedRange();
    const page = largePage();
    assert.ok(Buffer.byteLength(JSON.stringify(page)) > 1_500_000);
    await own.upstream.fault({ times: 1, fault: { kind: "json", status: 200, body: page } });
    const { left } = await budget(own);
    const small = await own.get(viewsOf({ ...range, limit: 1, offset: 7 }));
    assert.deepEqual(assertViews(small, MISS).views, [page.views[7]]);
    const other = await own.get(viewsOf({ ...range, limit: 2, offset: 248 }));
    assert.deepEqual(assertViews(other, HIT).views, page.views.slice(248));
    assert.equal(left - (await budget(own)).left, 1);
    await own.restart();
    const whole = await own.get(viewsOf({ ...range, limit: PAGE_ROWS }));
    assert.deepEqual(assertViews(whole, HIT), page);
    assert.equal(await own.received(), 1);
  });
});

describe("a range that includes today", () => {
  /**
   * Returns instants within the same five minutes, but not within the first five of a day (UTC).
   * Some may be in the future.
   */
  function instants() {
    const now = Date.parse(`${dayFromToday(0)}T00:05:00Z`);
    const start = Math.floor(Math.max(now, Date.now()) / FIVE_MINUTES_MS) * FIVE_MINUTES_MS;
    return [0, 1, 123_456, FIVE_MINUTES_MS - 1].map((milliseconds) => start + milliseconds);
  }

  function newClient() {
    const options = {
      baseUrl: gate.gateway.url,
      projectId: PROJECT,
      auth: { token: gate.token() },
    };
    return new Client({ ...options, maxRetries: 0 });
  }

  test("sends one request for all clients that open the web page within five minutes", async () => {
    const { boundsOf, presetRange } = await importSource("analytics/period/range.ts");
    const client = newClient();
    const { visits } = await costOf(gate, async () => {
      for (const now of instants()) {
        const today = new Date(now).toISOString().slice(0, 10);
        const { dateFrom, dateTo } = boundsOf(presetRange("last-28-days", today), now);
        const pages = client.analytics.views({ dateFrom, dateTo, limit: PAGE_ROWS }).pages();
        const { value } = await pages.next();
        assert.equal(value.views.length, PAGE_ROWS);
        await pages.return();
      }
    });
    assert.equal(visits, 1);
  });

  test("fetches each page once for all clients with an open-ended range within five minutes", async (t) => {
    const client = newClient();
    const dateFrom = dayFromToday(-60);
    const walks = instants();
    const clock = t.mock.method(Date, "now");
    const { visits } = await costOf(gate, async () => {
      for (const now of walks) {
        clock.mock.mockImplementation(() => now);
        const rows = await client.analytics.views({ dateFrom }).all();
        assert.equal(rows.length, ROWS);
      }
      clock.mock.restore();
    });
    assert.equal(visits, Math.ceil(ROWS / PAGE_ROWS));
  });
});
