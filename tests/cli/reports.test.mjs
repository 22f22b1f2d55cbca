/** Commands that print reports. */
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { describe, test } from "node:test";
import { assertFailed } from "./command_line.mjs";
import { assertSame, exportByClient, FORMATS, RANGE, ROWS } from "./exported_reports.mjs";
import {
  folder,
  quillgate,
  read,
  readJson,
  respondTo,
  respondWith,
  server,
  succeed,
  useStandIn,
} from "./session.mjs";
import { budgetFields, problem } from "./stand_in.mjs";

const REPORTS = ["views", "visitors", "feedback", "searches"];
useStandIn({ rows: ROWS });

for (const report of REPORTS) {
  test(`exports every row of ${report} in every format, to standard output and to a file`, async () => {
    const csv = await exportByClient(report, "csv");
    const ndjson = await exportByClient(report, "ndjson");
    const rows = ndjson.trimEnd().split("\n").map(JSON.parse);
    assert.equal(rows.length, ROWS);
    for (const format of FORMATS) {
      const { stdout, stderr, bytes } = await succeed([report, ...RANGE, "--format", format]);
      if (format === "json") assert.deepEqual(JSON.parse(stdout), rows);
      else assertSame(bytes.toString(), format === "csv" ? csv : ndjson);
      assert.match(stderr, /: 1,100 rows in \d+ requests, \d+ left\n$/);

      const file = `out.${format}`;
      const toFile = await quillgate([report, ...RANGE, "-o", file]);
      assert.deepEqual([toFile.code, toFile.stdout], [0, ""]);
      assertSame(read(file), stdout);
    }
    assert.deepEqual(readdirSync(folder).sort(), ["out.csv", "out.json", "out.ndjson"]);
  });

  test(`prints the first rows of ${report} as a table and says that more may exist`, async () => {
    const { stdout, stderr } = await succeed([report, "--rows", "3", "--format", "table"]);
    assert.equal(stdout.trimEnd().split("\n").length, 4);
    assert.match(stderr, /3 rows in 1 request, \d+ left\nthere may be more rows/);
    assert.match(server.requests[0].path, /limit=3\b/);
  });
}

for (const count of [3, 250, 251, 5000]) {
  test(`--rows ${count} limits the rows of every format in a pipe and in a file`, async () => {
    const csv = await exportByClient("views", "csv");
    const rows = (await exportByClient("views", "ndjson")).trimEnd().split("\n");
    const expected = rows.slice(0, count);
    const pages = Math.min(Math.ceil(count / 250), Math.ceil(ROWS / 250));
    const args = ["views", ...RANGE, "--rows", String(count)];
    for (const format of ["default", ...FORMATS]) {
      server.requests.length = 0;
      server.refillBudget();
      const chosen = format === "default" ? [] : ["--format", format];
      const { stdout } = await succeed([...args, ...chosen]);
      assert.equal(server.requests.length, pages, "requests");
      if (format === "json") assert.deepEqual(JSON.parse(stdout), expected.map(JSON.parse));
      else if (format === "csv") {
        // Every path has a line feed, so split at the CRLF that ends each record.
        const lines = csv.split("\r\n").slice(0, 1 + expected.length);
        assertSame(stdout, `${lines.join("\r\n")}\r\n`);
      } else assertSame(stdout, `${expected.join("\n")}\n`);

      if (format === "default") continue;
      await succeed([...args, "-o", `out.${format}`]);
      assertSame(read(`out.${format}`), stdout);
    }
    assert.deepEqual(readdirSync(folder).sort(), ["out.csv", "out.json", "out.ndjson"]);
  });
}

test("removes escape sequences from rows on a terminal, but not in a pipe", async () => {
  const path = "/a\u001b[2J\u009b2J\u202eb";
  const json = { totals: {}, views: [{ path, human: 1, ai: 1, total: 2 }], hasMore: false };
  respondWith(() => ({ json }));
  for (const format of ["table", ...FORMATS]) {
    const args = ["views", ...RANGE, "--format", format, "--quiet"];
    const { stdout } = await quillgate(args, { columns: 100 });
    assert.ok(stdout.includes("2J"), "the row is missing");
    for (const control of ["\u001b", "\u009b", "\u202e"])
      assert.ok(!stdout.includes(control), format);
    if (format === "table") continue;
    const { stderr } = await quillgate([...args, "-o", "/dev/stderr"], { columns: 100 });
    assert.ok(stderr.includes("2J"), "the row is missing");
    for (const control of ["\u001b", "\u009b", "\u202e"])
      assert.ok(!stderr.includes(control), `${format} on stderr`);
  }
  const { stdout } = await quillgate(["views", ...RANGE, "--format", "csv", "--quiet"]);
  assert.ok(stdout.includes(path));
});

