/** The report commands: tables, streams, and files that --resume completes after an interruption. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import { Client } from "quillgate";
import { Interruption } from "../../pkg/dist/cli/errors.js";
import { BIN, runCommand } from "./command_line.mjs";
import { budgetFields, PROJECT, problem, startStandIn } from "./stand_in.mjs";

const ROWS = 1100;
const FORMATS = ["csv", "ndjson", "json"];
const REPORTS = ["views", "visitors", "feedback", "searches"];
const RANGE = ["--from", "2026-01-01", "--to", "2026-02-01"];
let server;
let folder;
/** Returns a test's own response to a request. */
let override;

before(async () => {
  server = await startStandIn({ rows: ROWS, override: (...args) => override?.(...args) });
});
after(() => server.stop());
beforeEach(() => {
  override = undefined;
  server.requests.length = 0;
  server.refillBudget();
  folder = mkdtempSync(join(tmpdir(), "quillgate-cli-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const env = () => ({
  QUILLGATE_BASE_URL: server.url,
  QUILLGATE_PROJECT_ID: PROJECT,
  QUILLGATE_TOKEN: "token",
});
const quillgate = (args, options = {}) => runCommand(args, { env: env(), folder, ...options });
const read = (name) => readFileSync(join(folder, name), "utf8");
const write = (name, text) => writeFileSync(join(folder, name), text);
const readCursor = (name) => JSON.parse(read(`${name}.quillgate-progress`));

/** Exports a report with the client. */
async function exportByClient(report, format) {
  const client = new Client({ baseUrl: server.url, projectId: PROJECT, auth: { token: "token" } });
  const list = client.analytics[report]({ dateFrom: "2026-01-01", dateTo: "2026-02-01" });
  return Buffer.from(await new Response(list.export({ format })).arrayBuffer()).toString();
}

/** Compares exports without printing them when they differ. */
function assertSame(actual, expected) {
  assert.ok(expected.length > 0);
  assert.ok(
    actual === expected,
    `${actual.length} characters differ from the expected ${expected.length}`,
  );
}

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
        // Every path has a line break, so that each row takes two lines.
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

test("--last selects the last finished days in UTC", async () => {
  await quillgate(["views", "--last", "2w", "--rows", "1", "--format", "table"]);
  const query = new URL(server.requests[0].path, server.url).searchParams;
  const [from, to] = ["dateFrom", "dateTo"].map((name) => Date.parse(query.get(name)));
  assert.equal(to - from, 14 * 86_400_000);
  assert.ok(to <= Date.now() && Date.now() - to < 2 * 86_400_000);
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
  const selected = await quillgate(["daily", "--last", "28d"]);
  assert.ok(selected.stderr.includes(detail), selected.stderr);
});

test("sends the filters of feedback", async () => {
  const filters = ["--source", "contextual", "--status", "pending,resolved"];
  await quillgate(["feedback", ...filters, "--format", "table"]);
  const query = new URL(server.requests[0].path, server.url).searchParams;
  assert.equal(query.get("source"), "contextual");
  assert.equal(query.get("status"), "pending,resolved");
});

describe("--resume", () => {
  for (const format of FORMATS) {
    for (const stop of [0, 1, 2, 4]) {
      test(`--resume completes an export in ${format} that was interrupted after ${stop} pages`, async () => {
        const file = `views.${format}`;
        const args = ["views", ...RANGE, "-o", file];
        const whole = await quillgate([...args.slice(0, -1), `whole.${format}`]);
        assert.equal(whole.code, 0);
        server.requests.length = 0;
        const controller = new AbortController();
        override = (_, number) => {
          if (number < stop) return undefined;
          controller.abort(new Interruption(130));
          return { stall: "head" };
        };
        const stopped = await quillgate(args, { signal: controller.signal });
        assert.equal(stopped.code, 130);
        assert.equal(existsSync(join(folder, `${file}.quillgate-progress`)), stop > 0);
        assert.equal(/the same command with --resume/.test(stopped.stderr), stop > 0);
        override = undefined;
        server.requests.length = 0;
        const resumed = await quillgate([...args, "--resume"]);
        assert.equal(resumed.code, 0, resumed.stderr);
        assert.equal(server.requests.length, 5 - stop, "a page was requested twice");
        assertSame(read(file), read(`whole.${format}`));
        assert.match(resumed.stderr, /: 1,100 rows in/);
        assert.ok(!existsSync(join(folder, `${file}.quillgate-progress`)));
      });
    }
  }

  test("--resume completes an export that was killed in the middle of a chunk", async () => {
    const args = ["views", ...RANGE, "-o", "views.csv"];
    await quillgate([...args.slice(0, -1), "whole.csv"]);
    override = (received) =>
      received.path.includes("offset=500") ? problem(400, "bad", "no") : undefined;
    assert.equal((await quillgate(args)).code, 2);
    override = undefined;
    const [bytes, cursor] = [read("views.csv"), read("views.csv.quillgate-progress")];
    for (const more of ["", "/guides/5", "/guides/500\r\n/guides/501,1", "x".repeat(100_000)]) {
      writeFileSync(join(folder, "views.csv"), bytes + more);
      writeFileSync(join(folder, "views.csv.quillgate-progress"), cursor);
      assert.equal((await quillgate([...args, "--resume"])).code, 0);
      assertSame(read("views.csv"), read("whole.csv"));
    }
  });

  for (const format of FORMATS) {
    test(`--resume completes an interrupted export in ${format} to the limit of its --rows`, async () => {
      const args = ["views", ...RANGE, "--rows", "600", "-o"];
      await quillgate([...args, `whole.${format}`]);
      const file = `views.${format}`;
      override = (received) =>
        received.path.includes("offset=250") ? problem(400, "bad", "no") : undefined;
      assert.equal((await quillgate([...args, file])).code, 2);
      override = undefined;
      const other = await quillgate(["views", "--rows", "700", "-o", file, "--resume"]);
      assert.match(other.stderr, /with .*--rows 600: complete it with these/);
      assert.equal(other.code, 2);
      server.requests.length = 0;
      assert.equal((await quillgate(["views", "-o", file, "--resume"])).code, 0);
      assert.equal(server.requests.length, 2);
      assertSame(read(file), read(`whole.${format}`));
      assert.ok(!existsSync(join(folder, `${file}.quillgate-progress`)));
    });
  }

  test("--resume keeps the dates that --last selected in the first run", async () => {
    const args = ["views", "--last", "7d", "-o", "views.ndjson"];
    const failing = (received, number) =>
      number === 2 ? problem(400, "bad", "no") : void received;
    override = failing;
    await quillgate(args);
    const state = readCursor("views.ndjson");
    state.params.dateFrom = state.position.dateFrom = "2020-01-01";
    state.params.dateTo = state.position.dateTo = "2020-01-08";
    writeFileSync(join(folder, "views.ndjson.quillgate-progress"), JSON.stringify(state));
    override = undefined;
    server.requests.length = 0;
    assert.equal((await quillgate([...args, "--resume"])).code, 0);
    for (const { path } of server.requests)
      assert.match(path, /dateFrom=2020-01-01&dateTo=2020-01-08/);
  });

  test("--resume leaves a complete file unchanged", async () => {
    const args = ["views", ...RANGE, "-o", "views.csv"];
    await quillgate(args);
    const whole = read("views.csv");
    override = (_, number) => (number === 6 ? problem(400, "bad", "no") : undefined);
    await quillgate(["views", ...RANGE, "-o", "other.csv"]);
    const state = { ...readCursor("other.csv"), position: null, bytes: Buffer.byteLength(whole) };
    writeFileSync(join(folder, "views.csv.quillgate-progress"), JSON.stringify(state));
    server.requests.length = 0;
    assert.equal((await quillgate([...args, "--resume"])).code, 0);
    assertSame(read("views.csv"), whole);
    assert.equal(server.requests.length, 0);
    assert.ok(!existsSync(join(folder, "views.csv.quillgate-progress")));
  });
});

test("ends a file correctly when the last page has no rows", async () => {
  const last = { totals: {}, views: [], hasMore: false };
  override = ({ path }) => (path.includes("offset=1000") ? { json: last } : undefined);
  const rows = (await exportByClient("views", "ndjson")).trimEnd().split("\n").map(JSON.parse);
  assert.equal(rows.length, 1000);
  for (const [format, parse] of [
    ["json", JSON.parse],
    ["ndjson", (text) => text.trimEnd().split("\n").map(JSON.parse)],
  ]) {
    const file = `views.${format}`;
    assert.equal((await quillgate(["views", ...RANGE, "-o", file])).code, 0);
    assert.deepEqual(parse(read(file)), rows);
    assert.ok(!existsSync(join(folder, `${file}.quillgate-progress`)));
  }
});

test("writes a valid file for a report without rows", async () => {
  override = () => ({ json: { totals: {}, views: [], hasMore: false } });
  for (const [format, text] of [
    ["csv", "\uFEFFpath,human,ai,total\r\n"],
    ["ndjson", ""],
    ["json", "[\n]\n"],
  ]) {
    const file = `views.${format}`;
    const { code, stderr } = await quillgate(["views", ...RANGE, "-o", file]);
    assert.deepEqual([code, stderr], [0, "views: 0 rows in 1 request\n"]);
    assert.equal(read(file), text);
    const { stdout } = await quillgate(["views", ...RANGE, "--format", format]);
    assert.equal(stdout, text);
  }
});

describe("existing files", () => {
  /** Interrupts an export after its second page. */
  async function interrupt(...args) {
    server.requests.length = 0;
    override = (_, number) => (number === 2 ? problem(400, "bad", "no") : undefined);
    await quillgate(["views", ...RANGE, "-o", "views.csv", ...args]);
    override = undefined;
  }

  test("refuses to overwrite an interrupted export", async () => {
    await interrupt();
    const before = read("views.csv");
    const { code, stderr } = await quillgate(["views", ...RANGE, "-o", "views.csv"]);
    assert.equal(code, 2);
    assert.match(stderr, /was interrupted: --resume completes it/);
    assertSame(read("views.csv"), before);
  });

  for (const [name, args, message] of [
    ["another report", ["visitors", ...RANGE], /another report: views/],
    [
      "other days",
      ["views", "--from", "2026-01-02"],
      /an export with --from 2026-01-01 --to 2026-02-01: complete it with these/,
    ],
    ["a filter", ["views", "--last", "7d"], /an export with --from 2026-01-01 --to 2026-02-01/],
    ["another format", ["views", "--format", "ndjson"], /another format: csv/],
    ["another project", ["views", "--project", "other"], /another projectId: demo-docs/],
  ]) {
    test(`refuses to append ${name} to an interrupted export`, async () => {
      await interrupt();
      const { code, stderr } = await quillgate([...args, "-o", "views.csv", "--resume"]);
      assert.match(stderr, message);
      assert.equal(code, 2);
    });
  }

  test("--resume does not need the dates again", async () => {
    await interrupt();
    assert.equal((await quillgate(["views", "-o", "views.csv", "--resume"])).code, 0);
    assertSame(read("views.csv"), await exportByClient("views", "csv"));
  });

  for (const flags of [[], ["--resume"]]) {
    test(`replaces a complete file each time the command runs ${flags}`, async () => {
      writeFileSync(join(folder, "views.csv"), "old");
      for (const run of [1, 2]) {
        server.requests.length = 0;
        const result = await quillgate(["views", ...RANGE, "-o", "views.csv", ...flags]);
        assert.equal(result.code, 0, result.stderr);
        assert.equal(server.requests.length, 5, `run ${run}`);
        assertSame(read("views.csv"), await exportByClient("views", "csv"));
      }
    });
  }

  const CURSOR = "views.csv.quillgate-progress";
  for (const [name, damage, message] of [
    ["a truncated file", () => write("views.csv", "short"), /is shorter than recorded/],
    ["a missing file", () => rmSync(join(folder, "views.csv")), /views.csv is missing/],
    ["a cursor with invalid JSON", () => write(CURSOR, "{"), /is broken or from another version/],
    [
      "a cursor of another version",
      () => write(CURSOR, JSON.stringify({ ...readCursor("views.csv"), version: 2 })),
      /is broken or from another version/,
    ],
    [
      "a cursor without its flags",
      () => write(CURSOR, JSON.stringify({ ...readCursor("views.csv"), flags: undefined })),
      /is broken or from another version/,
    ],
  ]) {
    test(`refuses to resume ${name} and explains how to start again`, async () => {
      await interrupt();
      damage();
      server.requests.length = 0;
      const resumed = await quillgate(["views", ...RANGE, "-o", "views.csv", "--resume"]);
      assert.equal(resumed.code, 2);
      assert.match(resumed.stderr, message);
      const [, file] = /delete (\S+\.quillgate-progress) and run without --resume/.exec(
        resumed.stderr,
      );
      assert.equal(server.requests.length, 0);
      rmSync(file);
      const again = await quillgate(["views", ...RANGE, "-o", "views.csv"]);
      assert.equal(again.code, 0, again.stderr);
      assertSame(read("views.csv"), await exportByClient("views", "csv"));
    });
  }

  test("keeps the existing file when the first request fails", async () => {
    writeFileSync(join(folder, "views.csv"), "precious");
    override = () => problem(401, "unauthorized", "the token has expired");
    const { code, stderr } = await quillgate(["views", ...RANGE, "-o", "views.csv"]);
    assert.equal(code, 3);
    assert.match(stderr, /401 the token has expired\n {2}request request-1\n/);
    assert.equal(read("views.csv"), "precious");
    assert.deepEqual(readdirSync(folder), ["views.csv"]);
  });
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

describe("output paths", () => {
  for (const [place, file, message] of [
    ["in a missing folder", "none/views.csv", /none: there is no such folder/],
    ["below a file", "file/views.csv", /file: that is no folder/],
    ["that is a folder", "folder.csv", /folder.csv is a folder: name a file in it/],
  ]) {
    for (const args of [["views"], ["views", "--format", "table"], ["daily"]]) {
      test(`${args.join(" ")} rejects an output file ${place} before its first request`, async () => {
        write("file", "");
        mkdirSync(join(folder, "folder.csv"));
        const { code, stderr } = await quillgate([...args, ...RANGE, "-o", file]);
        assert.equal(code, 2, stderr);
        assert.match(stderr, message);
        assert.ok(!stderr.includes("--resume"), stderr);
        assert.equal(server.requests.length, 0);
      });
    }
  }

  test("views rejects an output file in a read-only folder before its first request", {
    skip: process.platform === "win32",
  }, async () => {
    chmodSync(folder, 0o555);
    // Permissions do not restrict the superuser.
    const user = process.getuid() === 0 ? { uid: 65534, gid: 65534 } : {};
    const args = [BIN, "views", ...RANGE, "-o", "views.csv"];
    const child = spawn(process.execPath, args, {
      env: { ...env(), HOME: folder },
      cwd: folder,
      ...user,
    });
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text) => {
      stderr += text;
    });
    const [code] = await once(child, "close");
    chmodSync(folder, 0o755);
    assert.equal(code, 2, stderr);
    assert.match(stderr, /views.csv cannot be written: \S+ \((EACCES|EROFS)\)/);
    assert.equal(server.requests.length, 0);
  });
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
  override = (_, number) =>
    number < 2 ? { headers, json: { totals: {}, views, hasMore: true } } : undefined;
  const { stderr } = await quillgate(["views", ...RANGE, "--format", "csv"]);
  assert.match(stderr, /1,100 rows in 5 requests \(2 from the gateway's cache\), 97 left\n$/);
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
  const { code, stderr } = await quillgate(["job", "watch", "job_9"]);
  assert.equal(code, 4);
  assert.ok(!stderr.includes("doctor"), stderr);
});
