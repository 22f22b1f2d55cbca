/**
 * What page views cost that nobody pays for: a caller may ask for one page in thousands of ways, a
 * page may be large, and many may look at a range that goes on. The simulator's counters and those
 * of the organisation's gate are the judges.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { Client } from "../../pkg/dist/node.js";
import { importSource } from "../page/source.mjs";
import { PROJECT, startGate } from "./gate.mjs";
import {
  assertViews,
  budget,
  cacheOf,
  closedRange,
  costOf,
  dayFromToday,
  gateCalls,
  NO_CACHE,
  organisation,
  PAGE_ROWS,
  upstreamsOwn,
  viewsOf,
  watchedConfig,
} from "./matrix.mjs";

const LIMIT = { ANALYTICS_LIMIT_PER_HOUR: "100000" };
const ROWS = 600;
const MISS = "fwd=uri-miss; stored";
const HIT = "hit; ttl=+";
const ASKED_FOR = "fwd=request; stored";
/** Requests under way at a time, where there are thousands. */
const AT_ONCE = 8;
const FIVE_MINUTES_MS = 300_000;

let gate;
let worker;

before(async () => {
  worker = watchedConfig();
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

/** A simulator that has forgotten everything, and lets itself be asked at will. */
async function unlimited({ upstream }) {
  await upstream.reset();
  await upstream.setLimits({ analytics: null });
}

/** Asks for each target, a few at a time; gives the answers in that order. */
async function askAll(targets) {
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
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return answers;
}

describe("one page in thousands of ways", () => {
  const COUNT = 3000;
  const MIDNIGHTS = [
    (zeros) => `2024-01-01T00:00:00.${zeros}Z`,
    (zeros) => `2024-01-01T00:00:00.000${zeros}9+00:00`,
    (zeros) => `2024-01-01T05:30:00.${zeros}+05:30`,
    (zeros) => `2023-12-31T14:00:00.${zeros}-10:00`,
  ];

  /** The request of this number, which no other one is the same as. */
  function disguise(at, dateFrom) {
    const dateTo = MIDNIGHTS[at % MIDNIGHTS.length]("0".repeat(1 + (at % 997)));
    const limit = 1 + (at % PAGE_ROWS);
    const offset = (at * 7) % (PAGE_ROWS + 1 - limit);
    return { dateFrom, dateTo, limit, offset };
  }

  test(`${COUNT} spellings, limits and offsets cost one request and one call`, async () => {
    const range = { ...closedRange(), dateTo: "2024-01-01T00:00:00Z" };
    const whole = viewsOf({ ...range, limit: PAGE_ROWS });
    const expected = await upstreamsOwn(gate, whole);
    const calls = await gateCalls(gate);
    const disguises = Array.from({ length: COUNT }, (_, at) => disguise(at, range.dateFrom));
    assert.equal(new Set(disguises.map(viewsOf)).size, COUNT);
    const { result, visits, units } = await costOf(gate, async () => {
      assertViews(await gate.get(whole), MISS);
      return await askAll(disguises.map(viewsOf));
    });
    assert.deepEqual({ visits, units }, { visits: 1, units: 1 });
    assert.equal((await gateCalls(gate)) - calls, 1);
    for (const [at, answer] of result.entries()) {
      const { limit, offset } = disguises[at];
      const views = expected.views.slice(offset, offset + limit);
      assert.deepEqual(assertViews(answer, HIT), { ...expected, views, hasMore: true });
    }
  });

  test("answers of two pages and their validators are cut from the same pages", async () => {
    const range = closedRange();
    for (const offset of [0, 250, 500]) await gate.get(viewsOf({ ...range, offset }));
    const calls = await gateCalls(gate);
    const validators = new Set();
    for (const [limit, offset] of [
      [250, 1],
      [2, 249],
      [250, 450],
      [250, 599],
      [250, 600],
      [1, 5],
    ]) {
      const target = viewsOf({ ...range, limit, offset });
      const own = await upstreamsOwn(gate, target);
      for (const answer of [await gate.get(target), await gate.get(target)]) {
        assert.deepEqual(assertViews(answer, HIT), own, target);
        validators.add(answer.header("etag"));
      }
      const matching = { headers: [["If-None-Match", [...validators].at(-1)]] };
      assert.equal((await gate.get(target, matching)).status, 304);
    }
    assert.equal(validators.size, 6);
    assert.equal(await gateCalls(gate), calls);
  });

  test("a page that was fetched again is what all answers are cut from", async () => {
    const range = closedRange();
    const slices = [0, 3, 7].map((offset) => viewsOf({ ...range, limit: 5, offset }));
    const page = await upstreamsOwn(gate, viewsOf({ ...range, limit: PAGE_ROWS }));
    for (const target of slices) await gate.get(target);
    for (const row of page.views) row.human += 1;
    await gate.upstream.fault({ fault: { kind: "json", status: 200, body: page } });
    assertViews(await gate.get(slices[0], { headers: NO_CACHE }), ASKED_FOR);
    for (const [at, offset] of [0, 3, 7].entries()) {
      const { views } = assertViews(await gate.get(slices[at]), HIT);
      assert.deepEqual(views, page.views.slice(offset, offset + 5));
    }
  });
});

describe("the pages on disk", () => {
  const MOST = 2000;

  test(`are ${MOST} at most, and those that were kept last`, async () => {
    const range = closedRange();
    // Behind the last row: as cheap for the simulator as a page can be.
    const target = (page) => viewsOf({ ...range, offset: ROWS + PAGE_ROWS * (1 + page) });
    const pages = Array.from({ length: MOST + 100 }, (_, page) => page);
    const { units } = await costOf(gate, () => askAll(pages.map(target)));
    assert.equal(units, pages.length);
    const { cachedPages } = await organisation(gate);
    assert.ok(cachedPages <= MOST && cachedPages >= MOST / 2, String(cachedPages));
    const first = await costOf(gate, () => gate.get(target(0)));
    assert.equal(first.visits, 1);
    const last = await costOf(gate, () => gate.get(target(pages.length - 1)));
    assert.equal(last.visits, 0);
  });
});

describe("a page of large rows", () => {
  /** About 6 kB each, most of them characters of two halves: 1.5 MB together. */
  function largePage() {
    const path = (at) => `/${at}/${"-".repeat(at % 2)}${"🚀".repeat(1500)}`;
    const views = Array.from({ length: PAGE_ROWS }, (_, at) => ({ path: path(at), total: at }));
    return { totals: { total: 1 }, views, hasMore: false };
  }

  test("costs one unit however little of it is asked for, also after a restart", async (t) => {
    const state = mkdtempSync(join(tmpdir(), "quillgate-large-"));
    const own = await startGate("cache-large", { gateway: { state, vars: LIMIT } });
    t.after(async () => {
      await own.stop();
      rmSync(state, { recursive: true, force: true, maxRetries: 5 });
    });
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
    await own.assertDiscreet();
  });
});

describe("a range that goes on", () => {
  /** Instants of the same five minutes, the latest of which may be to come. */
  function instants() {
    const begin = Math.floor(Date.now() / FIVE_MINUTES_MS) * FIVE_MINUTES_MS;
    return [0, 1, 123_456, FIVE_MINUTES_MS - 1].map((milliseconds) => begin + milliseconds);
  }

  function clientOf() {
    const options = { baseUrl: gate.gateway.url, projectId: PROJECT, token: gate.token() };
    return new Client({ ...options, maxRetries: 0 });
  }

  test("costs one request for all who open the page within five minutes", async () => {
    const { boundsOf, presetRange } = await importSource("analytics/range.ts");
    const client = clientOf();
    const { visits } = await costOf(gate, async () => {
      for (const now of instants()) {
        const today = new Date(now).toISOString().slice(0, 10);
        const { dateFrom, dateTo } = boundsOf(presetRange("last-28-days", today), now);
        const pages = client.pageViews.list({ dateFrom, dateTo, limit: PAGE_ROWS }).pages();
        const { value } = await pages.next();
        assert.equal(value.views.length, PAGE_ROWS);
        await pages.return();
      }
    });
    assert.equal(visits, 1);
  });

  test("costs one walk for all whose client leaves the end open", async (t) => {
    const client = clientOf();
    const dateFrom = dayFromToday(-60);
    const walks = instants();
    const clock = t.mock.method(Date, "now");
    const { visits } = await costOf(gate, async () => {
      for (const now of walks) {
        clock.mock.mockImplementation(() => now);
        const rows = await client.pageViews.list({ dateFrom }).all();
        assert.equal(rows.length, ROWS);
      }
      clock.mock.restore();
    });
    assert.equal(visits, Math.ceil(ROWS / PAGE_ROWS));
  });

  test("is not over for two more days", async () => {
    for (const [days, seconds] of [
      [0, 300],
      [-1, 300],
      [-2, 86_400],
    ]) {
      const range = { ...closedRange(), dateTo: dayFromToday(days) };
      const answer = await gate.get(viewsOf(range));
      assert.equal(cacheOf(answer), MISS);
      assert.equal(answer.header("cache-control"), `private, max-age=${seconds}`, String(days));
    }
  });
});

test("neither answers nor logs hold the admin key, the secret or a token", async () => {
  await gate.assertDiscreet();
});