function readDates({ path }) {
  const query = new URL(path, server.url).searchParams;
  return ["dateFrom", "dateTo"].map((name) => query.get(name));
}

test("--last selects the last days in UTC with today, and 28 days are the default", async () => {
  for (const [flags, days] of [
    [["--last", "2w"], 14],
    [[], 28],
  ]) {
    server.requests.length = 0;
    const { stderr } = await quillgate(["views", ...flags, "--rows", "1", "--format", "table"]);
    const [from, to] = readDates(server.requests[0]).map((text) => Date.parse(text));
    assert.equal(Math.ceil((to - from) / 86_400_000), days);
    assert.ok(to <= Date.now() && Date.now() - to < 86_400_000);
    assert.match(stderr, /^[A-Z][a-z]{2} \d+(, \d{4})? – [A-Z][a-z]{2} \d+, \d{4}, UTC\n/);
  }
});

test("--compare shows each figure beside that of the previous period", async () => {
  const [rows, earlier] = [
    { "/a": 15, "/new": 3 },
    { "/a": 10, "/gone": 7 },
  ].map((totals) =>
    Object.entries(totals).map(([path, total]) => ({ path, human: total, ai: 0, total })),
  );
  respondWith(({ path }) => {
    const views = path.includes("dateFrom=2026-01-08") ? rows : earlier;
    return { json: { totals: {}, views, hasMore: false } };
  });
  const args = ["views", "--from", "2026-01-08", "--to", "2026-01-15", "--compare"];
  const { stdout, stderr } = await succeed([...args, "--format", "table"]);
  assert.deepEqual(server.requests.map(readDates), [
    ["2026-01-08", "2026-01-15"],
    ["2026-01-01", "2026-01-08"],
  ]);
  assert.equal(
    stdout,
    [
      "PATH  HUMAN  BEFORE  AI  BEFORE  TOTAL  BEFORE",
      "/a       15      10   0       0     15      10",
      "/new      3       0   0       0      3       0",
      "",
    ].join("\n"),
  );
  assert.match(stderr, /^Jan 8 – Jan 14, 2026, UTC, compared with Jan 1 – Jan 7, 2026, UTC\n/);
  const narrow = await quillgate([...args, "--quiet"], { columns: 34 });
  assert.match(narrow.stdout, /^PATH +HUMAN +BEFORE +TOTAL +BEFORE$/m);
  const totals = (await readJson(args)).map(({ previous }) => previous.total);
  assert.deepEqual(totals, [10, 0]);
});

test("--graph draws the main figure as bars that fit the terminal", async () => {
  const views = [40, 20, 1, 0].map((total, at) => ({ path: `/${at}`, human: 1, ai: 1, total }));
  respondWith(() => ({ json: { totals: {}, views, hasMore: false } }));
  for (const columns of [40, 80]) {
    const { stdout } = await quillgate(["views", "--graph", ...RANGE], { columns });
    const lines = stdout.trimEnd().split("\n").slice(1);
    const bars = lines.map((line) => line.match(/█/g)?.length ?? 0);
    const longest = Math.ceil(columns / 3);
    assert.deepEqual(bars, [0, longest, Math.ceil(longest / 2), 1, 0]);
    assert.ok(lines.every((line) => [...line].length <= columns));
  }
  assert.match((await quillgate(["views", "--graph", ...RANGE])).stdout, /^PATH +TOTAL\n/);
});

