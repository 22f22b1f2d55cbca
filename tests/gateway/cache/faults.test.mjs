import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import {
  assertViews,
  budget,
  cacheOf,
  closedRange,
  costing,
  NO_CACHE,
  openRange,
  untilOpen,
  untilStale,
  viewsOf,
} from "../analytics_requests.mjs";
import { assertProblem, before, useGate, VIEWS } from "../recorded_gateway.mjs";
import { HIT, MISS, REFETCHED, unlimited } from "./cached_views.mjs";

const CLOCK_RATE = 5;
const VARS = { ANALYTICS_FRESH_SECONDS: "2", UPSTREAM_TIMEOUT_SECONDS: "15" };
/** Enough rows for two upstream pages. The second page is not full. */
const ROWS = 300;

const RENEWED = "fwd=stale; stored";
const SPENT = "hit; ttl=-; detail=quota-exceeded";

const gate = useGate("cache-faults", {
  clockRate: CLOCK_RATE,
  upstream: { pages: ROWS },
  gateway: { vars: { ...VARS, ANALYTICS_LIMIT_PER_HOUR: "100000" } },
});
beforeEach(() => unlimited(gate));

async function stalePage(own) {
  const target = viewsOf(openRange());
  const cached = await own.get(target);
  assertViews(cached, MISS);
  await untilStale(own, target);
  return { target, cached };
}

const failAlways = (own, fault) => own.upstream.fault({ times: 0, fault });

const wait = (seconds) => ({ "retry-after": String(seconds) });
const status = (code, headers = {}) => ({ kind: "status", status: code, headers });
const NO_PAGE = { kind: "json", status: 200, body: { totals: {}, hasMore: false } };
const REDIRECT = { kind: "redirect", status: 302, location: VIEWS };

function assertStale(answer, cached, cache) {
  assertViews(answer, cache);
  assert.equal(answer.text, cached.text);
  assert.equal(answer.header("etag"), cached.header("etag"));
  assert.equal(answer.header("cache-control"), "private, no-cache");
  assert.ok(Number(answer.header("age")) >= 1);
}

describe("upstream faults by state of the cache", () => {
  const fresh = "200 rows, hit; ttl=+, 0 requests";
  const stale = (code, requests = "1 request") => {
    const upstreamStatus = code ? ` fwd-status=${code};` : "";
    return `200 rows, fwd=stale;${upstreamStatus} ttl=-; detail=stale, ${requests}`;
  };

  /** Each row has a fault and the expected results with a stale page and without a cached page. */
  const TABLE = [
    ["500", status(500), stale(500), "500 upstream-error, 1 request"],
    ["timeout", { kind: "hang" }, stale(), "504 upstream-timeout, 1 request"],
    ["cut body", { kind: "cutBody" }, stale(200), "502 upstream-malformed, 1 request"],
    ["429", status(429, wait(1)), stale(429), "429 upstream-error, 1 request"],
    ["reset", { kind: "reset" }, stale(null, "2 requests"), "502 upstream-unreachable, 2 requests"],
    ["503", status(503), stale(503, "2 requests"), "503 upstream-error, 2 requests"],
    ["503, wait", status(503, wait(7)), stale(503), "503 upstream-error, 1 request"],
    ["no page", NO_PAGE, stale(200), "502 upstream-malformed, 1 request"],
    ["redirect", REDIRECT, stale(302), "502 upstream-redirect, 1 request"],
    ["401", status(401), stale(401), "502 upstream-credential, 1 request"],
  ];

  const CACHED = { fresh: "a fresh page", stale: "a stale page", empty: "no page" };
  const RANGES = { fresh: closedRange, stale: openRange, empty: closedRange };
  const cells = TABLE.flatMap(([name, fault, ...expected]) =>
    Object.keys(CACHED).map((column, at) => ({
      name,
      fault,
      column,
      expected: [fresh, ...expected][at],
      target: viewsOf(RANGES[column]()),
    })),
  );

  before(async () => {
    const cached = cells.filter(({ column }) => column !== "empty");
    for (const cell of cached) {
      cell.cached = await gate.get(cell.target);
      assertViews(cell.cached, MISS);
    }
    for (const { column, target } of cached) if (column === "stale") await untilStale(gate, target);
  });

  for (const cell of cells) {
    test(`returns ${cell.expected} for the upstream fault "${cell.name}" with ${CACHED[cell.column]} cached`, async () => {
      await failAlways(gate, cell.fault);
      const answer = await gate.get(cell.target);
      const result = describeResult(answer, cell.cached, await gate.received());
      assert.equal(result, cell.expected);
      assertMarked(answer, cell);
      await assertRecovers(cell);
    });
  }

  /** Returns a description of a response in the format of the table. */
  function describeResult(answer, cached, count) {
    const requests = `${count} ${count === 1 ? "request" : "requests"}`;
    if (answer.status !== 200) {
      const kind = answer.json.type.replace("/problems/", "");
      return `${answer.status} ${kind}, ${requests}`;
    }
    const rows = answer.text === cached?.text ? "rows" : "other bytes";
    return `200 ${rows}, ${cacheOf(answer)}, ${requests}`;
  }

  function assertMarked(answer, { name, column, cached }) {
    if (column === "fresh") {
      assert.equal(answer.header("cache-control"), "private, max-age=86400");
      assert.equal(answer.header("etag"), cached.header("etag"));
    } else if (column === "stale") {
      assertStale(answer, cached, cacheOf(answer));
    } else {
      assertProblem(answer, answer.status, answer.json.type.replace("/problems/", ""));
      assert.equal(answer.header("etag"), undefined);
      const expected = { 429: "1", 503: "60", "503, wait": "7" }[name];
      assert.equal(answer.header("retry-after"), expected);
    }
  }

  async function assertRecovers({ column, target }) {
    await gate.upstream.clearFaults();
    await untilOpen(gate);
    const cache = { fresh: HIT, stale: RENEWED, empty: MISS }[column];
    assert.equal(assertViews(await gate.get(target), cache).views.length, 50);
    if (column === "fresh") return;
    assertViews(await gate.get(target, { headers: NO_CACHE }), REFETCHED);
  }
});

