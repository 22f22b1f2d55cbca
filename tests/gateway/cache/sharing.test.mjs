/**
 * Shared page views. The gateway fetches an upstream page once for concurrent and later readers.
 * The slices that it returns equal the upstream's own responses. Callers without the project or the
 * scope receive no cached page.
 */

import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { Client } from "../../../pkg/dist/node.js";
import {
  assertViews,
  cacheOf,
  caller,
  closedRange,
  costOf,
  openAll,
  PAGE_ROWS,
  readAll,
  tally,
  upstreamsOwn,
  viewsOf,
} from "../analytics_requests.mjs";
import { assertProblem, PROJECT, startGate } from "../recorded_gateway.mjs";
import {
  EMPTY,
  gate,
  HIT,
  LIMIT,
  MISS,
  OTHER,
  ROWS,
  UPSTREAM,
  unlimited,
  useGate,
} from "./cached_views.mjs";

useGate("cache");

const READERS = 200;
const JOINED = "fwd=uri-miss; collapsed";

/** Returns the `[limit, offset]` of each request that the simulator received. */
async function pagesRequested({ upstream }) {
  const requests = await upstream.requests();
  return requests.map(({ target }) => {
    const query = new URL(target, upstream.url).searchParams;
    return [query.get("limit"), query.get("offset")].map(Number);
  });
}

describe("many readers of one page", () => {
  test(`sends one upstream request for ${READERS} concurrent readers, and returns the same bytes to all`, async () => {
    const target = viewsOf({ ...closedRange(), limit: PAGE_ROWS });
    const expected = await upstreamsOwn(gate, target);
    const { result, visits, units } = await costOf(gate, async () => {
      await gate.upstream.hold();
      const readers = openAll(gate, READERS, target);
      await Promise.all(readers.map(({ sent }) => sent));
      await gate.upstream.untilHeld(1);
      await gate.upstream.release();
      return readAll(readers);
    });
    assert.deepEqual({ visits, units }, { visits: 1, units: 1 });
    assert.equal(result.filter(({ status }) => status === 200).length, READERS);
    assert.equal(new Set(result.map(({ text }) => text)).size, 1);
    assert.equal(new Set(result.map((answer) => answer.header("etag"))).size, 1);
    assert.deepEqual(result[0].json, expected);
    const { [MISS]: first, [JOINED]: joined = 0, [HIT]: late = 0, ...others } = tally(result);
    assert.deepEqual([first, joined + late, others], [1, READERS - 1, {}]);
  });
});