test("stats compares the totals of every report, and warns about one that is forbidden", async () => {
  const { period, previous, reports } = await readJson(["stats"]);
  assert.equal(server.requests.length, 10);
  assert.equal(Math.ceil((Date.parse(period.dateTo) - Date.parse(period.dateFrom)) / 864e5), 28);
  assert.ok(previous.dateTo < period.dateTo);
  assert.deepEqual(reports.views.previous, { human: 1, ai: 1, total: 2 });
  assert.deepEqual(reports.searches, { current: { total: ROWS }, previous: { total: ROWS } });
  assert.equal(reports.feedback.current.total, null, "the report has more pages than were read");
  respondWith(({ path }) => {
    const isCurrent = path.includes("dateFrom=2026-01-08");
    const totals = isCurrent
      ? { human: 1001, ai: 1, total: 5 }
      : { human: 1000, ai: 300, total: 0 };
    return /views/.test(path) ? { json: { totals, views: [], hasMore: false } } : undefined;
  });
  const { stdout } = await succeed(["stats", "--from", "2026-01-08", "--to", "2026-01-15"]);
  const changes = stdout.match(/(?<=^views .* )\S+$/gm);
  assert.deepEqual(changes, ["+<1%", "-99%", "new"]);
  respondTo(/caller-stats/, problem(403, "insufficient-scope", "not allowed"));
  const table = await succeed(["stats"]);
  assert.match(table.stdout, /^views +2 +2 +0%$/m);
  assert.doesNotMatch(table.stdout, /questions/);
  assert.match(table.stderr, /questions: 403 not allowed/);
});

describe("a spent budget", () => {
  const fields = { ...budgetFields(0, 90), "retry-after": "90" };
  const spent = problem(429, "rate-limited", "no request is left", fields);

  test("a spent budget ends the command, which prints the waiting time and how to resume", async () => {
    respondWith((_, number) => (number >= 2 ? spent : undefined));
    const ended = await quillgate(["views", ...RANGE, "-o", "views.csv"]);
    assertFailed(ended, 5, /429 no request is left/);
    const { stderr } = ended;
    assert.match(stderr, /there are more requests in 90 s/);
    const long = { ...spent, headers: { ...spent.headers, "retry-after": "2970" } };
    respondWith(() => long);
    const { stderr: longWait } = await quillgate(["views", ...RANGE, "--format", "csv"]);
    assert.match(longWait, /no request is left for 50 min/);
    assert.match(longWait, /there are more requests in 50 min/);
    assert.match(stderr, /to complete views.csv: the same command with --resume/);
    respondWith(undefined);
    await succeed(["views", "-o", "views.csv", "--resume"]);
    assertSame(read("views.csv"), await exportByClient("views", "csv"));
  });

  test("--wait waits for a spent budget more often than the client retries", async () => {
    const short = { ...spent, headers: { ...spent.headers, "retry-after": "1" } };
    let left = 3;
    respondWith((_, number) => (number >= 2 && left-- > 0 ? short : undefined));
    const args = ["views", ...RANGE, "--wait", "1m", "-o", "views.csv"];
    const { stderr } = await succeed(args);
    assert.match(stderr, /no request is left for 1 s\n/);
    assertSame(read("views.csv"), await exportByClient("views", "csv"));
  });
});

for (const [status, code, type] of [
  [400, 2, "invalid"],
  [401, 3, "unauthorized"],
  [403, 3, "forbidden"],
  [404, 4, "not-found"],
]) {
  test(`exits with code ${code} on status ${status} and prints no escape sequence`, async () => {
    respondWith(() => problem(status, type, "\u001b[2Jwiped"));
    const { code: exitCode, stderr } = await quillgate(["searches", "--format", "csv"]);
    assert.equal(exitCode, code);
    assert.ok(!stderr.includes("\u001b"));
  });
}

test("an export that fails midway is invalid JSON, so that no program takes it for complete", async () => {
  respondWith((_, number) => (number === 2 ? problem(403, "forbidden", "no") : undefined));
  const { code, stdout, stderr } = await quillgate(["views", ...RANGE, "--json"]);
  assert.equal(code, 3);
  assert.equal(stdout.trimEnd().split("\n").length, 1 + 500);
  assert.throws(() => JSON.parse(stdout), SyntaxError);
  assert.equal(JSON.parse(stderr).error.exitCode, 3);
});

test("warns about totals that changed between two pages, in every format", async () => {
  const views = Array.from({ length: 250 }, () => ({ path: "/", human: 1, ai: 1, total: 2 }));
  const json = { totals: { human: 1, ai: 2, total: 3 }, views, hasMore: true };
  for (const format of ["csv", "json", "table"]) {
    server.requests.length = 0;
    respondWith(() => (server.requests.length < 2 ? { json } : undefined));
    const args = ["views", ...RANGE, "--format", format, "--rows", "600"];
    const { stderr } = await quillgate(args);
    assert.match(stderr, /totals changed while it was read: rows can be missing/, format);
  }
});
