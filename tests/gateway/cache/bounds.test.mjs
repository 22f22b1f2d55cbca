import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  assertViews,
  budget,
  closedRange,
  costing,
  organization,
  PAGE_ROWS,
  viewsOf,
} from "../analytics_requests.mjs";
import { runSql } from "../jobs_gateway.mjs";
import { startGate } from "../recorded_gateway.mjs";
import { HIT, LIMIT, MISS } from "./cached_views.mjs";

const ROWS = 600;

/** Starts a gateway that keeps its storage across restarts, until the end of the test. */
async function startStored(t, name) {
  const own = await startGate(name, {
    stored: true,
    upstream: { pages: ROWS },
    gateway: { vars: LIMIT },
  });
  t.after(() => own.stop());
  await own.upstream.setLimits({ analytics: null });
  return own;
}

const MAX_PAGES = 2000;

/** Stores {@link MAX_PAGES} pages of the list of the only stored page. */
const FILL = `WITH RECURSIVE one (number) AS
    (SELECT 1 UNION ALL SELECT number + 1 FROM one WHERE number < ${MAX_PAGES - 1})
  INSERT INTO page (list, number, text, tag, rows, has_more, totals, fetched, fresh_until)
    SELECT list, one.number, text, tag, rows, has_more, totals, fetched, fresh_until
    FROM page, one`;

test(`caches at most ${MAX_PAGES} pages on disk and evicts the oldest first`, async (t) => {
  const own = await startStored(t, "cache-pages");
  const range = closedRange();
  const target = (page) => viewsOf({ ...range, offset: PAGE_ROWS * page });
  await own.get(target(0));
  await own.restart(() => runSql(own.state, [[FILL]], "organisation", "ORG_GATE"));
  assert.equal((await organization(own)).cachedPages, MAX_PAGES);
  await own.get(target(MAX_PAGES));
  const { cachedPages } = await organization(own);
  assert.ok(cachedPages <= MAX_PAGES && cachedPages >= MAX_PAGES / 2, String(cachedPages));
  await costing(own, 1, () => own.get(target(0)));
  await costing(own, 0, () => own.get(target(MAX_PAGES - 1)));
});

describe("a page of large rows", () => {
  /** Returns a page of 1.5 MB. Each row takes about 6 kB and consists mostly of surrogate pairs. */
  function largePage() {
    const path = (at) => `/${at}/${"-".repeat(at % 2)}${"🚀".repeat(1500)}`;
    const views = Array.from({ length: PAGE_ROWS }, (_, at) => ({ path: path(at), total: at }));
    return { totals: { total: 1 }, views, hasMore: false };
  }

  test("charges one unit for all slices of a page of large rows, even after a restart", async (t) => {
    const own = await startStored(t, "cache-large");
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
  });
});
