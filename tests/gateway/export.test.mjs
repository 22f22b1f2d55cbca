/**
 * A whole range of a report as CSV or NDJSON: every row, byte for byte as the platform gave it, or a
 * last record that says where to go on.
 */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import {
  exportOf,
  FORMATS,
  formatRows,
  LISTS,
  MARK,
  newRange,
  pagesOf,
  readIncomplete,
  rowsUpstream,
  splitLines,
} from "./exports.mjs";
import { ALLOWED_ORIGIN, assertInvalid, assertProblem, PROJECT, startGate } from "./gate.mjs";
import { caller, organisation } from "./matrix.mjs";

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
after(async () => {
  await gate?.stop();
});
beforeEach(() => gate.upstream.reset());

const ask = (report, query, options = reader) => gate.get(exportOf(report, query), options);

/** Asserts a whole success and gives its text, the byte order mark included. */
function assertExport(answer) {
  assert.deepEqual([answer.status, answer.complete], [200, true], answer.text.slice(0, 500));
  return answer.text;
}

/** What a plain request for these rows is refused with. */
async function plainProblem(report, query, options) {
  const answer = await gate.get(
    `/v1/analytics/${PROJECT}/${report}?${new URLSearchParams(query)}`,
    options,
  );
  assert.ok(answer.status >= 400, answer.text);
  return { type: answer.json.type, retryAfter: Number(answer.header("retry-after")) };
}