describe("upstream pages of 250 rows", () => {
  /** Requests the slice of each `[limit, offset]`, one after another. Returns the responses. */
  async function getSlices(range, slices) {
    const answers = [];
    for (const [limit, offset] of slices) {
      answers.push(await gate.get(viewsOf({ ...range, limit, offset })));
    }
    return answers;
  }

  test("sends one request and charges one unit for ten pages of 25 rows", async () => {
    const range = closedRange();
    const slices = Array.from({ length: 10 }, (_, page) => [25, 25 * page]);
    const { result, visits, units } = await costOf(gate, () => getSlices(range, slices));
    assert.deepEqual({ visits, units }, { visits: 1, units: 1 });
    assert.deepEqual(await pagesRequested(gate), [[PAGE_ROWS, 0]]);
    assert.deepEqual(result.map(cacheOf), [MISS, ...Array(9).fill(HIT)]);
    const whole = await upstreamsOwn(gate, viewsOf({ ...range, limit: PAGE_ROWS }));
    assert.deepEqual(
      result.flatMap(({ json }) => json.views),
      whole.views,
    );
  });

  for (const [limit, offset, pages] of [
    [1, 0, [0]],
    [30, 730, [500, 750]],
    [2, 249, [0, 250]],
  ]) {
    test(`fetches only the pages at offset ${pages.join(" and ")} for limit ${limit} and offset ${offset}`, async () => {
      const target = viewsOf({ ...closedRange(), limit, offset });
      const { result, visits, units } = await costOf(gate, () => gate.get(target));
      assert.deepEqual({ visits, units }, { visits: pages.length, units: pages.length });
      const requested = await pagesRequested(gate);
      assert.deepEqual(
        requested,
        pages.map((start) => [PAGE_ROWS, start]),
      );
      assert.deepEqual(assertViews(result, MISS), await upstreamsOwn(gate, target));
    });
  }

  test("fetches only the uncached page of a slice across two pages", async () => {
    const range = closedRange();
    await gate.get(viewsOf(range));
    const target = viewsOf({ ...range, limit: 20, offset: 240 });
    const { result, visits } = await costOf(gate, () => gate.get(target));
    assertViews(result, MISS);
    assert.equal(visits, 1);
    assert.deepEqual((await pagesRequested(gate)).at(-1), [PAGE_ROWS, 250]);
  });

  test("returns unknown fields of page views and their rows", async () => {
    const target = viewsOf(closedRange());
    const row = { path: "/", human: 1, ai: 2, total: 3, trend: { week: [1, null, "x"] } };
    const totals = { human: 1, ai: 2, total: 3, bots: 4 };
    const body = { totals, views: [row], hasMore: false, generatedAt: "now", notes: [{ a: 1 }] };
    await gate.upstream.fault({ fault: { kind: "json", status: 200, body } });
    assert.deepEqual(assertViews(await gate.get(target), MISS), body);
    assert.deepEqual(assertViews(await gate.get(target), HIT), body);
  });

  test("returns an empty page for a project without views", async () => {
    const range = closedRange();
    for (const [limit, offset] of [
      [25, 0],
      [250, 0],
      [25, 1000],
    ]) {
      const target = viewsOf({ project: EMPTY, ...range, limit, offset });
      const own = await upstreamsOwn(gate, target);
      const answer = await gate.get(target, caller(gate, "erin", { projects: [EMPTY] }));
      assert.deepEqual(answer.json, own);
      assert.deepEqual([own.views, own.hasMore], [[], false]);
    }
  });

  test("sends one request per page when the package iterates over page views", async () => {
    const range = closedRange();
    const options = {
      baseUrl: gate.gateway.url,
      projectId: PROJECT,
      auth: { token: gate.token() },
    };
    const client = new Client({ ...options, maxRetries: 0 });
    const { views } = await gate.upstream.views({ projectId: PROJECT, ...range });
    const walk = async (limit) => {
      const rows = [];
      for await (const row of client.analytics.views({ ...range, limit })) rows.push({ ...row });
      return rows;
    };
    const first = await costOf(gate, () => walk(undefined));
    assert.equal(first.result.length, ROWS);
    assert.deepEqual(first.result, views);
    const pages = ROWS / PAGE_ROWS;
    assert.deepEqual([first.visits, first.units], [pages, pages]);
    const second = await costOf(gate, () => walk(100));
    assert.deepEqual([second.result, second.visits, second.units], [views, 0, 0]);
  });
});

describe("a slice equals the upstream's own response", () => {
  /** Returns a seeded generator of integers from 0 to `limit - 1`. */
  function seededRandom(seed) {
    let state = seed;
    return (limit) => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return Math.floor((state / 2 ** 32) * limit);
    };
  }

  /**
   * Returns `[limit, offset]` of slices at the edges of upstream pages, of slices that end at the
   * last row, and of 20 random slices.
   */
  function slicesOf(rows) {
    const next = seededRandom(rows);
    const edges = [0, 249, 250, 251, rows - 1, rows, rows + 1, rows + 249, rows + 250, rows + 9999];
    const atEdges = edges.flatMap((offset) => [1, 25, 250].map((limit) => [limit, offset]));
    const upToTheEnd = [1, 50, 250].map((limit) => [limit, rows - limit]);
    const others = Array.from({ length: 20 }, () => [1 + next(250), next(rows + 300)]);
    return [...atEdges, ...upToTheEnd, ...others];
  }

  /**
   * Returns the numbers of the upstream pages that the gateway needs for a slice. The gateway
   * fetches a second page only if the slice's first page is not the last page of the list.
   */
  function pagesOf([limit, offset], rows) {
    const last = Math.max(0, Math.ceil(rows / PAGE_ROWS) - 1);
    const first = Math.floor(offset / PAGE_ROWS);
    const end = Math.floor((offset + limit - 1) / PAGE_ROWS);
    return first < end && first < last ? [first, end] : [first];
  }

  /**
   * Asserts that each slice equals the upstream's own response, and that the gateway fetches only
   * pages that are not cached yet.
   */
  async function assertSlices(own, rows) {
    const range = closedRange();
    const slices = slicesOf(rows);
    const targets = slices.map(([limit, offset]) => viewsOf({ ...range, limit, offset }));
    const expected = await Promise.all(targets.map((target) => upstreamsOwn(own, target)));
    const cached = new Set();
    let visits = await own.received();
    for (const [at, slice] of slices.entries()) {
      const answer = await own.get(targets[at]);
      assert.deepEqual([answer.status, answer.json], [200, expected[at]], targets[at]);
      const before = cached.size;
      for (const page of pagesOf(slice, rows)) cached.add(page);
      visits += cached.size - before;
      assert.equal(await own.received(), visits, targets[at]);
    }
  }

  test("returns slices of 610 rows with a partial last page that equal the upstream's own response", async (t) => {
    const upstream = { ...UPSTREAM, pages: 610 };
    const own = await startGate("cache-slices", { upstream, gateway: { vars: LIMIT } });
    t.after(() => own.stop());
    await unlimited(own);
    await assertSlices(own, 610);
  });
});

