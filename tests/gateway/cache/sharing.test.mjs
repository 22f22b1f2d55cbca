import assert from "node:assert/strict";
import { describe, test } from "node:test";
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
import { assertProblem, before, PROJECT } from "../recorded_gateway.mjs";
import { HIT, LIMIT, MISS, OTHER, useCache } from "./cached_views.mjs";

const gate = useCache("cache", { gateway: { vars: LIMIT } });

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

  test("returns unknown fields of page views and their rows", async () => {
    const target = viewsOf(closedRange());
    const row = { path: "/", human: 1, ai: 2, total: 3, trend: { week: [1, null, "x"] } };
    const totals = { human: 1, ai: 2, total: 3, bots: 4 };
    const body = { totals, views: [row], hasMore: false, generatedAt: "now", notes: [{ a: 1 }] };
    await gate.upstream.fault({ fault: { kind: "json", status: 200, body } });
    assert.deepEqual(assertViews(await gate.get(target), MISS), body);
    assert.deepEqual(assertViews(await gate.get(target), HIT), body);
  });
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
