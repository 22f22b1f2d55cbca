/**
 * Commands that print reports. The tests cover their formats, tables and limits, and their messages
 * about progress, errors and a spent budget.
 */
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { beforeEach, describe, test } from "node:test";
import {
  assertSame,
  env,
  exportByClient,
  FORMATS,
  folder,
  quillgate,
  RANGE,
  ROWS,
  read,
  server,
  useStandIn,
} from "./exported_reports.mjs";
import { budgetFields, problem, startStandIn } from "./stand_in.mjs";

const REPORTS = ["views", "visitors", "feedback", "searches"];
/** Set by a test to override responses. Returns `undefined` for the stand-in's default. */
let override;

useStandIn((...args) => override?.(...args));
beforeEach(() => {
  override = undefined;
});

for (const report of REPORTS) {
  test(`exports every row of ${report} in every format, to standard output and to a file`, async () => {
    const csv = await exportByClient(report, "csv");
    const ndjson = await exportByClient(report, "ndjson");
    const rows = ndjson.trimEnd().split("\n").map(JSON.parse);
    assert.equal(rows.length, ROWS);
    for (const format of FORMATS) {
      const { code, stdout, stderr, bytes } = await quillgate([
        ...[report, ...RANGE, "--format", format],
      ]);
      assert.equal(code, 0, stderr);
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
    const { code, stdout, stderr } = await quillgate([report, "--rows", "3", "--format", "table"]);
    assert.equal(code, 0);
    assert.equal(stdout.trimEnd().split("\n").length, 4);
    assert.match(stderr, /3 rows in 1 request, \d+ left\nthere may be more rows/);
    assert.match(server.requests[0].path, /limit=3\b/);
  });
}

test("a table shows click rates as percentages, and JSON as numbers", async () => {
  const table = await quillgate(["searches", "--rows", "1", "--format", "table"]);
  assert.match(table.stdout, /CLICK RATE/);
  assert.match(table.stdout, / 12\.5% /);
  const { stdout } = await quillgate(["searches", "--rows", "1", "--format", "json"]);
  assert.equal(JSON.parse(stdout)[0].ctr, 12.5);
});

test("a blank search term is visible in a table and unchanged elsewhere", async () => {
  const terms = ["", " ", "\u200b", "retry"];
  const searches = terms.map((searchQuery) => ({ searchQuery, hits: 1 }));
  override = () => ({ json: { searches, totalSearches: 4, nextCursor: null } });
  const { stdout } = await quillgate(["searches", "--format", "table"]);
  const names = stdout
    .trim()
    .split("\n")
    .slice(1)
    .map((line) => line.split(/ {2,}/)[0]);
  assert.deepEqual(names, ['""', '" "', '"\\u{200b}"', "retry"]);
  const { stdout: rows } = await quillgate(["searches", "--format", "ndjson"]);
  const found = rows
    .trimEnd()
    .split("\n")
    .map((row) => JSON.parse(row).searchQuery);
  assert.deepEqual(found, terms);
});

test("an empty report on feedback says that the site may not collect it", async () => {
  override = () => ({ json: { feedback: [], nextCursor: null, hasMore: false } });
  for (const args of [["feedback"], ["feedback", "--format", "table"], ["feedback-by-page"]]) {
    const { code, stderr } = await quillgate(args);
    assert.equal(code, 0, stderr);
    assert.match(stderr, /no feedback: the site may not collect it/, args.join(" "));
    const filtered = await quillgate([...args, "--status", "pending"]);
    assert.doesNotMatch(filtered.stderr, /may not collect/);
  }
});

for (const count of [3, 250, 251, 5000]) {
  test(`--rows ${count} limits the rows of every format in a pipe and in a file`, async () => {
    const csv = await exportByClient("views", "csv");
    const rows = (await exportByClient("views", "ndjson")).trimEnd().split("\n");
    const expected = rows.slice(0, count);
    const pages = Math.min(Math.ceil(count / 250), Math.ceil(ROWS / 250));
    for (const format of ["default", ...FORMATS]) {
      server.requests.length = 0;
      server.refillBudget();
      const chosen = format === "default" ? [] : ["--format", format];
      const { code, stdout, stderr } = await quillgate([
        ...["views", ...RANGE, "--rows", String(count), ...chosen],
      ]);
      assert.equal(code, 0, stderr);
      assert.equal(server.requests.length, pages, "requests");
      if (format === "json") assert.deepEqual(JSON.parse(stdout), expected.map(JSON.parse));
      else if (format === "csv") {
        // Every path has a line feed, so split at the CRLF that ends each record.
        const lines = csv.split("\r\n").slice(0, 1 + expected.length);
        assertSame(stdout, `${lines.join("\r\n")}\r\n`);
      } else assertSame(stdout, `${expected.join("\n")}\n`);

      if (format === "default") continue;
      const toFile = await quillgate([
        ...["views", ...RANGE, "--rows", String(count), "-o", `out.${format}`],
      ]);
      assert.equal(toFile.code, 0, toFile.stderr);
      assertSame(read(`out.${format}`), stdout);
    }
    assert.deepEqual(readdirSync(folder).sort(), ["out.csv", "out.json", "out.ndjson"]);
  });
}

test("fits a table to the terminal and removes line breaks from its rows", async () => {
  const { stdout } = await quillgate(["views", "--rows", "2"], { columns: 40 });
  assert.equal(
    stdout,
    [
      stdout.split("\n")[0],
      "PATH                    HUMAN  AI  TOTAL",
      '/guides/0, "so" to say      0   0      0',
      '/guides/1, "so" to say      1   2      3',
      "",
    ].join("\n"),
  );
  for (const columns of [30, 36]) {
    const { stdout: narrow } = await quillgate(["views", "--rows", "2"], { columns });
    assert.deepEqual(
      narrow.split("\n").filter((line) => line.length > columns),
      [],
    );
  }
});

test("removes escape sequences from rows on a terminal, but not in a pipe", async () => {
  const path = "/a\u001b[2J\u009b2J\u202eb";
  const json = { totals: {}, views: [{ path, human: 1, ai: 1, total: 2 }], hasMore: false };
  override = () => ({ json });
  for (const format of ["table", ...FORMATS]) {
    const args = ["views", ...RANGE, "--format", format, "--quiet"];
    const { stdout } = await quillgate(args, { columns: 100 });
    assert.ok(stdout.includes("2J"), "the row is missing");
    for (const control of ["\u001b", "\u009b", "\u202e"])
      assert.ok(!stdout.includes(control), format);
  }
  const { stdout } = await quillgate(["views", ...RANGE, "--format", "csv", "--quiet"]);
  assert.ok(stdout.includes(path));
});

/** Returns the dates of a request. */
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
    [
      ["/a", 15],
      ["/new", 3],
    ],
    [
      ["/a", 10],
      ["/gone", 7],
    ],
  ].map((list) => list.map(([path, total]) => ({ path, human: total, ai: 0, total })));
  override = ({ path }) => {
    const views = path.includes("dateFrom=2026-01-08") ? rows : earlier;
    return { json: { totals: {}, views, hasMore: false } };
  };
  const args = ["views", "--from", "2026-01-08", "--to", "2026-01-15", "--compare"];
  const { stdout, code, stderr } = await quillgate([...args, "--format", "table"]);
  assert.equal(code, 0, stderr);
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
  const { stdout: json } = await quillgate([...args, "--json"]);
  assert.deepEqual(
    JSON.parse(json).map(({ previous }) => previous.total),
    [10, 0],
  );
});

