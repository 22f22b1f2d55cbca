import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:http";
import { describe, test } from "node:test";
import { Random } from "../../harness/random.mjs";
import { caller } from "../analytics_requests.mjs";
import {
  exportOf,
  formatRows,
  isIncomplete,
  keepWholeRecords,
  newRange,
  readIncomplete,
  rowsUpstream,
} from "../expected_exports.mjs";
import { runSql } from "../jobs_gateway.mjs";
import { useGate } from "../recorded_gateway.mjs";

const HOUR_MS = 3_600_000;
/** The hourly request limit of the upstream and of the gateway. */
const BUDGET = 20;
const PAGE_ROWS = 250;

async function read(gate, target, headers, { maxBytes = Number.POSITIVE_INFINITY } = {}) {
  const sent = request(`${gate.gateway.url}${target}`, { headers, agent: false }).end();
  const [answer] = await once(sent, "response");
  const parts = [];
  let length = 0;
  for await (const part of answer) {
    parts.push(part);
    length += part.length;
    if (length >= maxBytes) break;
  }
  sent.destroy();
  const body = Buffer.concat(parts);
  const isCut = length >= maxBytes;
  return { status: answer.statusCode, body: isCut ? body.subarray(0, maxBytes) : body, isCut };
}

describe("an export over four windows", () => {
  const ROWS = 20_000;
  const BREAKS = 10;
  const SEED = 20_261_122;
  /** The range of the expected `retryAfter`. */
  const [MIN_WAIT_SECONDS, MAX_WAIT_SECONDS] = [HOUR_MS / 1000 - 900, HOUR_MS / 1000 + 1];
  const gate = useGate("exports-long", {
    stored: true,
    upstream: { pages: ROWS, analyticsLimit: BUDGET },
    gateway: { vars: { ANALYTICS_LIMIT_PER_HOUR: String(BUDGET) } },
  });
  const reader = caller(gate, "rita");

  /** Simulates that an hour passes, for the gateway's reservations and for the simulator. */
  async function passAnHour() {
    const age = [["UPDATE reservation SET at = at - ?", HOUR_MS]];
    await gate.restart(() => runSql(gate.state, age, "organisation", "ORG_GATE"));
    await gate.upstream.forwardClock(HOUR_MS);
  }

  /** Exports a range over connections that break at the byte offsets `breaks` of the export. */
  async function exportAll(format, range, breaks) {
    const pieces = [];
    const found = { cuts: 0, windows: 1, length: 0, rows: 0 };
    const keep = (whole, rows) => {
      pieces.push(whole);
      found.length += whole.length;
      found.rows += rows;
    };
    const remaining = [...breaks];
    for (;;) {
      const isFirst = found.rows === 0 && found.length === 0;
      const query = { format, ...range, ...(isFirst ? {} : { cursor: found.rows }) };
      const maxBytes = remaining.length > 0 ? Math.max(1, remaining[0] - found.length) : undefined;
      const answer = await read(gate, exportOf("views", query), reader, { maxBytes });
      if (answer.status === 429) {
        found.windows += 1;
        await passAnHour();
        continue;
      }
      assert.equal(answer.status, 200, answer.body.toString());
      if (answer.isCut) {
        remaining.shift();
        found.cuts += 1;
        const { whole, rows } = keepWholeRecords(answer.body, format, isFirst);
        // Without a complete row, the next attempt repeats the same request. The first request
        // includes the header, so a header without rows is discarded.
        if (rows > 0) keep(whole, rows);
        continue;
      }
      const text = answer.body.toString();
      if (!isIncomplete(text, format)) {
        const { whole, rows } = keepWholeRecords(answer.body, format, isFirst);
        assert.equal(whole.length, answer.body.length, "the export ends with a complete record");
        keep(whole, rows);
        return { ...found, bytes: Buffer.concat(pieces) };
      }
      const { before, incomplete } = readIncomplete(text, format);
      const { whole, rows } = keepWholeRecords(Buffer.from(before), format, isFirst);
      keep(whole, rows);
      assert.equal(incomplete.cursor, String(found.rows), "the cursor is the number of rows");
      const { retryAfter } = incomplete;
      const isExpected = MIN_WAIT_SECONDS <= retryAfter && retryAfter <= MAX_WAIT_SECONDS;
      assert.ok(isExpected, `${retryAfter} s`);
      found.windows += 1;
      await passAnHour();
    }
  }

  test("exports 20,000 rows completely in four windows and over ten broken connections", async (t) => {
    const format = "csv";
    const range = newRange();
    if ((await gate.received()) > 0) await passAnHour();
    const lines = await rowsUpstream(gate, "views", range);
    const expected = Buffer.from(formatRows("views", format, lines));
    const random = new Random(SEED);
    const breaks = Array.from({ length: BREAKS }, () => random.below(expected.length));
    breaks.sort((a, b) => a - b);
    const before = await gate.upstream.counters();
    const found = await exportAll(format, range, breaks);
    const after = await gate.upstream.counters();
    const requests = after.requests - before.requests;
    t.diagnostic(
      `${format}: ${found.rows} rows, ${found.bytes.length} bytes, ${found.windows} windows, ` +
        `${found.cuts} breaks, ${requests} requests`,
    );
    assert.equal(found.rows, ROWS);
    assert.ok(found.bytes.equals(expected), "the export equals the expected bytes");
    assert.equal(found.cuts, BREAKS);
    const pages = ROWS / PAGE_ROWS;
    assert.ok(requests >= pages && requests <= pages + BREAKS, `${requests} requests`);
    assert.ok(found.windows >= pages / BUDGET, `${found.windows} windows`);
    assert.equal(after.byStatus[429] ?? 0, 0, "the upstream's own budget is never exceeded");
  });
});
