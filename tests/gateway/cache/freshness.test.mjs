/**
 * Freshness of cached page views. The range of a page determines the page's freshness lifetime. The
 * gateway responds 304 to a matching `If-None-Match`, and fetches a page again for `no-cache`
 * unless the quota is spent. Cached pages survive a restart.
 */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { startGateway } from "../../harness/gateway.mjs";
import {
  assertViews,
  cacheOf,
  caller,
  closedRange,
  costOf,
  dayFromToday,
  NO_CACHE,
  openAll,
  openRange,
  readAll,
  until,
  upstreamsOwn,
  viewsOf,
  withoutQuota,
} from "../analytics_requests.mjs";
import {
  gate,
  HIT,
  headersOf,
  ifNoneMatch,
  LIMIT,
  MISS,
  REFETCHED,
  state,
  useGate,
} from "./cached_views.mjs";

useGate("cache-freshness");

describe("the lifetime of cached page views", () => {
  const lifetimeOf = (answer) => answer.header("cache-control");

  for (const [what, range, seconds] of [
    [
      "of a range that ended before yesterday",
      { dateFrom: "2023-01-01", dateTo: dayFromToday(-2) },
      86400,
    ],
    [
      "of a range up to the start of today",
      { dateFrom: "2023-01-02", dateTo: dayFromToday(0) },
      300,
    ],
  ]) {
    test(`sets a lifetime of ${seconds} seconds for page views ${what}`, async () => {
      const target = viewsOf({ ...range, limit: 1 });
      const missed = await gate.get(target);
      assertViews(missed, MISS);
      assert.equal(lifetimeOf(missed), `private, max-age=${seconds}`);
      const hit = await gate.get(target);
      assertViews(hit, HIT);
      assert.equal(lifetimeOf(hit), `private, max-age=${seconds}`);
      const [, ttl] = /ttl=(\d+)/.exec(hit.header("cache-status"));
      assert.ok(Number(ttl) <= seconds && Number(ttl) + Number(hit.header("age")) >= seconds - 1);
    });
  }

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
    assert.deepEqual(
      ages,
      [...ages].sort((a, b) => a - b),
    );
    assert.equal(await gate.received(), 1);
  });
});

describe("a validator", () => {
  let target;
  let etag;

  before(async () => {
    target = viewsOf(closedRange());
    etag = (await gate.get(target)).header("etag");
  });

  for (const [what, value] of [
    ["the current ETag", () => etag],
    ["a list that has the current ETag", () => `"other", W/"another",${etag} , "last"`],
  ]) {
    test(`returns 304 without a body for If-None-Match with ${what}`, async () => {
      const answer = await gate.get(target, ifNoneMatch(value()));
      assert.deepEqual([answer.status, answer.text], [304, ""]);
      assert.equal(answer.header("etag"), etag);
      assert.equal(answer.header("cache-control"), "private, max-age=86400");
      assert.equal(cacheOf(answer), HIT);
      assert.match(answer.header("age"), /^\d+$/);
      assert.equal(answer.header("vary"), "Origin, Authorization");
      assert.equal(await gate.received(), 0);
    });
  }

  test("returns the page for If-None-Match with another ETag", async () => {
    for (const value of ['"other"', `"${etag}"`, etag.slice(1, -1), `"x${etag.slice(1)}`, ""]) {
      assertViews(await gate.get(target, ifNoneMatch(value)), HIT);
    }
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
    const old = ifNoneMatch(etag).headers;
    const changed = await gate.get(target, { headers: [...NO_CACHE, ...old] });
    assert.deepEqual(assertViews(changed, REFETCHED).views, page.views.slice(0, 50));
    assert.notEqual(changed.header("etag"), etag);
    const hit = await gate.get(target, ifNoneMatch(etag));
    assert.deepEqual(assertViews(hit, HIT).views, page.views.slice(0, 50));
    assert.equal(hit.header("etag"), changed.header("etag"));
  });
});

describe("a request with no-cache", () => {
  for (const value of ["no-cache", "max-age=0, no-cache"]) {
    test(`fetches the page again and charges a unit for Cache-Control: ${value}`, async () => {
      const target = viewsOf(closedRange());
      await gate.get(target);
      const send = () => gate.get(target, headersOf("Cache-Control", value));
      const { result, visits, units } = await costOf(gate, send);
      assertViews(result, REFETCHED);
      assert.deepEqual({ visits, units }, { visits: 1, units: 1 });
      assert.match(result.header("ratelimit"), /^"analytics";r=\d+;t=\d+$/);
      assertViews(await gate.get(target), HIT);
    });
  }

  test("serves a request with Cache-Control: no-cachet from the cache", async () => {
    const target = viewsOf(closedRange());
    await gate.get(target);
    assertViews(await gate.get(target, headersOf("Cache-Control", "no-cachet")), HIT);
  });

  test("serves cached pages without waiting for a concurrent request with no-cache", async () => {
    const target = viewsOf(closedRange());
    await gate.get(target);
    await gate.upstream.hold();
    const [forced] = openAll(gate, 1, target, { headers: NO_CACHE });
    await gate.upstream.untilHeld(1);
    assertViews(await gate.get(target), HIT);
    await gate.upstream.release();
    const [answer] = await readAll([forced]);
    assertViews(answer, REFETCHED);
  });

  test("returns the cached page, marked, to a request with no-cache on a spent quota", async () => {
    const target = viewsOf(closedRange());
    const cached = await gate.get(target);
    const send = () => gate.get(target, { ...withoutQuota(gate), headers: NO_CACHE });
    const { result, visits, units } = await costOf(gate, send);
    assertViews(result, "hit; ttl=+; detail=quota-exceeded");
    assert.equal(result.text, cached.text);
    assert.match(result.header("ratelimit"), /"analytics-caller";r=0/);
    assert.ok(!result.header("retry-after"), "the response is a success");
    assert.equal(result.header("cache-control"), "private, max-age=86400");
    assert.deepEqual({ visits, units }, { visits: 0, units: 0 });
  });
});

describe("a restarted gateway", () => {
  const FRESH_SECONDS = 4321;

  /**
   * Calls the gateway's method `end` ("stop" or "kill"), and starts a new gateway with the same
   * storage.
   */
  async function restart(end) {
    await gate.gateway[end]();
    gate.gateway = await startGateway({
      upstreamUrl: gate.upstream.url,
      adminKey: gate.key,
      secret: gate.secret,
      port: gate.gateway.port,
      state,
      vars: { ...LIMIT, ANALYTICS_FRESH_SECONDS: String(FRESH_SECONDS) },
    });
  }

  for (const [what, end] of [
    ["stopped", "stop"],
    ["killed", "kill"],
  ]) {
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

  test("applies ANALYTICS_FRESH_SECONDS only to ranges that include today", async () => {
    for (const [range, seconds] of [
      [openRange(), FRESH_SECONDS],
      [closedRange(), 86400],
    ]) {
      const answer = await gate.get(viewsOf(range));
      assertViews(answer, MISS);
      assert.equal(answer.header("cache-control"), `private, max-age=${seconds}`);
    }
  });
});
