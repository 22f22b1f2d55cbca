/**
 * Exports of reports as CSV or NDJSON. A complete export contains every matching row of its range.
 * An incomplete export ends with a record that contains the cursor for resuming.
 */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { caller, organization } from "../analytics_requests.mjs";
import {
  BYTE_ORDER_MARK,
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
import {
  ALLOWED_ORIGIN,
  assertInvalid,
  assertProblem,
  PROJECT,
  startGate,
} from "../recorded_gateway.mjs";

const SCOPE = "analytics:read analytics:conversations";
const TYPES = {
  csv: "text/csv; charset=utf-8; header=present",
  ndjson: "application/x-ndjson",
};

let gate;
let reader;

before(async () => {
  gate = await startGate("exports", {
    upstream: { pages: 2600, searches: 430, analyticsLimit: 1e6 },
    gateway: { vars: { ANALYTICS_LIMIT_PER_HOUR: "100000" } },
  });
  reader = caller(gate, "rita", { scope: SCOPE });
});
after(() => gate?.stop());
beforeEach(() => gate.upstream.reset());

const getExport = (report, query, options = reader) => gate.get(exportOf(report, query), options);

/** Asserts a complete 200 and returns its body, including the byte order mark. */
function assertExport(answer) {
  assert.deepEqual([answer.status, answer.complete], [200, true], answer.text.slice(0, 500));
  return answer.text;
}

/** Requests the report instead of an export. Returns the problem's type, and `Retry-After`. */
async function plainProblem(report, query, options) {
  const answer = await gate.get(
    `/v1/analytics/${PROJECT}/${report}?${new URLSearchParams(query)}`,
    options,
  );
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
    const page = await gate.get(
      `/v1/analytics/${PROJECT}/views?${new URLSearchParams({ ...range, offset: 1000, limit: 7 })}`,
      reader,
    );
    assert.equal(await gate.received(), requests, "no page is fetched again");
    const lines = await rowsUpstream(gate, "views", range);
    assert.equal(assertExport(csv), formatRows("views", "csv", lines));
    assert.equal(assertExport(ndjson), lines);
    assert.deepEqual(page.json.views, splitLines(lines).slice(1000, 1007).map(JSON.parse));
  });

  test("charges an export one unit per page", async () => {
    const left = async () => (await organization(gate)).budgets.analytics.left;
    const before = await left();
    assertExport(await getExport("views", { format: "csv", ...newRange() }));
    assert.equal(before - (await left()), 11);
  });

  test("returns the same ETag for a page cached by an export as for a page fetched alone", async () => {
    const range = newRange();
    assertExport(await getExport("views", { format: "ndjson", ...range }));
    const target = `/v1/analytics/${PROJECT}/views?${new URLSearchParams({ ...range, offset: 2000, limit: 250 })}`;
    const cached = await gate.get(target, reader);
    assert.match(cached.header("cache-status"), /hit/);
    const again = await gate.get(target, { ...reader, headers: [["Cache-Control", "no-cache"]] });
    assert.match(again.header("cache-status"), /fwd/);
    assert.equal(again.header("etag"), cached.header("etag"));
    const since = [["If-None-Match", cached.header("etag")]];
    assert.equal((await gate.get(target, { ...reader, headers: since })).status, 304);
  });

  test("exports only the matching rows of a filtered report", async () => {
    const filters = { source: "contextual", status: "pending,resolved" };
    const range = newRange();
    const lines = await rowsUpstream(gate, "feedback", { ...range, ...filters });
    const all = await rowsUpstream(gate, "feedback", range);
    assert.ok(lines.length > 0 && lines.length < all.length);
    for (const format of FORMATS) {
      const answer = await getExport("feedback", { format, ...range, ...filters });
      assert.equal(assertExport(answer), formatRows("feedback", format, lines));
    }
  });

  test("exports only a header as csv and nothing as ndjson for a range without rows", async () => {
    const none = { dateFrom: "2024-01-01", dateTo: "2024-01-01" };
    const rejected = await getExport("views", { format: "csv", ...none });
    assertInvalid(rejected, "dateFrom", "before-date-to");
    const empty = {
      ...reader,
      authorization: `Bearer ${gate.token({ sub: "e", projects: ["empty-docs"] })}`,
    };
    const query = { project: "empty-docs", ...newRange() };
    const header = await getExport("views", { format: "csv", ...query }, empty);
    assert.equal(assertExport(header), `${BYTE_ORDER_MARK}path,human,ai,total\r\n`);
    assert.equal(assertExport(await getExport("views", { format: "ndjson", ...query }, empty)), "");
  });
});