describe("every row of a list", () => {
  for (const report of Object.keys(LISTS)) {
    for (const format of FORMATS) {
      test(`of ${report} is in the ${format}, as the platform gave it`, async () => {
        const range = newRange();
        const lines = await rowsUpstream(gate, report, range);
        assert.ok(pagesOf(report, lines) > 1, "there are several pages");
        const answer = await ask(report, { format, ...range });
        assert.equal(assertExport(answer), formatRows(report, format, lines));
        assert.equal(await gate.received(), pagesOf(report, lines), "no page is asked for twice");
        assert.equal(answer.header("content-type"), TYPES[format]);
        assert.equal(answer.header("cache-control"), "private, no-store");
        assert.equal(answer.header("x-content-type-options"), "nosniff");
        assert.equal(answer.header("preference-applied"), undefined);
        const name = /^attachment; filename="([a-z-]+)_demo-docs_([\d-]+)_([\d-]+)\.(\w+)"$/;
        const [, , ...named] = name.exec(answer.header("content-disposition")) ?? [];
        assert.deepEqual(named, [range.dateFrom, range.dateTo, format]);
      });
    }
  }

  test("comes from the same cache as the report's pages", async () => {
    const range = newRange();
    const csv = await ask("views", { format: "csv", ...range });
    const requests = await gate.received();
    const ndjson = await ask("views", { format: "ndjson", ...range });
    const page = await gate.get(
      `/v1/analytics/${PROJECT}/views?${new URLSearchParams({ ...range, offset: 1000, limit: 7 })}`,
      reader,
    );
    assert.equal(await gate.received(), requests, "nothing is asked for again");
    const lines = await rowsUpstream(gate, "views", range);
    assert.equal(assertExport(csv), formatRows("views", "csv", lines));
    assert.equal(assertExport(ndjson), lines);
    assert.deepEqual(page.json.views, splitLines(lines).slice(1000, 1007).map(JSON.parse));
  });

  test("costs what it has asked for, however many pages that was at once", async () => {
    const left = async () => (await organisation(gate)).budgets.analytics.left;
    const before = await left();
    assertExport(await ask("views", { format: "csv", ...newRange() }));
    assert.equal(before - (await left()), 11);
  });

  test("leaves pages that have the tag which they would have had alone", async () => {
    const range = newRange();
    assertExport(await ask("views", { format: "ndjson", ...range }));
    const target = `/v1/analytics/${PROJECT}/views?${new URLSearchParams({ ...range, offset: 2000, limit: 250 })}`;
    const kept = await gate.get(target, reader);
    assert.match(kept.header("cache-status"), /hit/);
    const again = await gate.get(target, { ...reader, headers: [["Cache-Control", "no-cache"]] });
    assert.match(again.header("cache-status"), /fwd/);
    assert.equal(again.header("etag"), kept.header("etag"));
    const since = [["If-None-Match", kept.header("etag")]];
    assert.equal((await gate.get(target, { ...reader, headers: since })).status, 304);
  });

  test("of a filtered report is what the filter lets through", async () => {
    const filters = { source: "contextual", status: "pending,resolved" };
    const range = newRange();
    const lines = await rowsUpstream(gate, "feedback", { ...range, ...filters });
    const all = await rowsUpstream(gate, "feedback", range);
    assert.ok(lines.length > 0 && lines.length < all.length);
    for (const format of FORMATS) {
      const answer = await ask("feedback", { format, ...range, ...filters });
      assert.equal(assertExport(answer), formatRows("feedback", format, lines));
    }
  });

  test("is there though pages in between are empty", async () => {
    await gate.upstream.digHole({ at: 200, places: 300 });
    for (const report of ["views", "feedback", "searches"]) {
      const range = newRange();
      const lines = await rowsUpstream(gate, report, range);
      const answer = await ask(report, { format: "ndjson", ...range });
      assert.equal(assertExport(answer), lines, report);
    }
  });

  test("of a list without rows is nothing but a header", async () => {
    const none = { dateFrom: "2024-01-01", dateTo: "2024-01-01" };
    const csv = await ask("views", { format: "csv", ...none });
    if (csv.status === 400) assertInvalid(csv, "dateFrom", "before-date-to");
    const empty = {
      ...reader,
      authorization: `Bearer ${gate.token({ sub: "e", projects: ["empty-docs"] })}`,
    };
    const query = { project: "empty-docs", ...newRange() };
    const header = await ask("views", { format: "csv", ...query }, empty);
    assert.equal(assertExport(header), `${MARK}path,human,ai,total\r\n`);
    assert.equal(assertExport(await ask("views", { format: "ndjson", ...query }, empty)), "");
  });

  test("keeps what is unusual in JSON, and is harmless in a spreadsheet", async () => {
    const rows = [
      String.raw`{ "path" : "=1+1" , "human":1, "ai" : null, "total":1e2, "new":{"a":[1 , {"b":"x\"]}"}]} }`,
      String.raw`{"path":"\u003dcmd|' /C calc'!A0","human":12345678901234567890,"ai":-0.0,"total":1.50}`,
      String.raw`{"human":3,"path":"\ud83d\ude80 \u00e9, \"q\"\r\nnew\\line\/\b\f\t","total":4}`,
      `{"total":5,"path":"@x","path2":"é🚀","human":0,"ai":5}`,
      `{"path":"-x","human":0,"ai":0,"total":0}`,
      String.raw`{"path":"\tx","human":0,"ai":0,"total":0}`,
      String.raw`{"path":"\nx","human":0,"ai":0,"total":0}`,
      `{"path":"","human":0,"ai":0,"total":0}`,
    ];
    const body = `{ "totals" : {"human":1,"ai":1,"total":2},\n "views": [ ${rows.join(" ,\n\t")} ], "hasMore":false }`;
    const spoil = { operation: "analytics.views", fault: { kind: "status", status: 200, body } };
    const range = newRange();
    await gate.upstream.fault(spoil);
    const ndjson = assertExport(await ask("views", { format: "ndjson", ...range }));
    const compact = [
      String.raw`{"path":"=1+1","human":1,"ai":null,"total":1e2,"new":{"a":[1,{"b":"x\"]}"}]}}`,
      ...rows.slice(1),
    ];
    assert.equal(ndjson, compact.map((row) => `${row}\n`).join(""));

    await gate.upstream.fault(spoil);
    const csv = assertExport(await ask("views", { format: "csv", ...newRange() }));
    const records = [
      "path,human,ai,total",
      "'=1+1,1,,1e2",
      "'=cmd|' /C calc'!A0,12345678901234567890,-0.0,1.50",
      `"🚀 é, ""q""\r\nnew\\line/\b\f\t",3,,4`,
      "'@x,0,5,5",
      "'-x,0,0,0",
      "'\tx,0,0,0",
      `"'\nx",0,0,0`,
      ",0,0,0",
    ];
    assert.equal(csv, MARK + records.map((record) => `${record}\r\n`).join(""));
  });

  test("is valid UTF-8 though a name holds half a character", async () => {
    const body = String.raw`{"totals":{},"views":[{"path":"a\ud800b","human":1,"ai":1,"total":2}],"hasMore":false}`;
    await gate.upstream.fault({ fault: { kind: "status", status: 200, body } });
    const answer = await ask("views", { format: "csv", ...newRange() });
    assert.equal(answer.status, 200);
    const text = new TextDecoder("utf-8", { fatal: true }).decode(answer.body);
    assert.equal(text, "path,human,ai,total\r\na\uFFFDb,1,1,2\r\n");
  });
});