test("a page beyond the earlier rows that were read has no earlier figure", async () => {
  override = ({ path }) => {
    if (path.includes("dateFrom=2026-01-01")) return undefined;
    return {
      json: { totals: {}, views: [{ path: "/x", human: 1, ai: 0, total: 1 }], hasMore: false },
    };
  };
  const args = ["views", "--from", "2026-01-08", "--to", "2026-01-15", "--compare", "--rows", "5"];
  const { stdout } = await quillgate([...args, "--format", "table"]);
  assert.match(stdout, /^\/x +1 +- +0 +- +1 +-$/m);
});

test("--graph draws the main figure as bars that fit the terminal", async () => {
  const views = [40, 20, 1, 0].map((total, at) => ({ path: `/${at}`, human: 1, ai: 1, total }));
  override = () => ({ json: { totals: {}, views, hasMore: false } });
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

test("a narrow terminal drops columns with a notice, and --wide and pipes keep them", async () => {
  const row = { id: "f1", path: "/guides/start", comment: "Too short for what it explains" };
  const more = { createdAt: "2026-01-01T00:00:00Z", source: "contextual", status: "pending" };
  override = () => ({ json: { feedback: [{ ...row, ...more, helpful: true }], hasMore: false } });
  const args = ["feedback", "--format", "table"];
  for (const columns of [20, 40, 60, 80]) {
    const { stdout, stderr } = await quillgate(args, { columns });
    assert.ok(
      stdout
        .split("\n")
        .slice(1)
        .every((line) => [...line].length <= columns),
      stdout,
    );
    assert.match(stdout, /PATH.* COMMENT/);
    if (columns < 80) assert.match(stderr, /not shown: .*HELPFUL; to show them: --wide/);
  }
  for (const { stdout, stderr } of [
    await quillgate([...args, "--wide"], { columns: 40 }),
    await quillgate(args),
  ]) {
    assert.match(stdout, /CREATED +PATH +SOURCE +STATUS +HELPFUL +COMMENT/);
    assert.ok(stdout.includes(row.comment));
    assert.doesNotMatch(stderr, /not shown/);
  }
});

test("stats compares the totals of every report, and warns about one that is forbidden", async () => {
  const { code, stdout, stderr } = await quillgate(["stats", "--json"]);
  assert.equal(code, 0, stderr);
  assert.equal(server.requests.length, 10);
  const { period, previous, reports } = JSON.parse(stdout);
  assert.equal(Math.ceil((Date.parse(period.dateTo) - Date.parse(period.dateFrom)) / 864e5), 28);
  assert.ok(previous.dateTo < period.dateTo);
  assert.deepEqual(reports.views.previous, { human: 1, ai: 1, total: 2 });
  assert.deepEqual(reports.searches, { current: { total: ROWS }, previous: { total: ROWS } });
  assert.equal(reports.feedback.current.total, null, "the report has more pages than were read");
  override = ({ path }) =>
    path.includes("caller-stats") ? problem(403, "insufficient-scope", "not allowed") : undefined;
  const table = await quillgate(["stats"]);
  assert.equal(table.code, 0);
  assert.match(table.stdout, /^views +2 +2 +0%$/m);
  assert.doesNotMatch(table.stdout, /questions/);
  assert.match(table.stderr, /questions: 403 not allowed/);
});

test("an error about a date names the flag that was typed", async () => {
  for (const [flags, message] of [
    [["--from", "yesterday"], /^quillgate: --from must be /],
    [["--to=2026-13-01"], /^quillgate: --to must be /],
  ]) {
    const { code, stderr } = await quillgate(["views", ...flags]);
    assert.equal(code, 2);
    assert.match(stderr, message);
    assert.doesNotMatch(stderr, /date(From|To)/);
  }
  const detail = "dateTo must be at most 3660 days after dateFrom";
  const errors = [{ field: "dateTo", rule: "date", detail }];
  override = () => {
    const { json, ...response } = problem(400, "invalid-request", detail);
    return { ...response, json: { ...json, errors } };
  };
  const typed = await quillgate(["daily", "--from", "2000-01-01", "--to", "2026-01-01"]);
  assert.match(typed.stderr, /^quillgate: 400 --to must be at most 3660 days after --from\n/);
  assert.doesNotMatch(typed.stderr, /date(From|To)/);
  const selected = await quillgate(["daily", "--last", "7d"]);
  assert.ok(selected.stderr.includes(detail), selected.stderr);
});

test("an error about the base URL names its flag and its form", async () => {
  const flag = ["--base-url", "127.0.0.1:8787"];
  const { code, stderr } = await quillgate(["views", ...flag]);
  assert.equal(code, 2);
  assert.match(stderr, /^quillgate: --base-url must be an absolute http or https URL/);
  assert.match(stderr, /it starts with http:\/\/ or https:\/\//);
});

describe("a spent budget", () => {
  const spent = problem(429, "rate-limited", "no request is left", {
    ...budgetFields(0, 90),
    "retry-after": "90",
  });

  test("a spent budget ends the command, which prints the waiting time and how to resume", async () => {
    override = (_, number) => (number >= 2 ? spent : undefined);
    const { code, stderr } = await quillgate(["views", ...RANGE, "-o", "views.csv"]);
    assert.equal(code, 5);
    assert.match(stderr, /429 no request is left/);
    assert.match(stderr, /there are more requests in 90 s/);
    const long = { ...spent, headers: { ...spent.headers, "retry-after": "2970" } };
    override = () => long;
    const { stderr: longWait } = await quillgate(["views", ...RANGE, "--format", "csv"]);
    assert.match(longWait, /no request is left for 50 min/);
    assert.match(longWait, /there are more requests in 50 min/);
    assert.match(stderr, /to complete views.csv: the same command with --resume/);
    override = undefined;
    assert.equal((await quillgate(["views", "-o", "views.csv", "--resume"])).code, 0);
    assertSame(read("views.csv"), await exportByClient("views", "csv"));
  });

  test("--wait waits for a spent budget more often than the client retries", async () => {
    const short = { ...spent, headers: { ...spent.headers, "retry-after": "1" } };
    let left = 3;
    override = (_, number) => (number >= 2 && left-- > 0 ? short : undefined);
    const args = ["views", ...RANGE, "--wait", "1m", "-o", "views.csv"];
    const { code, stderr } = await quillgate(args);
    assert.equal(code, 0, stderr);
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
    override = () => problem(status, type, "\u001b[2Jwiped");
    const { code: exitCode, stderr } = await quillgate(["searches", "--format", "csv"]);
    assert.equal(exitCode, code);
    assert.ok(!stderr.includes("\u001b"));
  });
}

test("prints a line for every tenth request, and none with --quiet", async () => {
  const many = await startStandIn({ rows: 250 * 21 });
  try {
    const manyEnv = { ...env(), QUILLGATE_BASE_URL: many.url };
    const { stderr } = await quillgate(["views", "--format", "csv"], { env: manyEnv });
    assert.equal(
      stderr,
      [
        "views: 2,500 rows in 10 requests, 90 left",
        "views: 5,000 rows in 20 requests, 80 left",
        "views: 5,250 rows in 21 requests, 79 left",
        "",
      ].join("\n"),
    );
    const { stderr: empty } = await quillgate(["views", "--format", "csv", "--quiet"], {
      env: manyEnv,
    });
    assert.equal(empty, "");
  } finally {
    await many.stop();
  }
});

test("--json prints only lines of JSON to standard error", async () => {
  const many = await startStandIn({ rows: 250 * 11 });
  try {
    const manyEnv = { ...env(), QUILLGATE_BASE_URL: many.url };
    for (const columns of [undefined, 80]) {
      const done = await quillgate(["views", ...RANGE, "--json"], { env: manyEnv, columns });
      assert.deepEqual([done.code, done.stderr], [0, ""]);
    }
    const logged = { ...manyEnv, QUILLGATE_LOG: "info" };
    const { stderr } = await quillgate(["views", ...RANGE, "--json"], { env: logged });
    const lines = stderr.trimEnd().split("\n").map(JSON.parse);
    assert.equal(lines.length, 11);
    assert.match(lines[0].log.message, /quillgate: /);
    const misspelled = { ...manyEnv, QUILLGATE_LOG: "verbose" };
    const warned = await quillgate(["views", ...RANGE, "--json"], { env: misspelled });
    assert.equal(warned.code, 0);
    const { warning } = JSON.parse(warned.stderr);
    assert.equal(warning.message, "QUILLGATE_LOG must be one of off, error, warn, info, debug");
  } finally {
    await many.stop();
  }
  const { stderr: warning } = await quillgate(["daily", "--last", "3d", "--json"]);
  assert.match(JSON.parse(warning).warning.message, /1 day is not in the archive/);
});

test("an export that fails midway is invalid JSON, so that no program takes it for complete", async () => {
  override = (_, number) => (number === 2 ? problem(403, "forbidden", "no") : undefined);
  const { code, stdout, stderr } = await quillgate(["views", ...RANGE, "--json"]);
  assert.equal(code, 3);
  assert.equal(stdout.trimEnd().split("\n").length, 1 + 500);
  assert.throws(() => JSON.parse(stdout), SyntaxError);
  assert.equal(JSON.parse(stderr).error.exitCode, 3);
});

test("counts the responses from the gateway's cache", async () => {
  const headers = { "cache-status": "quillgate; hit; ttl=200" };
  const views = Array.from({ length: 250 }, () => ({ path: "/", human: 1, ai: 1, total: 2 }));
  const count = async (totals) => {
    override = (_, number) =>
      number < 2 ? { headers, json: { totals, views, hasMore: true } } : undefined;
    const { stderr } = await quillgate(["views", ...RANGE, "--format", "csv"]);
    return stderr;
  };
  const counted = /1,100 rows in 5 requests \(2 from the gateway's cache\), 97 left\n$/;
  assert.match(await count({ human: 1, ai: 1, total: 2 }), counted);
  server.requests.length = 0;
  const mixed = await count({ human: 1, ai: 2, total: 3 });
  assert.match(mixed, /the totals changed during the export: rows can be missing or repeated\n$/);
});

test("a 404 suggests checking the base URL, unless it is about a job", async () => {
  override = () => ({ status: 404, text: "<html>" });
  for (const args of [
    ["views", "--format", "csv"],
    ["job", "list"],
    ["job", "watch", "job_1"],
  ]) {
    const { code, stderr } = await quillgate(args);
    assert.equal(code, 4);
    assert.match(stderr, /is the base URL the gateway's\? to find out: quillgate doctor/);
  }
  override = () => problem(404, "upstream-refused", "Job not found");
  for (const name of ["watch", "show", "open", "delete-record"]) {
    const yes = name === "delete-record" ? ["--yes"] : [];
    const { code, stderr } = await quillgate(["job", name, "job_9", ...yes]);
    assert.equal(code, 4);
    assert.ok(!stderr.includes("doctor"), stderr);
  }
});
