/**
 * Page views from the cache: what is asked for upstream, and what is not. The simulator's
 * counters are the judge.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { Client } from "../../pkg/dist/node.js";
import { startGateway } from "../harness/gateway.mjs";
import { assertProblem, PROJECT, startGate } from "./gate.mjs";
import {
  assertViews,
  cacheOf,
  caller,
  closedRange,
  costOf,
  dayFromToday,
  gateCalls,
  keepNudging,
  moneyless,
  NO_CACHE,
  openAll,
  openRange,
  PAGE_ROWS,
  readAll,
  setGateFailing,
  tally,
  until,
  upstreamsOwn,
  viewsOf,
  watchedConfig,
} from "./matrix.mjs";

const OTHER = "other-docs";
const EMPTY = "empty-docs";
const ROWS = 4000;
const READERS = 1000;
const LIMIT = { ANALYTICS_LIMIT_PER_HOUR: "100000" };
const UPSTREAM = { projects: [PROJECT, OTHER, EMPTY], pages: ROWS };

const MISS = "fwd=uri-miss; stored";
const JOINED = "fwd=uri-miss; collapsed";
const HIT = "hit; ttl=+";
const ASKED_FOR = "fwd=request; stored";

let gate;
let state;
let stopNudging;

before(async () => {
  state = mkdtempSync(join(tmpdir(), "quillgate-cache-"));
  gate = await startGate("cache", { upstream: UPSTREAM, gateway: { state, vars: LIMIT } });
  stopNudging = keepNudging(gate);
});
after(async () => {
  stopNudging?.();
  await gate?.stop();
  rmSync(state, { recursive: true, force: true, maxRetries: 5 });
});
beforeEach(() => unlimited(gate));

/** A simulator that has forgotten everything, and lets itself be asked at will. */
async function unlimited({ upstream }) {
  await upstream.reset();
  await upstream.setLimits({ analytics: null });
}

const headersOf = (name, value) => ({ headers: [[name, value]] });
const ifNoneMatch = (value) => headersOf("If-None-Match", value);

/** The limit and offset of each request that the simulator has received. */
async function pagesAsked({ upstream }) {
  const requests = await upstream.requests();
  return requests.map(({ target }) => {
    const query = new URL(target, upstream.url).searchParams;
    return [query.get("limit"), query.get("offset")].map(Number);
  });
}

