import assert from "node:assert/strict";
import { test } from "node:test";
import { PROJECT } from "../recorded_gateway.mjs";
import {
  allDays,
  byPath,
  counts,
  daysAgo,
  gate,
  OTHER,
  query,
  runUntilComplete,
  send,
  truths,
} from "./archived_days.mjs";

function readPage(values) {
  const claims = { scope: "analytics:read", projects: [PROJECT, OTHER] };
  return gate.read(`/v1/analytics/${PROJECT}/views/archived${query(values)}`, { claims });
}

async function readAll(values) {
  const rows = [];
  const first = await readPage(values);
  for (let page = first; ; page = await readPage({ ...values, cursor: page.nextCursor })) {
    rows.push(...page.views);
    assert.deepEqual(page.totals, first.totals);
    if (page.nextCursor === null) return { ...first, views: rows };
    assert.equal(page.views.length, Number(values.limit ?? 1000));
    assert.equal(page.nextCursor, `~${encodeURIComponent(page.views.at(-1).path)}`);
  }
}

/** Returns the simulator's views of each page, summed over `days`. */
function sumPages(days) {
  const sums = new Map();
  for (const { path, human, ai, total } of days.flatMap(({ views }) => views)) {
    const sum = sums.get(path) ?? { path, human: 0, ai: 0, total: 0 };
    const added = { human: sum.human + human, ai: sum.ai + ai, total: sum.total + total };
    sums.set(path, { path, ...added });
  }
  return [...sums.values()].filter(({ total }) => total > 0).sort(byPath);
}

test("lists no page and every day as missing while the archive is empty", async () => {
  const page = await readPage({ dateFrom: daysAgo(2), dateTo: daysAgo(0) });
  assert.deepEqual(page, {
    totals: { human: 0, ai: 0, total: 0 },
    views: [],
    missing: [daysAgo(2), daysAgo(1)],
    nextCursor: null,
  });
});

test("lists each page once, with its views on all days, without a request to Mintlify", async () => {
  assert.equal((await send("/backfill", { dateFrom: allDays().dateFrom })).status, 202);
  await runUntilComplete();
  const days = await truths();
  await gate.upstream.reset();
  const whole = await readAll(allDays());
  const inPages = await readAll({ ...allDays(), limit: "97" });
  assert.deepEqual(whole.views, sumPages(days));
  assert.ok(whole.views.length > 300, `${whole.views.length} pages`);
  assert.deepEqual(inPages.views, whole.views);
  assert.deepEqual(whole.missing, []);
  const siteTotal = days.reduce((sum, { totals }) => sum + counts(totals).total, 0);
  assert.equal(whole.totals.total, siteTotal);
  assert.deepEqual((await gate.upstream.requests()).length, 0);
});

test("counts only the days of the range", async () => {
  const days = (await truths()).slice(2, 5);
  const range = { dateFrom: days[0].date, dateTo: daysAgo(5) };
  assert.deepEqual((await readAll(range)).views, sumPages(days));
});

test("lists a day that is not archived as missing", async () => {
  const page = await readPage({ dateFrom: daysAgo(1), dateTo: daysAgo(-1) });
  assert.deepEqual(page.missing, [daysAgo(0)]);
  assert.ok(page.views.length > 0);
});
