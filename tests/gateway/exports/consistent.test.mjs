/**
 * Reports and exports of several pages while counts change. All pages of an answer have equal
 * totals. Otherwise the gateway fetches outdated pages again, or marks the answer as mixed.
 */
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { caller, viewsOf } from "../analytics_requests.mjs";
import { exportOf, FORMATS, splitLines } from "../expected_exports.mjs";
import { startGate } from "../recorded_gateway.mjs";

const DAY_MS = 86_400_000;
const MIXED = "/problems/counts-changed";

let gate;
let reader;
let range;
let days = 10;

before(async () => {
  gate = await startGate("exports-consistent", {
    upstream: { pages: 700, analyticsLimit: 1e6 },
    gateway: { vars: { ANALYTICS_LIMIT_PER_HOUR: "100000" } },
  });
  reader = caller(gate, "rita");
});
after(() => gate?.stop());
beforeEach(async () => {
  await gate.upstream.reset();
  const { today } = await gate.upstream.clock();
  const day = (ago) => new Date(Date.parse(today) - ago * DAY_MS).toISOString().slice(0, 10);
  days += 1;
  range = { dateFrom: day(days), dateTo: day(5) };
});

const getViews = (window) => gate.get(viewsOf({ ...range, ...window }), reader);

/** Makes the counts of the range grow, which reorders its rows. */
async function grow() {
  for (let day = 0; day < 6; day++) {
    const date = new Date(Date.parse(range.dateFrom) + day * DAY_MS).toISOString().slice(0, 10);
    await gate.upstream.setLate({ day: date, percent: 20 + day * 300 });
  }
}

async function readExport(format = "ndjson") {
  const answer = await gate.get(exportOf("views", { ...range, format }), reader);
  assert.equal(answer.status, 200, answer.text);
  return splitLines(answer.text);
}

const pathsOf = (lines) => lines.map((line) => JSON.parse(line).path);
const countRequests = async () => (await gate.upstream.requests()).length;

for (const offset of [0, 250, 500]) {
  test(`exports one state after counts grew since the page at offset ${offset} was cached`, async () => {
    await getViews({ offset, limit: 250 });
    await grow();
    const { views } = await gate.upstream.views(range);
    const before = await countRequests();
    assert.deepEqual(
      pathsOf(await readExport()),
      views.map((row) => row.path),
    );
    assert.equal((await countRequests()) - before, 3);
  });
}

test("exports cached pages without further requests while counts stay the same", async () => {
  for (const offset of [0, 250, 500]) await getViews({ offset, limit: 250 });
  const before = await countRequests();
  assert.equal((await readExport()).length, 700);
  assert.equal(await countRequests(), before);
});

for (const format of FORMATS) {
  test(`ends an export to ${format} with a notice if counts change while it is read`, async () => {
    const { upstream } = gate;
    const other = {
      totals: { human: 1, ai: 1, total: 2 },
      views: [{ path: "/x" }],
      hasMore: false,
    };
    const fault = { kind: "json", status: 200, body: other };
    await upstream.fault({ target: "offset=500", times: 1, fault });
    const lines = await readExport(format);
    const notice =
      format === "csv" ? `#mixed,problem=${MIXED},,\r` : `{"mixed":{"problem":"${MIXED}"}}`;
    assert.equal(lines.at(-1), notice);
    assert.match(lines.at(-2), /\/x/);
  });
}

for (const [first, second] of [
  [0, 250],
  [250, 0],
]) {
  test(`returns a report of two pages from one state if the page at offset ${first} is outdated`, async () => {
    await getViews({ offset: first, limit: 250 });
    await grow();
    await getViews({ offset: second, limit: 1 });
    const { totals, views } = await gate.upstream.views(range);
    const answer = await getViews({ offset: 200, limit: 100 });
    const body = JSON.parse(answer.text);
    assert.deepEqual(body.totals, totals);
    assert.deepEqual(body.views, views.slice(200, 300));
    assert.doesNotMatch(answer.header("cache-status"), /mixed/);
  });
}

test("marks a report as mixed if an outdated page cannot be fetched again", async () => {
  const { upstream } = gate;
  await getViews({ offset: 0, limit: 250 });
  await grow();
  await upstream.fault({ target: "offset=0", times: 0, fault: { kind: "status", status: 500 } });
  const answer = await getViews({ offset: 200, limit: 100 });
  assert.equal(answer.status, 200, answer.text);
  assert.match(answer.header("cache-status"), /; mixed$/);
  assert.equal(answer.header("cache-control"), "private, no-cache");
});
