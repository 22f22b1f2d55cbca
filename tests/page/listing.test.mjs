import assert from "node:assert/strict";
import { test } from "node:test";
import { importSource } from "./source.mjs";

const { Listing } = await importSource("analytics/listing.ts");

const REPORT = {
  name: "views",
  one: "page",
  many: "pages",
  key: "path",
  main: "total",
  pageSize: 250,
};
const LIMIT = 250;
const BOUNDS = { dateFrom: "2026-10-01", dateTo: "2026-11-01", frozenAt: null };
const RANGE = { from: "2026-10-01", to: "2026-10-31" };

/** A client over `count` rows, whose request at an offset can be made to fail once. */
function fakeClient(count, options = {}) {
  const { failOnceAt, slowFrom, headersAt = () => ({}), failAlways = () => false } = options;
  const heldUp = gate();
  const released = gate();
  const asked = [];
  const sent = [];
  let tell;
  let broken = failOnceAt;
  const pageAt = (offset) => {
    asked.push(offset);
    tell({ headers: new Headers(headersAt(offset)) });
    if (offset === broken) {
      broken = undefined;
      throw failure();
    }
    const size = Math.min(LIMIT, count - offset);
    const views = Array.from({ length: size }, (_, index) => ({ path: `/${offset + index}` }));
    const { dateFrom, dateTo } = BOUNDS;
    const next = { dateFrom, dateTo, limit: LIMIT, offset: offset + LIMIT };
    const cursor = next.offset < count ? next : null;
    return { views, totals: { total: count }, offset, cursor };
  };
  const list = (params, { signal, headers }) => ({
    async *pages() {
      const { dateTo, limit = LIMIT, offset: start = 0 } = params.cursor ?? params;
      assert.equal(limit, LIMIT);
      for (let offset = start; ; offset += LIMIT) {
        await new Promise((resolve) => setTimeout(resolve, 1));
        if (offset === slowFrom) {
          heldUp.open();
          await released.opened;
        }
        signal.throwIfAborted();
        sent.push(headers);
        if (failAlways(dateTo)) throw failure();
        const page = pageAt(offset);
        yield page;
        if (page.cursor === null) return;
      }
    },
  });
  const waits = { isHeldUp: heldUp.opened, goOn: () => released.open() };
  const client = { asked, sent, ...waits, analytics: { views: list } };
  return {
    ...client,
    withOptions({ onResponse }) {
      tell = onResponse;
      return client;
    },
  };
}