describe("an export request", () => {
  test("rejects invalid parameters of an export by field and rule", async () => {
    const whole = { format: "csv", ...newRange() };
    for (const [changes, field, rule] of [
      [{ format: "xlsx" }, "format", "one-of"],
      [{ limit: "10" }, "limit", "unknown"],
    ]) {
      assertInvalid(await getExport("views", { ...whole, ...changes }), field, rule);
    }
    const twice = `${exportOf("views", whole)}&format=ndjson`;
    assertInvalid(await gate.get(twice, reader), "format", "once");
    for (const cursor of ["12", "x~", "-1~abc"]) {
      const answer = await getExport("searches", { ...whole, cursor });
      const [error] = assertProblem(answer, 400, "invalid-request").errors;
      assert.equal(error.field, "cursor", cursor);
    }
    assert.equal(await gate.received(), 0);
  });

  test("exports only reports that are lists, and only for GET", async () => {
    for (const other of ["feedback/by-page", "assistant/caller-stats", "none"]) {
      assertProblem(await getExport(other, { format: "csv", ...newRange() }), 404, "not-found");
    }
    const post = await gate.send({
      method: "POST",
      target: exportOf("views", { format: "csv", ...newRange() }),
      ...reader,
    });
    assertProblem(post, 405, "method-not-allowed");
    assert.equal(await gate.received(), 0);
  });

  test("requires the scope and the project of a report to export it", async () => {
    const query = { format: "ndjson", ...newRange() };
    const anonymous = await getExport("views", query, { authorization: null });
    assertProblem(anonymous, 401, "missing-token");
    for (const [report, claims] of [
      ["views", { scope: "jobs:read" }],
      ["assistant", { scope: "analytics:read" }],
      ["views", { scope: SCOPE, projects: ["other-docs"] }],
    ]) {
      const answer = await getExport(report, query, caller(gate, "zoe", claims));
      assert.equal(answer.status, 403, report);
      assert.equal(answer.header("content-type"), "application/problem+json");
    }
    assert.equal(await gate.received(), 0);
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

  test("lets an allowed origin read an export, and no other origin", async () => {
    const target = exportOf("views", { format: "csv", ...newRange() });
    const answer = await gate.get(target, { ...reader, headers: [["Origin", ALLOWED_ORIGIN]] });
    assertExport(answer);
    assert.equal(answer.header("access-control-allow-origin"), ALLOWED_ORIGIN);
    const foreign = await gate.get(target, {
      ...reader,
      headers: [["Origin", "https://evil.example"]],
    });
    assert.equal(foreign.status, 403);
  });
});

describe("an incomplete export", () => {
  /** Requests an incomplete export. Returns its parts, and the expected complete export. */
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
        assert.equal(
          await gate.received(),
          pagesOf(report, await rowsUpstream(gate, report, range)),
          "each page is fetched once",
        );
      });
    }
  }

  test("resumes an export of an offset-based list after any number of rows", async () => {
    const range = newRange();
    const lines = await rowsUpstream(gate, "views", range);
    const count = splitLines(lines).length;
    for (const cursor of [0, 1, 249, 250, 251, 1234, count - 1, count, count + 1]) {
      for (const format of FORMATS) {
        const answer = await getExport("views", { format, ...range, cursor });
        const rest = splitLines(lines)
          .slice(cursor)
          .map((line) => `${line}\n`)
          .join("");
        const expected = formatRows("views", format, rest, { header: false });
        assert.equal(assertExport(answer), expected, `${format} from ${cursor}`);
      }
    }
  });

  test("resumes an export of a cursor-based list after any row of a page", async () => {
    const range = newRange();
    const lines = await rowsUpstream(gate, "searches", range);
    for (const skipped of [0, 1, 99, 100]) {
      const answer = await getExport("searches", {
        format: "ndjson",
        ...range,
        cursor: `${skipped}~`,
      });
      const rest = splitLines(lines).slice(skipped);
      assert.equal(assertExport(answer), rest.map((line) => `${line}\n`).join(""));
    }
  });

  test("returns the upstream's 400 for an export with a made-up cursor", async () => {
    const query = { format: "ndjson", ...newRange(), cursor: "0~made-up" };
    const answer = await getExport("searches", query);
    assert.equal(answer.status, 400, answer.text);
  });

  const FAULTS = {
    "returns 503": { kind: "status", status: 503 },
    "truncates its response": { kind: "cutBody" },
    "breaks the connection": { kind: "reset" },
    "returns malformed JSON": { kind: "malformedJson" },
  };
  for (const [what, fault] of Object.entries(FAULTS)) {
    for (const format of FORMATS) {
      test(`ends the ${format} export with a cursor when the upstream ${what}`, async () => {
        const range = newRange();
        const target = "offset=500";
        await gate.upstream.fault({ target, times: 0, fault });
        const found = await interrupt("views", format, range, reader);
        assert.equal(found.cursor, "500");
        const plain = await plainProblem("views", { ...range, limit: 250, offset: 500 }, reader);
        assert.equal(found.incomplete.problem, plain.type);
        await gate.upstream.clearFaults();
        await assertRest("views", format, range, found);
      });
    }
  }

  for (const format of FORMATS) {
    test(`exports the pages before a failed page of the same batch as ${format}`, async () => {
      const range = newRange();
      await gate.upstream.fault({ target: "offset=2250", times: 0, fault: FAULTS["returns 503"] });
      const found = await interrupt("views", format, range, reader);
      assert.equal(found.cursor, "2250");
      await gate.upstream.clearFaults();
      const before = await gate.received();
      await assertRest("views", format, range, found);
      assert.equal((await gate.received()) - before, 2, "pages before the failure are cached");
    });
  }

  test("ends an export of a list with a repeated cursor as incomplete", async () => {
    const target = "searches";
    const range = newRange();
    await gate.upstream.fault({ target, times: 0, after: 1, fault: { kind: "repeatCursor" } });
    const answer = await getExport("searches", { format: "ndjson", ...range });
    const found = readIncomplete(assertExport(answer), "ndjson");
    assert.match(found.incomplete.problem, /^\/problems\//);
    const lines = await rowsUpstream(gate, "searches", range);
    assert.ok(lines.startsWith(found.before.slice(0, 100)));
  });

  test("returns the problem of a plain request for an export whose first page fails", async () => {
    const none = caller(gate, "none", { scope: SCOPE, quota: { analytics: 0 } });
    for (const format of FORMATS) {
      const query = { format, ...newRange() };
      const answer = await getExport("views", query, none);
      assert.equal(answer.status, 429);
      assertProblem(
        answer,
        429,
        (await plainProblem("views", newRange(), none)).type.split("/").at(-1),
      );
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
    assert.ok(
      received.length === 500 || received.length === 750,
      "at most the page in flight is added",
    );
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

test("completes concurrent exports and fetches each page once", async () => {
  const ranges = Array.from({ length: 8 }, () => newRange());
  const all = ranges.flatMap((range) => FORMATS.map((format) => ({ format, ...range })));
  const answers = await Promise.all(all.map((query) => getExport("views", query)));
  for (const [at, { format, ...range }] of all.entries()) {
    const lines = await rowsUpstream(gate, "views", range);
    assert.equal(assertExport(answers[at]), formatRows("views", format, lines));
  }
  assert.equal(await gate.received(), ranges.length * 11, "both formats share the pages");
});
