import assert from "node:assert/strict";
import { test } from "node:test";
import { importSource } from "./source.mjs";

const { Listing } = await importSource("listing.ts");

const LIMIT = 250;
const BOUNDS = { dateFrom: "2026-10-01", dateTo: "2026-11-01" };
const RANGE = { from: "2026-10-01", to: "2026-10-31" };

/** A client over `count` rows, whose request at an offset can be made to fail once. */
function fakeClient(count, { failOnceAt, headersAt = () => ({}) } = {}) {
  const asked = [];
  const sent = [];
  let tell;
  let broken = failOnceAt;
  const pageAt = (offset) => {
    asked.push(offset);
    tell({ headers: new Headers(headersAt(offset)) });
    if (offset === broken) {
      broken = undefined;
      throw Object.assign(new Error("bad gateway"), { name: "ServerError", status: 502 });
    }
    const size = Math.min(LIMIT, count - offset);
    const views = Array.from({ length: size }, (_, index) => ({ path: `/${offset + index}` }));
    const next = { ...BOUNDS, limit: LIMIT, offset: offset + LIMIT };
    const cursor = next.offset < count ? next : null;
    return { views, totals: { total: count }, offset, cursor };
  };
  const list = (params, { signal, headers }) => ({
    async *pages() {
      const { dateFrom, dateTo, limit = LIMIT, offset: start = 0 } = params.cursor ?? params;
      assert.deepEqual({ dateFrom, dateTo, limit }, { ...BOUNDS, limit: LIMIT });
      for (let offset = start; ; offset += LIMIT) {
        await new Promise((resolve) => setTimeout(resolve, 1));
        signal.throwIfAborted();
        sent.push(headers);
        const page = pageAt(offset);
        yield page;
        if (page.cursor === null) return;
      }
    },
  });
  const client = { asked, sent, analytics: { views: list } };
  return {
    ...client,
    withOptions({ onResponse }) {
      tell = onResponse;
      return client;
    },
  };
}

const open = (client, source) => new Listing(client, RANGE, new AbortController().signal, source);
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
  const views = new Listing(fakeClient(1000), RANGE, end.signal);
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
  await open(again, "the platform").load("all rows");
  assert.deepEqual(again.sent, Array(2).fill({ "cache-control": "no-cache" }));
});