describe("a request", () => {
  test("names its format and both ends of its range", async () => {
    const whole = { format: "csv", ...newRange() };
    for (const field of Object.keys(whole)) {
      const { [field]: _, ...rest } = whole;
      assertInvalid(await ask("views", rest), field, "required");
    }
    assert.equal(await gate.received(), 0);
  });

  test("is refused by field and rule when a value is wrong", async () => {
    const whole = { format: "csv", ...newRange() };
    for (const [changes, field, rule] of [
      [{ format: "xlsx" }, "format", "one-of"],
      [{ format: "" }, "format", "one-of"],
      [{ dateFrom: "2024-02-30" }, "dateFrom", "calendar-date"],
      [{ dateFrom: "2024-02-01", dateTo: "2024-01-01" }, "dateFrom", "before-date-to"],
      [{ limit: "10" }, "limit", "unknown"],
      [{ offset: "10" }, "offset", "unknown"],
      [{ source: "agent" }, "source", "unknown"],
    ]) {
      assertInvalid(await ask("views", { ...whole, ...changes }), field, rule);
    }
    const twice = `${exportOf("views", whole)}&format=ndjson`;
    assertInvalid(await gate.get(twice, reader), "format", "once");
    for (const cursor of ["", "x", "-1", "1.5", "99999999999999999999", "1~"]) {
      const answer = await ask("views", { ...whole, cursor });
      const [error] = assertProblem(answer, 400, "invalid-request").errors;
      assert.equal(error.field, "cursor", cursor);
    }
    for (const cursor of ["12", "x~", "-1~abc"]) {
      const answer = await ask("searches", { ...whole, cursor });
      const [error] = assertProblem(answer, 400, "invalid-request").errors;
      assert.equal(error.field, "cursor", cursor);
    }
    assert.equal(await gate.received(), 0);
  });

  test("is of a list, and only of one", async () => {
    for (const other of ["feedback/by-page", "assistant/caller-stats", "none"]) {
      assertProblem(await ask(other, { format: "csv", ...newRange() }), 404, "not-found");
    }
    const post = await gate.send({
      method: "POST",
      target: exportOf("views", { format: "csv", ...newRange() }),
      ...reader,
    });
    assertProblem(post, 405, "method-not-allowed");
    assert.equal(await gate.received(), 0);
  });

  test("needs the scope and the project of its report", async () => {
    const query = { format: "ndjson", ...newRange() };
    const nobody = await ask("views", query, { authorization: null });
    assertProblem(nobody, 401, "missing-token");
    for (const [report, claims] of [
      ["views", { scope: "jobs:read" }],
      ["assistant", { scope: "analytics:read" }],
      ["views", { scope: SCOPE, projects: ["other-docs"] }],
    ]) {
      const answer = await ask(report, query, caller(gate, "zoe", claims));
      assert.equal(answer.status, 403, report);
      assert.equal(answer.header("content-type"), "application/problem+json");
    }
    assert.equal(await gate.received(), 0);
  });

  test("of HEAD has the head of GET and no body", async () => {
    const target = exportOf("views", { format: "csv", ...newRange() });
    const head = await gate.send({ method: "HEAD", target, ...reader });
    const whole = await gate.get(target, reader);
    for (const name of ["content-type", "content-disposition", "cache-control"]) {
      assert.equal(head.header(name), whole.header(name), name);
    }
    assert.deepEqual([head.status, head.body.length], [200, 0]);
  });

  test("of an allowed origin may be read by its page", async () => {
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

describe("an export that cannot go on", () => {
  /** Asks as `options` until it cannot go on, then as the reader from there; gives what was said. */
  async function interrupt(report, format, range, options) {
    const lines = await rowsUpstream(gate, report, range);
    const answer = await ask(report, { format, ...range }, options);
    const { before, incomplete, cells } = readIncomplete(assertExport(answer), format);
    if (format === "csv") assert.equal(cells, LISTS[report].columns.length);
    const { cursor } = incomplete;
    return { before, incomplete, expected: formatRows(report, format, lines), cursor };
  }

  async function assertRest(report, format, range, { before, cursor, expected }) {
    const rest = await ask(report, { format, ...range, cursor });
    if (format === "csv") {
      assert.equal(rest.header("content-type"), "text/csv; charset=utf-8; header=absent");
    }
    assert.equal(before + assertExport(rest), expected);
  }

  for (const report of Object.keys(LISTS)) {
    for (const format of FORMATS) {
      test(`since the caller's quota is spent says so in the ${format} of ${report}`, async () => {
        const range = newRange();
        const quota = { analytics: 1 };
        const poor = caller(gate, `poor-${report}-${format}`, { scope: SCOPE, quota });
        const found = await interrupt(report, format, range, poor);
        const plain = await plainProblem(report, newRange(), poor);
        assert.equal(found.incomplete.problem, plain.type);
        const { retryAfter } = found.incomplete;
        assert.ok(retryAfter >= plain.retryAfter && retryAfter <= 3600, `${retryAfter} s`);
        await assertRest(report, format, range, found);
        assert.equal(
          await gate.received(),
          pagesOf(report, await rowsUpstream(gate, report, range)),
          "no page was asked for twice",
        );
      });
    }
  }

  test("goes on after any number of rows of a list by offset", async () => {
    const range = newRange();
    const lines = await rowsUpstream(gate, "views", range);
    const count = splitLines(lines).length;
    for (const cursor of [0, 1, 249, 250, 251, 1234, count - 1, count, count + 1]) {
      for (const format of FORMATS) {
        const answer = await ask("views", { format, ...range, cursor });
        const rest = splitLines(lines)
          .slice(cursor)
          .map((line) => `${line}\n`)
          .join("");
        const expected = formatRows("views", format, rest, { header: false });
        assert.equal(assertExport(answer), expected, `${format} from ${cursor}`);
      }
    }
  });

  test("goes on after any number of rows of a page of a list by cursor", async () => {
    const range = newRange();
    const lines = await rowsUpstream(gate, "searches", range);
    for (const skipped of [0, 1, 99, 100]) {
      const answer = await ask("searches", { format: "ndjson", ...range, cursor: `${skipped}~` });
      const rest = splitLines(lines).slice(skipped);
      assert.equal(assertExport(answer), rest.map((line) => `${line}\n`).join(""));
    }
  });

  test("refuses a cursor that no list gave as the report does", async () => {
    const query = { format: "ndjson", ...newRange(), cursor: "0~made-up" };
    const answer = await ask("searches", query);
    assert.equal(answer.status, 400, answer.text);
  });

  test("goes on behind empty pages from the cursor that it was told", async () => {
    await gate.upstream.digHole({ at: 250, places: 250 });
    const range = newRange();
    const poor = caller(gate, "poor-hole", { scope: SCOPE, quota: { analytics: 3 } });
    const found = await interrupt("views", "csv", range, poor);
    await assertRest("views", "csv", range, found);
  });

  const SPOILED = {
    "answers 503": { kind: "status", status: 503 },
    "cuts its answer": { kind: "cutBody" },
    "breaks the connection": { kind: "reset" },
    "answers no JSON": { kind: "malformedJson" },
  };
  for (const [what, fault] of Object.entries(SPOILED)) {
    for (const format of FORMATS) {
      test(`since the platform ${what} says so in the ${format}`, async () => {
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
    test(`since one of several pages fails that are asked for together says so in the ${format}`, async () => {
      const range = newRange();
      await gate.upstream.fault({ target: "offset=2250", times: 0, fault: SPOILED["answers 503"] });
      const found = await interrupt("views", format, range, reader);
      assert.equal(found.cursor, "2250");
      await gate.upstream.clearFaults();
      const before = await gate.received();
      await assertRest("views", format, range, found);
      assert.equal((await gate.received()) - before, 2, "what came before the failure was kept");
    });
  }

  test("since its list goes round in circles does not end as if it were whole", async () => {
    const target = "searches";
    const range = newRange();
    await gate.upstream.fault({ target, times: 0, after: 1, fault: { kind: "repeatCursor" } });
    const answer = await ask("searches", { format: "ndjson", ...range });
    const said = readIncomplete(assertExport(answer), "ndjson");
    assert.match(said.incomplete.problem, /^\/problems\//);
    const lines = await rowsUpstream(gate, "searches", range);
    assert.ok(lines.startsWith(said.before.slice(0, 100)));
  });

  test("at its first page is the problem of a plain request", async () => {
    const none = caller(gate, "none", { scope: SCOPE, quota: { analytics: 0 } });
    for (const format of FORMATS) {
      const query = { format, ...newRange() };
      const answer = await ask("views", query, none);
      assert.equal(answer.status, 429);
      assertProblem(
        answer,
        429,
        (await plainProblem("views", newRange(), none)).type.split("/").at(-1),
      );
      assert.match(answer.header("retry-after") ?? "", /^[1-9]\d*$/);
      assert.equal(answer.header("content-disposition"), undefined);
      await gate.upstream.fault({ times: 0, fault: { kind: "malformedJson" } });
      assert.equal((await ask("views", query)).status, 502);
      await gate.upstream.clearFaults();
    }
  });

  test("since its token has expired says so", async () => {
    const now = Math.floor(Date.now() / 1000);
    const short = caller(gate, "short", { scope: SCOPE, exp: now + 3 });
    await gate.upstream.hold({ target: "offset=500" });
    const range = newRange();
    const lines = await rowsUpstream(gate, "views", range);
    const answering = ask("views", { format: "ndjson", ...range }, short);
    await gate.upstream.untilHeld(1);
    // The token is looked at before the query, which nothing upstream is asked for.
    while ((await ask("views", { format: "none" }, short)).status !== 401);
    await gate.upstream.release();
    const { before, incomplete } = readIncomplete(assertExport(await answering), "ndjson");
    assert.equal(incomplete.problem, "/problems/invalid-token");
    const had = splitLines(lines).slice(0, Number(incomplete.cursor));
    assert.equal(before, had.map((line) => `${line}\n`).join(""));
    assert.ok(
      had.length === 500 || had.length === 750,
      "the page that was under way, and no other",
    );
  });
});

test("who leaves in the middle costs one page more at most", async () => {
  const range = newRange();
  const own = `dateFrom=${range.dateFrom}`;
  await gate.upstream.hold({ target: own, after: 2 });
  const target = exportOf("views", { format: "csv", ...range });
  const leaving = gate.open(gate.bytes({ target, ...reader }));
  await gate.upstream.untilHeld(1);
  leaving.leave();
  // A whole export on the same way: who came before it has left by then.
  assertExport(await ask("views", { format: "csv", ...newRange() }));
  await gate.upstream.release();
  assertExport(await ask("views", { format: "csv", ...newRange() }));
  await gate.untilCounters(({ inFlight }) => inFlight === 0);
  const requests = await gate.upstream.requests();
  const asked = requests.filter((request) => request.target.includes(own)).length;
  // The proxy of `wrangler dev` may hear that a client has left only when it writes to it.
  assert.ok(asked >= 3 && asked <= 4, `${asked} of 11 pages`);
});

test("many exports at once are whole", async () => {
  const ranges = Array.from({ length: 8 }, () => newRange());
  const all = ranges.flatMap((range) => FORMATS.map((format) => ({ format, ...range })));
  const answers = await Promise.all(all.map((query) => ask("views", query)));
  for (const [at, { format, ...range }] of all.entries()) {
    const lines = await rowsUpstream(gate, "views", range);
    assert.equal(assertExport(answers[at]), formatRows("views", format, lines));
  }
  assert.equal(await gate.received(), ranges.length * 11, "both formats share each page");
});

test("neither answers nor log hold the admin key, the secret or a token", () =>
  gate.assertDiscreet());
