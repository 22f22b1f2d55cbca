/** Reports and exports of several pages while counts change. */
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { caller, NO_CACHE, viewsOf } from "../analytics_requests.mjs";
import { exportOf, splitLines } from "../expected_exports.mjs";
import { useGate } from "../recorded_gateway.mjs";

const DAY_MS = 86_400_000;
const dateOf = (milliseconds) => new Date(milliseconds).toISOString().slice(0, 10);
let range;
let days = 10;

const gate = useGate("exports-consistent", {
  upstream: { pages: 700, analyticsLimit: 1e6 },
  gateway: { vars: { ANALYTICS_LIMIT_PER_HOUR: "100000" } },
});
const reader = caller(gate, "rita");
beforeEach(async () => {
  await gate.upstream.reset();
  const { today } = await gate.upstream.clock();
  const day = (ago) => dateOf(Date.parse(today) - ago * DAY_MS);
  days += 1;
  range = { dateFrom: day(days), dateTo: day(5) };
});

const getViews = (window) => gate.get(viewsOf({ ...range, ...window }), reader);

/** Makes the counts of the range grow, which reorders its rows. */
async function grow() {
  for (let day = 0; day < 6; day++) {
    const date = dateOf(Date.parse(range.dateFrom) + day * DAY_MS);
    await gate.upstream.setLate({ day: date, percent: 20 + day * 300 });
  }
}

async function readExport(options = {}) {
  const target = exportOf("views", { ...range, format: "ndjson" });
  const answer = await gate.get(target, { ...reader, ...options });
  assert.equal(answer.status, 200, answer.text);
  return splitLines(answer.text);
}

for (const offset of [0, 250, 500]) {
  test(`exports one state after counts grew since the page at offset ${offset} was cached`, async () => {
    await getViews({ offset, limit: 250 });
    await grow();
    const { views } = await gate.upstream.views(range);
    const before = await gate.received();
    const paths = (await readExport()).map((line) => JSON.parse(line).path);
    const expected = views.map(({ path }) => path);
    assert.deepEqual(paths, expected);
    assert.equal((await gate.received()) - before, 3);
  });
}

test("an export with no-cache requests each page once", async () => {
  await getViews({ offset: 0, limit: 250 });
  const before = await gate.received();
  await readExport({ headers: NO_CACHE });
  assert.equal((await gate.received()) - before, 3);
});

test("ends an export with a notice if counts change while it is read", async () => {
  const totals = { human: 1, ai: 1, total: 2 };
  const body = { totals, views: [{ path: "/x" }], hasMore: false };
  const fault = { kind: "json", status: 200, body };
  await gate.upstream.fault({ target: "offset=500", times: 1, fault });
  const lines = await readExport();
  assert.equal(lines.at(-1), '{"mixed":{"problem":"/problems/counts-changed"}}');
  assert.match(lines.at(-2), /\/x/);
});

test("returns a report of two pages from one state if the first page is outdated", async () => {
  await getViews({ offset: 0, limit: 250 });
  await grow();
  await getViews({ offset: 250, limit: 1 });
  const { totals, views } = await gate.upstream.views(range);
  const answer = await getViews({ offset: 200, limit: 100 });
  const body = JSON.parse(answer.text);
  assert.deepEqual(body.totals, totals);
  assert.deepEqual(body.views, views.slice(200, 300));
  assert.doesNotMatch(answer.header("cache-status"), /mixed/);
});