describe("many readers of one page", () => {
  test(`${READERS} at once cost one request upstream and one unit, and read the same`, async () => {
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

  test("each answer has its own request id", async () => {
    const target = viewsOf(closedRange());
    const answers = await readAll(openAll(gate, 20, target));
    assert.equal(new Set(answers.map((answer) => answer.header("x-request-id"))).size, 20);
  });
});

describe("upstream is asked in pages of 250 rows", () => {
  /** Asks one by one for each `[limit, offset]`. */
  async function sliced(range, slices) {
    const answers = [];
    for (const [limit, offset] of slices) {
      answers.push(await gate.get(viewsOf({ ...range, limit, offset })));
    }
    return answers;
  }

  test("ten pages of 25 cost one request and one unit", async () => {
    const range = closedRange();
    const slices = Array.from({ length: 10 }, (_, page) => [25, 25 * page]);
    const { result, visits, units } = await costOf(gate, () => sliced(range, slices));
    assert.deepEqual({ visits, units }, { visits: 1, units: 1 });
    assert.deepEqual(await pagesAsked(gate), [[PAGE_ROWS, 0]]);
    assert.deepEqual(result.map(cacheOf), [MISS, ...Array(9).fill(HIT)]);
    const whole = await upstreamsOwn(gate, viewsOf({ ...range, limit: PAGE_ROWS }));
    assert.deepEqual(
      result.flatMap(({ json }) => json.views),
      whole.views,
    );
  });

  for (const [limit, offset, pages] of [
    [1, 0, [0]],
    [250, 0, [0]],
    [1, 249, [0]],
    [100, 150, [0]],
    [1, 250, [250]],
    [250, 250, [250]],
    [30, 730, [500, 750]],
    [2, 249, [0, 250]],
    [250, 1, [0, 250]],
    [250, 499, [250, 500]],
  ]) {
    test(`${limit} rows from ${offset} on cost ${pages.length}`, async () => {
      const target = viewsOf({ ...closedRange(), limit, offset });
      const { result, visits, units } = await costOf(gate, () => gate.get(target));
      assert.deepEqual({ visits, units }, { visits: pages.length, units: pages.length });
      const asked = await pagesAsked(gate);
      assert.deepEqual(
        asked,
        pages.map((start) => [PAGE_ROWS, start]),
      );
      assert.deepEqual(assertViews(result, MISS), await upstreamsOwn(gate, target));
    });
  }

  test("a slice over a border of which one page is kept costs the other", async () => {
    const range = closedRange();
    await gate.get(viewsOf(range));
    const target = viewsOf({ ...range, limit: 20, offset: 240 });
    const { result, visits } = await costOf(gate, () => gate.get(target));
    assertViews(result, MISS);
    assert.equal(visits, 1);
    assert.deepEqual((await pagesAsked(gate)).at(-1), [PAGE_ROWS, 250]);
  });

  test("what else the upstream says of a page or a row is kept", async () => {
    const target = viewsOf(closedRange());
    const row = { path: "/", human: 1, ai: 2, total: 3, trend: { week: [1, null, "x"] } };
    const totals = { human: 1, ai: 2, total: 3, bots: 4 };
    const body = { totals, views: [row], hasMore: false, generatedAt: "now", notes: [{ a: 1 }] };
    await gate.upstream.fault({ fault: { kind: "json", status: 200, body } });
    assert.deepEqual(assertViews(await gate.get(target), MISS), body);
    assert.deepEqual(assertViews(await gate.get(target), HIT), body);
  });

  test("an empty page that promises more is passed on as it is", async () => {
    const target = viewsOf({ ...closedRange(), limit: 25 });
    const { totals } = await upstreamsOwn(gate, target);
    await gate.upstream.fault({ fault: { kind: "emptyPage" } });
    const expected = { totals, views: [], hasMore: true };
    assert.deepEqual(assertViews(await gate.get(target), MISS), expected);
  });

  test("a project without views has an empty page", async () => {
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

  test("the package's walk needs no more requests than there are pages", async () => {
    const range = closedRange();
    const options = { baseUrl: gate.gateway.url, projectId: PROJECT, token: gate.token() };
    const client = new Client({ ...options, maxRetries: 0 });
    const { views } = await gate.upstream.views({ projectId: PROJECT, ...range });
    const walk = async (limit) => {
      const rows = [];
      for await (const row of client.pageViews.list({ ...range, limit })) rows.push({ ...row });
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

describe("a slice is what the upstream itself would answer", () => {
  /** Numbers from 0 to below `most` that look random and are always the same. */
  function numbers(seed) {
    let state = seed;
    return (most) => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return Math.floor((state / 2 ** 32) * most);
    };
  }

  /** Limits and offsets: those at every edge, and many others. */
  function slicesOf(rows) {
    const next = numbers(rows);
    const edges = [0, 249, 250, 251, rows - 1, rows, rows + 1, rows + 249, rows + 250, rows + 9999];
    const atEdges = edges.flatMap((offset) => [1, 25, 250].map((limit) => [limit, offset]));
    const untilTheEnd = [1, 50, 250].map((limit) => [limit, rows - limit]);
    const others = Array.from({ length: 60 }, () => [1 + next(250), next(rows + 300)]);
    return [...atEdges, ...untilTheEnd, ...others];
  }

  /** The pages that a slice needs, by number; nothing is behind the last. */
  function pagesOf([limit, offset], rows) {
    const last = Math.max(0, Math.ceil(rows / PAGE_ROWS) - 1);
    const first = Math.floor(offset / PAGE_ROWS);
    const end = Math.floor((offset + limit - 1) / PAGE_ROWS);
    return first < end && first < last ? [first, end] : [first];
  }

  /** Asks for each slice, and counts the pages that no slice before it had. */
  async function assertSlices(own, rows) {
    const range = closedRange();
    const slices = slicesOf(rows);
    const targets = slices.map(([limit, offset]) => viewsOf({ ...range, limit, offset }));
    const expected = await Promise.all(targets.map((target) => upstreamsOwn(own, target)));
    const kept = new Set();
    let visits = await own.received();
    for (const [at, slice] of slices.entries()) {
      const answer = await own.get(targets[at]);
      assert.deepEqual([answer.status, answer.json], [200, expected[at]], targets[at]);
      const before = kept.size;
      for (const page of pagesOf(slice, rows)) kept.add(page);
      visits += kept.size - before;
      assert.equal(await own.received(), visits, targets[at]);
    }
  }

  test(`of ${ROWS} rows, the last of which end a page`, () => assertSlices(gate, ROWS));

  test("of 610 rows, the last of which do not", async () => {
    await assertSlices(watched.gate, WATCHED_ROWS);
  });
});

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

describe("a question that is the same in other words", () => {
  const range = { dateFrom: "2001-05-06", dateTo: "2002-07-08" };
  const list = `dateFrom=${range.dateFrom}&dateTo=${range.dateTo}`;
  const views = (query, project = PROJECT) => `/v1/analytics/${project}/views?${query}`;
  let first;

  before(async () => {
    first = await gate.get(views(list));
    assertViews(first, MISS);
  });

  for (const [what, target] of [
    ["the other order", views("dateTo=2002-07-08&dateFrom=2001-05-06")],
    ["the usual limit told", views(`${list}&limit=50`)],
    ["the usual offset told", views(`offset=0&${list}`)],
    ["both told", views(`limit=50&dateTo=2002-07-08&offset=0&dateFrom=2001-05-06`)],
    ["an encoded name", views("%64ate%46rom=2001-05-06&dateTo=2002-07-08")],
    ["an encoded value", views("dateFrom=2001%2D05%2d06&dateTo=%32002-07-08")],
    ["an encoded number", views(`${list}&limit=%35%30`)],
    ["ands too many", views(`&${list}&&`)],
    ["an encoded project", views(list, "demo%2Ddocs")],
    ["a wholly encoded project", views(list, "%64%65%6d%6F%2d%64%6F%63%73")],
  ]) {
    test(`has one entry: ${what}`, async () => {
      const answer = await gate.get(target);
      assertViews(answer, HIT);
      assert.equal(answer.text, first.text);
      assert.equal(await gate.received(), 0);
    });
  }

  for (const [what, other] of [
    ["another begin", { dateFrom: "2001-05-07", dateTo: "2002-07-08" }],
    ["another end", { dateFrom: "2001-05-06", dateTo: "2002-07-09" }],
    ["no end", { dateFrom: "2001-05-06" }],
    ["begin and end of other lists", { dateFrom: "2002-07-08", dateTo: "2002-07-09" }],
  ]) {
    test(`is another question with ${what}`, async () => {
      const target = viewsOf(other);
      const answer = await gate.get(target);
      assert.deepEqual(assertViews(answer, MISS), await upstreamsOwn(gate, target));
      assert.notEqual(answer.text, first.text);
    });
  }
});

describe("a hot page", () => {
  const range = closedRange();
  const target = viewsOf(range);
  let hot;

  before(async () => {
    hot = await gate.get(target);
  });

  test("is served without the budget, as the log says", async () => {
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

  test("is every caller's who has the project", async () => {
    for (const who of [
      caller(gate, "bob"),
      caller(gate, "carol", { projects: [OTHER, PROJECT] }),
    ]) {
      const answer = await gate.get(target, who);
      assertViews(answer, HIT);
      assert.equal(answer.text, hot.text);
    }
    assert.equal(await gate.received(), 0);
  });

  test("is nobody's who has not", async () => {
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

  test("of one project is not another's, though the question be the same", async () => {
    const eve = caller(gate, "eve", { projects: [OTHER] });
    for (const [project, cache] of [
      [OTHER, MISS],
      ["other%2Ddocs", HIT],
      ["%6fther-docs", HIT],
    ]) {
      const answer = await gate.get(viewsOf({ project, ...range }), eve);
      assertViews(answer, cache);
      assert.notEqual(answer.text, hot.text);
      const own = await upstreamsOwn(gate, viewsOf({ project: OTHER, ...range }));
      assert.deepEqual(answer.json, own);
    }
    assert.equal((await gate.get(target)).text, hot.text);
  });

  test("of another project is not reached by a path in disguise", async () => {
    for (const project of [
      `${OTHER}%2F..%2F${PROJECT}`,
      `${OTHER}%00`,
      `${OTHER}%20`,
      "demo%252Ddocs",
      `${PROJECT}%3F`,
    ]) {
      const answer = await gate.get(viewsOf({ project, ...range }));
      assert.ok([400, 403, 404].includes(answer.status), `${project}: ${answer.status}`);
    }
    assert.equal(await gate.received(), 0);
  });
});

const WATCHED_ROWS = 610;
const watched = {};

before(async () => {
  watched.worker = watchedConfig();
  watched.gate = await startGate("cache-watched", {
    upstream: { ...UPSTREAM, pages: WATCHED_ROWS },
    gateway: { config: watched.worker.config, vars: LIMIT },
  });
  watched.stopNudging = keepNudging(watched.gate);
});
after(async () => {
  watched.stopNudging?.();
  await watched.gate?.stop();
  watched.worker?.dispose();
});

describe("at the gate", () => {
  let own;

  beforeEach(async () => {
    own = watched.gate;
    await unlimited(own);
  });

  /**
   * Has requests come to the gate while the first of them is upstream, and goes on when all are
   * there: `meanwhile` is told of the others.
   */
  async function together(count, target, { options, others = options, next, meanwhile } = {}) {
    await own.upstream.hold({ next });
    const calls = await gateCalls(own);
    const first = openAll(own, 1, target, options);
    await own.upstream.untilHeld(1);
    const rest = openAll(own, count - 1, target, others);
    await until(async () => (await gateCalls(own)) >= calls + count);
    await meanwhile?.(first[0]);
    await own.upstream.release();
    return readAll([...first, ...rest]);
  }

  test(`${READERS} that wait together have one request made for them`, async () => {
    const target = viewsOf(closedRange());
    const { result, visits, units } = await costOf(own, () => together(READERS, target));
    assert.deepEqual(tally(result), { [MISS]: 1, [JOINED]: READERS - 1 });
    assert.deepEqual({ visits, units }, { visits: 1, units: 1 });
    assert.equal(new Set(result.map(({ text }) => text)).size, 1);
  });

  test("different slices of a page wait for the same request", async () => {
    const range = closedRange();
    const calls = await gateCalls(own);
    await own.upstream.hold();
    const slices = Array.from({ length: 20 }, (_, at) => viewsOf({ ...range, offset: at }));
    const readers = slices.flatMap((target) => openAll(own, 1, target));
    await until(async () => (await gateCalls(own)) >= calls + 20);
    await own.upstream.release();
    assert.deepEqual(tally(await readAll(readers)), { [MISS]: 1, [JOINED]: 19 });
    assert.equal(await own.received(), 1);
  });

  test("no-cache together is one request, too", async () => {
    const target = viewsOf(closedRange());
    await own.get(target);
    const run = () => together(100, target, { options: { headers: NO_CACHE } });
    const { result, visits, units } = await costOf(own, run);
    assert.deepEqual(tally(result), { [ASKED_FOR]: 1, "fwd=request; collapsed": 99 });
    assert.deepEqual({ visits, units }, { visits: 1, units: 1 });
  });

  test("a failure is told to all that waited, to each with its own request id", async () => {
    const next = { kind: "status", status: 500 };
    const answers = await together(20, viewsOf(closedRange()), { next });
    assert.equal(await own.received(), 1);
    for (const answer of answers) assertProblem(answer, 500, "upstream-error");
  });

  test("who joins another's request is not told of that one's own quota", async () => {
    const options = caller(own, "rationed", { quota: { analytics: 7 } });
    const others = caller(own, "plain");
    const answers = await together(2, viewsOf(closedRange()), { options, others });
    const [first, joined] = answers.map((answer) => answer.header("ratelimit"));
    assert.match(first, /"analytics-caller";r=6/);
    assert.doesNotMatch(joined ?? "", /analytics-caller/);
  });

  test("who leads and leaves does not take the others along", async () => {
    const target = viewsOf(closedRange());
    const answers = await together(30, target, {
      async meanwhile(leader) {
        leader.leave();
        // A round trip through the gateway and to its gate, so that it may know.
        for (let trip = 0; trip < 3; trip += 1) await gateTrip();
      },
    });
    assert.equal(answers[0].hasHead, false);
    assert.deepEqual(tally(answers.slice(1)), { [JOINED]: 29 });
    const { pageViews, aborted } = await pageViewCounters();
    assert.deepEqual([pageViews, aborted], [1, 0]);
  });

  test("what the only reader asked for is kept though it has left", async () => {
    const target = viewsOf(closedRange());
    await own.upstream.hold();
    const [reader] = openAll(own, 1, target);
    await own.upstream.untilHeld(1);
    reader.leave();
    for (let trip = 0; trip < 3; trip += 1) await gateTrip();
    await own.upstream.release();
    await own.untilCounters(({ inFlight }) => inFlight === 0);
    await until(async () => (await own.get(target, moneyless(own))).status === 200);
    const { pageViews, aborted } = await pageViewCounters();
    assert.deepEqual([pageViews, aborted], [1, 0]);
  });

  const gateTrip = () => own.get(viewsOf({ ...closedRange(), limit: 1 }), moneyless(own));

  async function pageViewCounters() {
    const { byOperation, aborted } = await own.upstream.counters();
    return { pageViews: byOperation["pageViews.list"], aborted };
  }

  test("nobody comes for a hot page", async () => {
    const target = viewsOf(closedRange());
    await own.get(target);
    const calls = await gateCalls(own);
    const answers = await readAll(openAll(own, 200, target));
    assert.deepEqual(tally(answers), { [HIT]: 200 });
    assertViews(await own.get(target, caller(own, "bob")), HIT);
    assert.equal((await own.get(target, ifNoneMatch("*"))).status, 304);
    assert.equal(await gateCalls(own), calls);
  });

  test("out of reach, a hot page is still served, and a cold one is a clear problem", async (t) => {
    t.after(() => setGateFailing(own, "no"));
    const hot = viewsOf(closedRange());
    const cold = viewsOf(closedRange());
    await own.get(hot);
    await setGateFailing(own, "yes");
    assertViews(await own.get(hot), HIT);
    const problem = await own.get(cold);
    assertProblem(problem, 503, "gate-unavailable");
    assert.equal(problem.header("retry-after"), "1");
    await setGateFailing(own, "no");
    assertViews(await own.get(cold), MISS);
  });
});

describe("a gateway that was started again", () => {
  const FRESH_SECONDS = 4321;

  /** Starts the gateway anew on what the one before has stored. */
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

test("neither answers nor logs hold the admin key, the secret or a token", async () => {
  await gate.assertDiscreet();
  await watched.gate.assertDiscreet();
});