function gate() {
  let open;
  const opened = new Promise((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

function failure() {
  return Object.assign(new Error("bad gateway"), { name: "ServerError", status: 502 });
}

const open = (client, options = {}) =>
  new Listing({
    client,
    report: REPORT,
    range: RANGE,
    bounds: BOUNDS,
    limit: {
      value: null,
      peek() {
        return this.value;
      },
    },
    ended: new AbortController().signal,
    ...options,
  });
const offsetsOf = (count) => Array.from({ length: Math.ceil(count / LIMIT) }, (_, n) => n * LIMIT);
const inOrder = (rows) => rows.value.every(({ path }, index) => path === `/${index}`);

test("everything after the first rows is asked for once", async () => {
  const client = fakeClient(1100);
  const views = open(client);
  assert.equal(await views.load("first rows"), true);
  assert.deepEqual([views.state.value, views.rows.value.length], ["partial", 250]);
  assert.equal(await views.load("all rows"), true);
  assert.deepEqual([views.state.value, views.rows.value.length], ["complete", 1100]);
  assert.ok(inOrder(views.rows));
  assert.deepEqual(client.asked, offsetsOf(1100));
});

test("what is complete is not asked for again", async () => {
  const client = fakeClient(100);
  const views = open(client);
  await views.load("first rows");
  assert.equal(views.state.value, "complete");
  assert.equal(await views.load("all rows"), true);
  assert.deepEqual(client.asked, [0]);
});

test("after a failure, loading goes on where it stopped", async () => {
  const client = fakeClient(1000, { failOnceAt: 500 });
  const views = open(client);
  assert.equal(await views.load("all rows"), false);
  assert.equal(views.problem.value.remedy, "retry");
  assert.deepEqual([views.state.value, views.rows.value.length], ["partial", 500]);
  assert.equal(await views.load("all rows"), true);
  assert.equal(views.problem.value, null);
  assert.equal(views.rows.value.length, 1000);
  assert.ok(inOrder(views.rows));
  assert.deepEqual(client.asked, [0, 250, 500, 500, 750]);
});

test("a failure at the very start leaves nothing behind", async () => {
  const views = open(fakeClient(10, { failOnceAt: 0 }));
  assert.equal(await views.load("first rows"), false);
  assert.equal(views.state.value, "empty");
});

test("stopping keeps the rows, is no problem, and can be taken up again", async () => {
  const client = fakeClient(1000);
  const views = open(client);
  await views.load("first rows");
  const loading = views.load("all rows");
  views.stop();
  assert.equal(await loading, false);
  assert.deepEqual([views.state.value, views.problem.value], ["partial", null]);
  assert.equal(await views.load("all rows"), true);
  assert.ok(inOrder(views.rows));
  assert.deepEqual(client.asked, offsetsOf(1000));
});

test("two loads at once are one", async () => {
  const client = fakeClient(500);
  const views = open(client);
  const [first, second] = await Promise.all([views.load("all rows"), views.load("all rows")]);
  assert.deepEqual([first, second], [true, false]);
  assert.deepEqual(client.asked, offsetsOf(500));
});

test("a session that ends stops the loading", async () => {
  const end = new AbortController();
  const views = open(fakeClient(1000), { ended: end.signal });
  const loading = views.load("all rows");
  end.abort();
  assert.equal(await loading, false);
  assert.equal(views.problem.value, null);
});

test("the part that is furthest behind says how old the whole is", async () => {
  const stale = (age) => ({ age, "cache-status": "quillgate; fwd=stale; detail=stale" });
  const ages = { 250: "60", 500: "600" };
  const headersAt = (offset) => (ages[offset] ? stale(ages[offset]) : {});
  const views = open(fakeClient(1000, { headersAt }));
  await views.load("first rows");
  assert.equal(views.staleness.value, null);
  await views.load("all rows");
  const { asOf, why } = views.staleness.value;
  assert.equal(why, "no answer");
  assert.ok(Date.now() - asOf >= 600_000 && Date.now() - asOf < 660_000);
});

test("what is left of the limit is kept until the gateway says more", async () => {
  const said = { "ratelimit-policy": '"analytics";q=100;w=3600', ratelimit: '"analytics";r=7' };
  const views = open(fakeClient(500, { headersAt: (offset) => (offset === 0 ? said : {}) }));
  await views.load("all rows");
  assert.equal(views.limit.value.left, 7);
});

test("only rows that are asked for again go past what the gateway has kept", async () => {
  const usual = fakeClient(500);
  await open(usual).load("all rows");
  assert.deepEqual(usual.sent, [{}, {}]);
  const again = fakeClient(500);
  await open(again, { source: "the platform" }).load("all rows");
  assert.deepEqual(again.sent, Array(2).fill({ "cache-control": "no-cache" }));
});

test("a small site is loaded completely by itself", async () => {
  const client = fakeClient(800, { headersAt: () => limitOf(60) });
  const views = open(client);
  assert.equal(await views.load("small site"), true);
  assert.deepEqual([views.state.value, views.rows.value.length], ["complete", 800]);
});

test("of a large site no more than a thousand rows are loaded by themselves", async () => {
  const client = fakeClient(4000, { headersAt: () => limitOf(60) });
  const views = open(client);
  await views.load("small site");
  assert.deepEqual([views.state.value, views.rows.value.length], ["partial", 1000]);
  assert.deepEqual(client.asked, [0, 250, 500, 750]);
});

test("nothing more is loaded by itself once half of the budget is spent", async () => {
  const client = fakeClient(800, { headersAt: (offset) => limitOf(offset === 0 ? 50 : 49) });
  const views = open(client);
  await views.load("small site");
  assert.deepEqual(client.asked, [0, 250]);
  assert.equal(views.state.value, "partial");
});

test("what the gateway has kept is loaded on though it says nothing of the budget", async () => {
  const kept = { "cache-status": "quillgate; hit; ttl=200", age: "5" };
  const client = fakeClient(600, { headersAt: () => kept });
  const views = open(client);
  await views.load("small site");
  assert.equal(views.state.value, "complete");
  const unknown = fakeClient(600);
  await open(unknown).load("small site");
  assert.deepEqual(unknown.asked, [0]);
});

test("as many rows can be asked for as were there before", async () => {
  const client = fakeClient(2000);
  const views = open(client);
  assert.equal(await views.load({ rows: 600 }), true);
  assert.deepEqual(client.asked, [0, 250, 500]);
});

test("a range that is still open falls back on what was answered lately", async () => {
  const fallback = { dateFrom: "2026-10-01", dateTo: "2026-10-31T09:05:00Z", frozenAt: 1 };
  const headersAt = () => ({ age: "120" });
  const client = fakeClient(300, { headersAt, failAlways: (dateTo) => dateTo === BOUNDS.dateTo });
  const views = open(client, { fallback });
  assert.equal(await views.load("first rows"), true);
  assert.equal(views.problem.value, null);
  assert.equal(views.bounds.value.dateTo, fallback.dateTo);
  assert.equal(views.staleness.value.why, "no answer");
  assert.ok(Date.now() - views.staleness.value.asOf >= 120_000);
});

test("a fallback that fails as well leaves the first problem", async () => {
  const fallback = { dateFrom: "2026-10-01", dateTo: "2026-10-31T09:05:00Z", frozenAt: 1 };
  const views = open(fakeClient(300, { failAlways: () => true }), { fallback });
  assert.equal(await views.load("first rows"), false);
  assert.equal(views.problem.value.remedy, "retry");
  assert.deepEqual([views.state.value, views.bounds.value], ["empty", BOUNDS]);
});

function limitOf(left) {
  return { "ratelimit-policy": '"analytics";q=100;w=3600', ratelimit: `"analytics";r=${left}` };
}

/** How many rows were shown, each time that it changed. */
function noteShown(listing) {
  const shown = [];
  listing.rows.subscribe((rows) => shown.push(rows.length));
  return shown;
}

test("the first rows are shown at once, and those that come quickly together", async () => {
  const views = open(fakeClient(1000));
  const shown = noteShown(views);
  assert.equal(await views.load("all rows"), true);
  assert.deepEqual(shown, [0, 250, 1000]);
  assert.deepEqual([views.requests.value, views.state.value], [4, "complete"]);
  assert.ok(inOrder(views.rows));
});

test("rows that come slowly do not wait for the last ones", async () => {
  const client = fakeClient(1000, { slowFrom: 750 });
  const views = open(client);
  const shown = noteShown(views);
  const areShown = new Promise((resolve) => {
    views.rows.subscribe(({ length }) => length === 750 && resolve());
  });
  const loading = views.load("all rows");
  await client.isHeldUp;
  await areShown;
  assert.equal(views.state.value, "loading");
  client.goOn();
  assert.equal(await loading, true);
  assert.deepEqual(shown, [0, 250, 750, 1000]);
});

test("what is only compared with is shown when it is whole", async () => {
  const views = open(fakeClient(1000), { isSecondary: true });
  const shown = noteShown(views);
  assert.equal(await views.load("all rows"), true);
  assert.deepEqual(shown, [0, 1000]);
});

test("rows that were not shown yet are kept by a stop and by a failure", async () => {
  const views = open(fakeClient(1000, { failOnceAt: 500 }), { isSecondary: true });
  assert.equal(await views.load("all rows"), false);
  assert.deepEqual([views.rows.value.length, views.requests.value], [500, 2]);
  const slow = fakeClient(1000, { slowFrom: 750 });
  const stopped = open(slow, { isSecondary: true });
  const loading = stopped.load("all rows");
  await slow.isHeldUp;
  stopped.stop();
  assert.deepEqual([stopped.rows.value.length, stopped.state.value], [750, "partial"]);
  slow.goOn();
  assert.equal(await loading, false);
  assert.equal(await stopped.load("all rows"), true);
  assert.ok(inOrder(stopped.rows));
  assert.deepEqual(slow.asked, offsetsOf(1000));
});
