/**
 * How long a page of views is served from the cache: its lifetime and validator, `no-cache`, and a
 * gateway that was started again.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { startGateway } from "../harness/gateway.mjs";
import {
  ASKED_FOR,
  gate,
  HIT,
  headersOf,
  ifNoneMatch,
  LIMIT,
  MISS,
  state,
  useGate,
} from "./cached_views.mjs";
import { assertProblem } from "./gate.mjs";
import {
  assertViews,
  cacheOf,
  caller,
  closedRange,
  costOf,
  dayFromToday,
  moneyless,
  NO_CACHE,
  openAll,
  openRange,
  readAll,
  until,
  upstreamsOwn,
  viewsOf,
} from "./matrix.mjs";

useGate("cache-freshness");
after(() => gate.assertDiscreet());

describe("a lifetime", () => {
  const lifetimeOf = (answer) => answer.header("cache-control");

  for (const [what, range, seconds] of [
    [
      "of a range that ended before yesterday",
      { dateFrom: "2023-01-01", dateTo: dayFromToday(-2) },
      86400,
    ],
    [
      "of a range up to yesterday's begin",
      { dateFrom: "2023-01-05", dateTo: dayFromToday(-1) },
      300,
    ],
    ["of a range up to this day's begin", { dateFrom: "2023-01-02", dateTo: dayFromToday(0) }, 300],
    ["of a range with tomorrow in it", { dateFrom: "2023-01-03", dateTo: dayFromToday(2) }, 300],
    ["of a range without an end", { dateFrom: "2023-01-04" }, 300],
    ["of a range without a beginning", { dateTo: "2023-06-01" }, 86400],
    ["of no range at all", {}, 300],
  ]) {
    test(`${what} is ${seconds} seconds`, async () => {
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

  test("runs: Age grows and is never below zero", async () => {
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
    ["the same", () => etag],
    ["the same, weak", () => `W/${etag}`],
    ["the same in a list", () => `"other", W/"another",${etag} , "last"`],
    ["any", () => "*"],
  ]) {
    test(`that is ${what} is answered with 304 and nothing else`, async () => {
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

  test("that is another is answered with the page", async () => {
    for (const value of ['"other"', `"${etag}"`, etag.slice(1, -1), `"x${etag.slice(1)}`, ""]) {
      assertViews(await gate.get(target, ifNoneMatch(value)), HIT);
    }
  });

  test("is the same of the same bytes, whoever asks and wherever they come from", async () => {
    assert.equal((await gate.get(target, caller(gate, "bob"))).header("etag"), etag);
    const again = await gate.get(target, { headers: NO_CACHE });
    assertViews(again, ASKED_FOR);
    assert.equal(again.header("etag"), etag);
    const [one, two] = [viewsOf({ ...closedRange(), offset: 9000 }), viewsOf(closedRange())];
    assert.notEqual((await gate.get(one)).header("etag"), (await gate.get(two)).header("etag"));
  });

  test("of a page that has changed is another", async () => {
    const page = await upstreamsOwn(gate, target);
    page.views[0].human += 1;
    await gate.upstream.fault({ fault: { kind: "json", status: 200, body: page } });
    const old = ifNoneMatch(etag).headers;
    const changed = await gate.get(target, { headers: [...NO_CACHE, ...old] });
    assert.deepEqual(assertViews(changed, ASKED_FOR).views, page.views.slice(0, 50));
    assert.notEqual(changed.header("etag"), etag);
    const hit = await gate.get(target, ifNoneMatch(etag));
    assert.deepEqual(assertViews(hit, HIT).views, page.views.slice(0, 50));
    assert.equal(hit.header("etag"), changed.header("etag"));
  });
});

describe("a caller's no-cache", () => {
  for (const value of ["no-cache", "No-Cache", "max-age=0, no-cache", "no-cache,no-transform"]) {
    test(`asks upstream again within the budget: ${value}`, async () => {
      const target = viewsOf(closedRange());
      await gate.get(target);
      const asking = () => gate.get(target, headersOf("Cache-Control", value));
      const { result, visits, units } = await costOf(gate, asking);
      assertViews(result, ASKED_FOR);
      assert.deepEqual({ visits, units }, { visits: 1, units: 1 });
      assert.match(result.header("ratelimit"), /^"analytics";r=\d+;t=\d+$/);
      assertViews(await gate.get(target), HIT);
    });
  }

  for (const value of ["max-age=60", "no-cachet", "x-no-cache", "no-transform"]) {
    test(`is none: ${value}`, async () => {
      const target = viewsOf(closedRange());
      await gate.get(target);
      assertViews(await gate.get(target, headersOf("Cache-Control", value)), HIT);
    });
  }

  test("leaves those alone who take what is kept", async () => {
    const target = viewsOf(closedRange());
    await gate.get(target);
    await gate.upstream.hold();
    const [asking] = openAll(gate, 1, target, { headers: NO_CACHE });
    await gate.upstream.untilHeld(1);
    assertViews(await gate.get(target), HIT);
    await gate.upstream.release();
    const [answer] = await readAll([asking]);
    assertViews(answer, ASKED_FOR);
  });

  test("is served what is kept, marked, when its budget is spent", async () => {
    const target = viewsOf(closedRange());
    const kept = await gate.get(target);
    const asking = () => gate.get(target, { ...moneyless(gate), headers: NO_CACHE });
    const { result, visits, units } = await costOf(gate, asking);
    assertViews(result, "hit; ttl=+; detail=quota-exceeded");
    assert.equal(result.text, kept.text);
    assert.equal(result.header("cache-control"), "private, max-age=86400");
    assert.deepEqual({ visits, units }, { visits: 0, units: 0 });
  });

  test("is refused when its budget is spent and nothing is kept", async () => {
    const asking = { ...moneyless(gate), headers: NO_CACHE };
    const answer = await gate.get(viewsOf(closedRange()), asking);
    const problem = assertProblem(answer, 429, "quota-exceeded");
    assert.deepEqual(problem["violated-policies"], ["analytics-caller"]);
    assert.equal(await gate.received(), 0);
  });
});

describe("a gateway that was started again", () => {
  const FRESH_SECONDS = 4321;

  /** Starts the gateway again on what the one before has stored. */
  async function again(end) {
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
    test(`after it was ${what} serves what was fresh, with nothing asked upstream`, async () => {
      const targets = [closedRange(), openRange()].map(viewsOf);
      const ask = () => Promise.all(targets.map((target) => gate.get(target)));
      const before = await ask();
      assert.deepEqual(before.map(cacheOf), [MISS, MISS]);
      await gate.upstream.reset();
      await again(end);
      for (const [at, answer] of (await ask()).entries()) {
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

  test("takes ANALYTICS_FRESH_SECONDS for what goes on, and not for what is over", async () => {
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
