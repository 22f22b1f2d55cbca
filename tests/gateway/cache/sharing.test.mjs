import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startGateway } from "../../harness/gateway.mjs";
import {
  assertViews,
  cacheOf,
  caller,
  closedRange,
  costing,
  NO_CACHE,
  openAll,
  openRange,
  PAGE_ROWS,
  readAll,
  tally,
  until,
  upstreamsOwn,
  viewsOf,
} from "../analytics_requests.mjs";
import { assertProblem, before, PROJECT } from "../recorded_gateway.mjs";
import { HIT, headersOf, LIMIT, MISS, OTHER, REFETCHED, useCache } from "./cached_views.mjs";

const gate = useCache("cache", { stored: true, gateway: { vars: LIMIT } });

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
  const result = await costing(gate, 1, async () => {
    await gate.upstream.hold();
    const readers = openAll(gate, READERS, target);
    await Promise.all(readers.map(({ sent }) => sent));
    await gate.upstream.untilHeld(1);
    await gate.upstream.release();
    return readAll(readers);
  });
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
    const result = await costing(gate, 1, () => getSlices(range, slices));
    assert.deepEqual(await pagesRequested(gate), [[PAGE_ROWS, 0]]);
    assert.deepEqual(result.map(cacheOf), [MISS, ...Array(9).fill(HIT)]);
    const whole = await upstreamsOwn(gate, viewsOf({ ...range, limit: PAGE_ROWS }));
    const views = result.flatMap(({ json }) => json.views);
    assert.deepEqual(views, whole.views);
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
    assert.deepEqual([cache, budgetLeft, upstreamStatus, status], ["hit", null, null, 200]);
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

test("returns an Age of page views that starts at 0 and grows", async () => {
  const target = viewsOf(closedRange());
  const ages = [];
  await until(async () => {
    const answer = await gate.get(target);
    assert.match(answer.header("age"), /^\d+$/);
    ages.push(Number(answer.header("age")));
    return ages.at(-1) >= 2;
  });
  assert.equal(ages[0], 0);
  const sorted = ages.toSorted((a, b) => a - b);
  assert.deepEqual(ages, sorted);
  assert.equal(await gate.received(), 1);
});

describe("a validator", () => {
  let target;
  let etag;

  before(async () => {
    target = viewsOf(closedRange());
    etag = (await gate.get(target)).header("etag");
  });

  test("returns the same ETag for the same bytes to every caller and after every fetch", async () => {
    assert.equal((await gate.get(target, caller(gate, "bob"))).header("etag"), etag);
    const again = await gate.get(target, { headers: NO_CACHE });
    assertViews(again, REFETCHED);
    assert.equal(again.header("etag"), etag);
    const [one, two] = [viewsOf({ ...closedRange(), offset: 9000 }), viewsOf(closedRange())];
    assert.notEqual((await gate.get(one)).header("etag"), (await gate.get(two)).header("etag"));
  });

  test("returns another ETag for a changed page", async () => {
    const page = await upstreamsOwn(gate, target);
    page.views[0].human += 1;
    await gate.upstream.fault({ fault: { kind: "json", status: 200, body: page } });
    const old = headersOf("If-None-Match", etag);
    const changed = await gate.get(target, { headers: [...NO_CACHE, ...old.headers] });
    assert.deepEqual(assertViews(changed, REFETCHED).views, page.views.slice(0, 50));
    assert.notEqual(changed.header("etag"), etag);
    const hit = await gate.get(target, old);
    assert.deepEqual(assertViews(hit, HIT).views, page.views.slice(0, 50));
    assert.equal(hit.header("etag"), changed.header("etag"));
  });
});

for (const value of ["no-cache", "max-age=0, no-cache"]) {
  test(`fetches the page again and charges a unit for Cache-Control: ${value}`, async () => {
    const target = viewsOf(closedRange());
    await gate.get(target);
    const send = () => gate.get(target, headersOf("Cache-Control", value));
    const result = await costing(gate, 1, send);
    assertViews(result, REFETCHED);
    assert.match(result.header("ratelimit"), /^"analytics";r=\d+;t=\d+$/);
    assertViews(await gate.get(target), HIT);
  });
}

describe("a restarted gateway", () => {
  async function restart(end) {
    const ended = gate.gateway;
    await ended[end]();
    const vars = { ...LIMIT, ANALYTICS_FRESH_SECONDS: "4321" };
    const started = await startGateway({ ...gate.settings, port: ended.port, vars });
    // The log of the tests before must stay part of the log that `stop` searches.
    gate.gateway = { ...started, log: () => ended.log() + started.log() };
  }

  for (const [what, end] of Object.entries({ stopped: "stop", killed: "kill" })) {
    test(`serves fresh pages without an upstream request after it was ${what} and restarted`, async () => {
      const targets = [closedRange(), openRange()].map(viewsOf);
      const send = () => Promise.all(targets.map((target) => gate.get(target)));
      const before = await send();
      assert.deepEqual(before.map(cacheOf), [MISS, MISS]);
      await gate.upstream.reset();
      await restart(end);
      for (const [at, answer] of (await send()).entries()) {
        assertViews(answer, HIT);
        assert.equal(answer.text, before[at].text);
        for (const name of ["etag", "cache-control"]) {
          assert.equal(answer.header(name), before[at].header(name));
        }
        assert.ok(Number(answer.header("age")) >= Number(before[at].header("age")));
      }
      assert.equal(await gate.received(), 0);
    });
  }
});