describe("a stale page", () => {
  test("fetches a stale page again, which is fresh afterwards", async () => {
    const { target, cached } = await stalePage(gate);
    const result = await costing(gate, 1, () => gate.get(target));
    assertViews(result, RENEWED);
    assert.equal(result.header("age"), "0");
    assert.equal(result.header("cache-control"), "private, max-age=2");
    assert.equal(result.header("etag"), cached.header("etag"));
  });

  test("returns the stale page to a request with no-cache if the upstream fails", async () => {
    const { target, cached } = await stalePage(gate);
    await failAlways(gate, status(500));
    const answer = await gate.get(target, { headers: NO_CACHE });
    assert.deepEqual([answer.status, answer.text], [200, cached.text]);
    assert.match(cacheOf(answer), /detail=stale$/);
    assert.equal(answer.header("cache-control"), "private, no-cache");
  });

  test("returns an upstream 404 even if a stale page is cached", async () => {
    const { target } = await stalePage(gate);
    await gate.upstream.fault({ fault: status(404) });
    const { upstream } = assertProblem(await gate.get(target), 404, "upstream-error");
    assert.equal(upstream.status, 404);
    assert.equal(await gate.received(), 2);
  });

  test("logs the upstream's status for a stale page", async () => {
    const { target } = await stalePage(gate);
    await failAlways(gate, status(500));
    const answer = await gate.get(target);
    const line = await gate.logged(answer.header("x-request-id"));
    assert.deepEqual([line.status, line.upstreamStatus, line.problem], [200, 500, null]);
    assert.match(line.cache, /stale/);
  });
});

for (const [what, fault] of [
  ["a 503", status(503)],
  ["a reset", { kind: "reset" }],
]) {
  test(`retries page views after ${what} and charges a unit for the retry`, async () => {
    const target = viewsOf(closedRange());
    await gate.upstream.fault({ fault });
    assertViews(await costing(gate, 2, () => gate.get(target)), MISS);
    assertViews(await gate.get(target), HIT);
  });
}

test("blocks the budget for stale and for uncached pages after an upstream 429", async () => {
  const { target, cached } = await stalePage(gate);
  await gate.upstream.reset();
  await gate.upstream.fault({ fault: status(429, wait(10)) });
  const rejected = await gate.get(viewsOf(closedRange()));
  assertProblem(rejected, 429, "upstream-error");
  assertStale(await gate.get(target), cached, SPENT);
  const unknown = await gate.get(viewsOf(openRange()));
  assertProblem(unknown, 429, "quota-exceeded");
  assert.equal((await budget(gate)).left, 0);
  assert.equal(await gate.received(), 1, "no other request reaches the upstream");
  for (const answer of [rejected, unknown]) {
    assert.match(answer.header("retry-after"), /^(?:[1-9]|10)$/);
  }
  await untilOpen(gate);
  assertViews(await gate.get(target), RENEWED);
});

describe("a spent budget", () => {
  const LIMIT = 6;
  const closed = viewsOf(closedRange());
  const own = useGate("cache-spent", {
    clockRate: CLOCK_RATE,
    upstream: { pages: ROWS },
    gateway: { vars: { ...VARS, ANALYTICS_LIMIT_PER_HOUR: String(LIMIT) } },
  });
  let stale;

  before(async () => {
    await unlimited(own);
    stale = await stalePage(own);
    assertViews(await own.get(closed), MISS);
  });
  beforeEach(() => own.upstream.reset());

  test("does not retry page views on the last unit of the budget", async () => {
    while ((await budget(own)).left > 1) await own.get(viewsOf(closedRange()));
    await own.upstream.reset();
    await own.upstream.fault({ fault: status(503) });
    assertProblem(await own.get(viewsOf(closedRange())), 503, "upstream-error");
    assert.equal(await own.received(), 1);
    assert.equal((await budget(own)).left, 0);
  });

  test("serves stale pages, marked, on a spent budget", async () => {
    assertStale(await own.get(stale.target), stale.cached, SPENT);
    assertStale(await own.get(stale.target, { headers: NO_CACHE }), stale.cached, SPENT);
    assert.equal(await own.received(), 0);
  });

  test("rejects uncached pages on a spent budget without an upstream request", async () => {
    for (const range of [closedRange(), openRange()]) {
      const answer = await own.get(viewsOf(range));
      const problem = assertProblem(answer, 429, "quota-exceeded");
      assert.deepEqual(problem["violated-policies"], ["analytics"]);
      const wait = Number(answer.header("retry-after"));
      assert.ok(wait > 0 && wait <= 3600 + 1, String(wait));
      assert.equal(answer.header("ratelimit-policy"), `"analytics";q=${LIMIT};w=3600`);
      assert.match(answer.header("ratelimit"), /^"analytics";r=0;t=\d+$/);
      assert.equal(answer.header("cache-status"), undefined);
    }
    assert.equal(await own.received(), 0);
  });
});
