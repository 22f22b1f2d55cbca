import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { budget, caller } from "../analytics_requests.mjs";
import {
  exportOf,
  FORMATS,
  formatRows,
  LISTS,
  newRange,
  pagesOf,
  readIncomplete,
  rowsUpstream,
  splitLines,
} from "../expected_exports.mjs";
import { assertProblem, PROJECT, useGate } from "../recorded_gateway.mjs";

const SCOPE = "analytics:read analytics:conversations";
const TYPES = {
  csv: "text/csv; charset=utf-8; header=present",
  ndjson: "application/x-ndjson",
};

const gate = useGate("exports", {
  upstream: { pages: 2600, searches: 430, analyticsLimit: 1e6 },
  gateway: { vars: { ANALYTICS_LIMIT_PER_HOUR: "100000" } },
});
const reader = caller(gate, "rita", { scope: SCOPE });
beforeEach(() => gate.upstream.reset());

const getReport = (report, query, options = reader) =>
  gate.get(`/v1/analytics/${PROJECT}/${report}?${new URLSearchParams(query)}`, options);
const getExport = (report, query, options = reader) => gate.get(exportOf(report, query), options);

function assertExport(answer) {
  assert.deepEqual([answer.status, answer.complete], [200, true], answer.text.slice(0, 500));
  return answer.text;
}

/** Requests the report instead of an export. Returns the problem's type, and `Retry-After`. */
async function plainProblem(report, query, options) {
  const answer = await getReport(report, query, options);
  assert.ok(answer.status >= 400, answer.text);
  return { type: answer.json.type, retryAfter: Number(answer.header("retry-after")) };
}

describe("an export of a list", () => {
  for (const report of Object.keys(LISTS)) {
    for (const format of FORMATS) {
      test(`exports every row of ${report} as ${format} verbatim`, async () => {
        const range = newRange();
        const lines = await rowsUpstream(gate, report, range);
        assert.ok(pagesOf(report, lines) > 1, "the range has several pages");
        const answer = await getExport(report, { format, ...range });
        assert.equal(assertExport(answer), formatRows(report, format, lines));
        assert.equal(await gate.received(), pagesOf(report, lines), "each page is fetched once");
        assert.equal(answer.header("content-type"), TYPES[format]);
        assert.equal(answer.header("cache-control"), "private, no-store");
        assert.equal(answer.header("x-content-type-options"), "nosniff");
        const disposition = /^attachment; filename="([a-z-]+)_demo-docs_([\d-]+)_([\d-]+)\.(\w+)"$/;
        const [, , ...parts] = disposition.exec(answer.header("content-disposition")) ?? [];
        assert.deepEqual(parts, [range.dateFrom, range.dateTo, format]);
      });
    }
  }

  test("serves exports and plain requests of a report from the same cache", async () => {
    const range = newRange();
    const csv = await getExport("views", { format: "csv", ...range });
    const requests = await gate.received();
    const ndjson = await getExport("views", { format: "ndjson", ...range });
    const page = await getReport("views", { ...range, offset: 1000, limit: 7 });
    assert.equal(await gate.received(), requests, "no page is fetched again");
    const lines = await rowsUpstream(gate, "views", range);
    assert.equal(assertExport(csv), formatRows("views", "csv", lines));
    assert.equal(assertExport(ndjson), lines);
    assert.deepEqual(page.json.views, splitLines(lines).slice(1000, 1007).map(JSON.parse));
  });

  test("charges an export one unit per page", async () => {
    const { left } = await budget(gate);
    assertExport(await getExport("views", { format: "csv", ...newRange() }));
    assert.equal(left - (await budget(gate)).left, 11);
  });
});

test("responds to HEAD of an export with the header fields of GET and no body", async () => {
  const target = exportOf("views", { format: "csv", ...newRange() });
  const head = await gate.send({ method: "HEAD", target, ...reader });
  const whole = await gate.get(target, reader);
  for (const name of ["content-type", "content-disposition", "cache-control"]) {
    assert.equal(head.header(name), whole.header(name), name);
  }
  assert.deepEqual([head.status, head.body.length], [200, 0]);
});