describe("an equivalent query", () => {
  const range = { dateFrom: "2001-05-06", dateTo: "2002-07-08" };
  const list = `dateFrom=${range.dateFrom}&dateTo=${range.dateTo}`;
  const views = (query, project = PROJECT) => `/v1/analytics/${project}/views?${query}`;
  let first;

  before(async () => {
    first = await gate.get(views(list));
    assertViews(first, MISS);
  });

  for (const [what, target] of [
    ["the default limit", views(`${list}&limit=50`)],
    ["encoded dates", views("dateFrom=2001%2D05%2d06&dateTo=%32002-07-08")],
    ["a fully encoded project", views(list, "%64%65%6d%6F%2d%64%6F%63%73")],
  ]) {
    test(`serves a query with ${what} from the same cache entry`, async () => {
      const answer = await gate.get(target);
      assertViews(answer, HIT);
      assert.equal(answer.text, first.text);
      assert.equal(await gate.received(), 0);
    });
  }

  for (const [what, other] of [
    ["another start", { dateFrom: "2001-05-07", dateTo: "2002-07-08" }],
    ["the end of the first range as its start", { dateFrom: "2002-07-08", dateTo: "2002-07-09" }],
  ]) {
    test(`serves a query with ${what} from a separate cache entry`, async () => {
      const target = viewsOf(other);
      const answer = await gate.get(target);
      assert.deepEqual(assertViews(answer, MISS), await upstreamsOwn(gate, target));
      assert.notEqual(answer.text, first.text);
    });
  }
});

describe("a cached page", () => {
  const range = closedRange();
  const target = viewsOf(range);
  let cached;

  before(async () => {
    cached = await gate.get(target);
  });

  test("charges no budget for a cached page, and logs a hit", async () => {
    const answer = await gate.get(target);
    assertViews(answer, HIT);
    assert.equal(answer.header("ratelimit"), undefined);
    const line = await gate.logged(answer.header("x-request-id"));
    const { cache, budgetLeft, upstreamStatus, status } = line;
    assert.deepEqual(
      { cache, budgetLeft, upstreamStatus, status },
      { cache: "hit", budgetLeft: null, upstreamStatus: null, status: 200 },
    );
  });

  test("serves the cached page to every caller with access to the project", async () => {
    for (const credentials of [
      caller(gate, "bob"),
      caller(gate, "carol", { projects: [OTHER, PROJECT] }),
    ]) {
      const answer = await gate.get(target, credentials);
      assertViews(answer, HIT);
      assert.equal(answer.text, cached.text);
    }
    assert.equal(await gate.received(), 0);
  });

  test("does not serve the cached page to callers without the project or the scope", async () => {
    const eve = caller(gate, "eve", { projects: [OTHER] });
    for (const project of [PROJECT, "demo%2Ddocs", "demo%2ddocs", "%64emo-docs"]) {
      const answer = await gate.get(viewsOf({ project, ...range }), eve);
      assertProblem(answer, 403, "project-not-allowed");
    }
    const blind = caller(gate, "blind", { scope: "jobs:create jobs:read" });
    assertProblem(await gate.get(target, blind), 403, "insufficient-scope");
    const stranger = await gate.get(target, { authorization: null });
    assert.equal(stranger.status, 401);
    const matching = [["If-None-Match", "*"]];
    const probing = await gate.get(target, { ...eve, headers: matching });
    assertProblem(probing, 403, "project-not-allowed");
  });

  test("serves the same query for another project from a separate cache entry", async () => {
    const eve = caller(gate, "eve", { projects: [OTHER] });
    for (const [project, cache] of [
      [OTHER, MISS],
      ["other%2Ddocs", HIT],
      ["%6fther-docs", HIT],
    ]) {
      const answer = await gate.get(viewsOf({ project, ...range }), eve);
      assertViews(answer, cache);
      assert.notEqual(answer.text, cached.text);
      const own = await upstreamsOwn(gate, viewsOf({ project: OTHER, ...range }));
      assert.deepEqual(answer.json, own);
    }
    assert.equal((await gate.get(target)).text, cached.text);
  });
});