describe("an incomplete export", () => {
  async function interrupt(report, format, range, options) {
    const lines = await rowsUpstream(gate, report, range);
    const answer = await getExport(report, { format, ...range }, options);
    const { before, incomplete, cells } = readIncomplete(assertExport(answer), format);
    if (format === "csv") assert.equal(cells, LISTS[report].columns.length);
    const { cursor } = incomplete;
    return { before, incomplete, expected: formatRows(report, format, lines), cursor };
  }

  async function assertRest(report, format, range, { before, cursor, expected }) {
    const rest = await getExport(report, { format, ...range, cursor });
    if (format === "csv") {
      assert.equal(rest.header("content-type"), "text/csv; charset=utf-8; header=absent");
    }
    assert.equal(before + assertExport(rest), expected);
  }

  for (const report of Object.keys(LISTS)) {
    for (const format of FORMATS) {
      test(`ends the ${format} export of ${report} with a cursor when the caller's quota is spent`, async () => {
        const range = newRange();
        const quota = { analytics: 1 };
        const limited = caller(gate, `poor-${report}-${format}`, { scope: SCOPE, quota });
        const found = await interrupt(report, format, range, limited);
        const plain = await plainProblem(report, newRange(), limited);
        assert.equal(found.incomplete.problem, plain.type);
        const { retryAfter } = found.incomplete;
        assert.ok(retryAfter >= plain.retryAfter && retryAfter <= 3600, `${retryAfter} s`);
        await assertRest(report, format, range, found);
        const pages = pagesOf(report, await rowsUpstream(gate, report, range));
        assert.equal(await gate.received(), pages, "each page is fetched once");
      });
    }
  }
  test("returns the problem of a plain request for an export whose first page fails", async () => {
    const none = caller(gate, "none", { scope: SCOPE, quota: { analytics: 0 } });
    for (const format of FORMATS) {
      const query = { format, ...newRange() };
      const answer = await getExport("views", query, none);
      const { type } = await plainProblem("views", newRange(), none);
      assertProblem(answer, 429, type.split("/").at(-1));
      assert.match(answer.header("retry-after") ?? "", /^[1-9]\d*$/);
      assert.equal(answer.header("content-disposition"), undefined);
      await gate.upstream.fault({ times: 0, fault: { kind: "malformedJson" } });
      assert.equal((await getExport("views", query)).status, 502);
      await gate.upstream.clearFaults();
    }
  });

  test("ends an export as incomplete when its token expires", async () => {
    await gate.upstream.hold({ target: "offset=500" });
    const range = newRange();
    const lines = await rowsUpstream(gate, "views", range);
    const now = Math.floor(Date.now() / 1000);
    const short = caller(gate, "short", { scope: SCOPE, exp: now + 6 });
    const pending = getExport("views", { format: "ndjson", ...range }, short);
    await gate.upstream.untilHeld(1);
    // Repeat an export with an invalid format until the gateway rejects the token as expired. Until
    // then, the gateway rejects the format and sends nothing upstream.
    while ((await getExport("views", { format: "none" }, short)).status !== 401);
    await gate.upstream.release();
    const { before, incomplete } = readIncomplete(assertExport(await pending), "ndjson");
    assert.equal(incomplete.problem, "/problems/invalid-token");
    const received = splitLines(lines).slice(0, Number(incomplete.cursor));
    assert.equal(before, received.map((line) => `${line}\n`).join(""));
    assert.ok([500, 750].includes(received.length), "at most the page in flight is added");
  });
});

test("fetches at most one more page after a client disconnects during an export", async () => {
  const range = newRange();
  const own = `dateFrom=${range.dateFrom}`;
  await gate.upstream.hold({ target: own, after: 2 });
  const target = exportOf("views", { format: "csv", ...range });
  const leaving = gate.open(gate.bytes({ target, ...reader }));
  await gate.upstream.untilHeld(1);
  leaving.leave();
  // When this other export finishes, the disconnect has reached the Worker.
  assertExport(await getExport("views", { format: "csv", ...newRange() }));
  await gate.upstream.release();
  assertExport(await getExport("views", { format: "csv", ...newRange() }));
  await gate.untilCounters(({ inFlight }) => inFlight === 0);
  const requests = await gate.upstream.requests();
  const pages = requests.filter((request) => request.target.includes(own)).length;
  // The runtime may notice the disconnect only when the gateway writes the next chunk.
  assert.ok(pages >= 3 && pages <= 4, `${pages} of 11 pages`);
});
