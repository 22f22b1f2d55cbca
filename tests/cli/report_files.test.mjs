/** Reports written to files. */
import assert from "node:assert/strict";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { Interruption } from "../../pkg/dist/cli/errors.js";
import { capture } from "../../scripts/child.mjs";
import { assertFailed, BIN } from "./command_line.mjs";
import { assertSame, exportByClient, FORMATS, RANGE, ROWS } from "./exported_reports.mjs";
import {
  env,
  folder,
  quillgate,
  read,
  respondTo,
  respondWith,
  server,
  succeed,
  useStandIn,
  write,
} from "./session.mjs";
import { problem } from "./stand_in.mjs";

useStandIn({ rows: ROWS });

const readCursor = (name) => JSON.parse(read(`${name}.quillgate-progress`));

describe("--resume", () => {
  for (const format of FORMATS) {
    for (const stop of [0, 1, 2, 4]) {
      test(`--resume completes an export in ${format} that was interrupted after ${stop} pages`, async () => {
        const file = `views.${format}`;
        const args = ["views", ...RANGE, "-o", file];
        await succeed([...args.slice(0, -1), `whole.${format}`]);
        server.requests.length = 0;
        const controller = new AbortController();
        respondWith((_, number) => {
          if (number < stop) return undefined;
          controller.abort(new Interruption(130));
          return { stall: "head" };
        });
        const stopped = await quillgate(args, { signal: controller.signal });
        assert.equal(stopped.code, 130);
        assert.equal(existsSync(join(folder, `${file}.quillgate-progress`)), stop > 0);
        assert.equal(/the same command with --resume/.test(stopped.stderr), stop > 0);
        respondWith(undefined);
        server.requests.length = 0;
        const resumed = await succeed([...args, "--resume"]);
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
    respondTo(/offset=500/, problem(400, "bad", "no"));
    assert.equal((await quillgate(args)).code, 2);
    respondWith(undefined);
    const [bytes, cursor] = [read("views.csv"), read("views.csv.quillgate-progress")];
    for (const more of ["", "/guides/5", "/guides/500\r\n/guides/501,1", "x".repeat(100_000)]) {
      write("views.csv", bytes + more);
      write("views.csv.quillgate-progress", cursor);
      assert.equal((await quillgate([...args, "--resume"])).code, 0);
      assertSame(read("views.csv"), read("whole.csv"));
    }
  });

  test("--resume completes an interrupted export to the limit of its --rows", async () => {
    const args = ["views", ...RANGE, "--rows", "600", "-o"];
    await quillgate([...args, "whole.csv"]);
    respondTo(/offset=250/, problem(400, "bad", "no"));
    assert.equal((await quillgate([...args, "views.csv"])).code, 2);
    respondWith(undefined);
    const other = await quillgate(["views", "--rows", "700", "-o", "views.csv", "--resume"]);
    assertFailed(other, 2, /with .*--rows 600: complete it with these/);
    server.requests.length = 0;
    assert.equal((await quillgate(["views", "-o", "views.csv", "--resume"])).code, 0);
    assert.equal(server.requests.length, 2);
    assertSame(read("views.csv"), read("whole.csv"));
  });

  test("--resume keeps the dates that --last selected in the first run", async () => {
    const args = ["views", "--last", "7d", "-o", "views.ndjson"];
    respondWith((_, number) => (number === 2 ? problem(400, "bad", "no") : undefined));
    await quillgate(args);
    const state = readCursor("views.ndjson");
    state.params.dateFrom = state.position.dateFrom = "2020-01-01";
    state.params.dateTo = state.position.dateTo = "2020-01-08";
    write("views.ndjson.quillgate-progress", JSON.stringify(state));
    respondWith(undefined);
    server.requests.length = 0;
    assert.equal((await quillgate([...args, "--resume"])).code, 0);
    for (const { path } of server.requests)
      assert.match(path, /dateFrom=2020-01-01&dateTo=2020-01-08/);
  });

  test("--resume leaves a complete file unchanged", async () => {
    const args = ["views", ...RANGE, "-o", "views.csv"];
    await quillgate(args);
    const whole = read("views.csv");
    respondWith((_, number) => (number === 6 ? problem(400, "bad", "no") : undefined));
    await quillgate(["views", ...RANGE, "-o", "other.csv"]);
    const state = { ...readCursor("other.csv"), position: null, bytes: Buffer.byteLength(whole) };
    write("views.csv.quillgate-progress", JSON.stringify(state));
    server.requests.length = 0;
    assert.equal((await quillgate([...args, "--resume"])).code, 0);
    assertSame(read("views.csv"), whole);
    assert.equal(server.requests.length, 0);
    assert.ok(!existsSync(join(folder, "views.csv.quillgate-progress")));
  });
});

test("ends a file correctly when the last page has no rows", async () => {
  respondTo(/offset=1000/, { json: { totals: {}, views: [], hasMore: false } });
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

describe("existing files", () => {
  async function interrupt(...args) {
    server.requests.length = 0;
    respondWith((_, number) => (number === 2 ? problem(400, "bad", "no") : undefined));
    await quillgate(["views", ...RANGE, "-o", "views.csv", ...args]);
    respondWith(undefined);
  }

  test("refuses to overwrite an interrupted export", async () => {
    await interrupt();
    const before = read("views.csv");
    const refused = await quillgate(["views", ...RANGE, "-o", "views.csv"]);
    assertFailed(refused, 2, /was interrupted: --resume completes it/);
    assertSame(read("views.csv"), before);
  });

  test("refuses to append another report to an interrupted export", async () => {
    await interrupt();
    const days = /an export with --from 2026-01-01 --to 2026-02-01: complete it with these/;
    for (const [args, message] of [
      [["visitors", ...RANGE], /another report: views/],
      [["views", "--from", "2026-01-02"], days],
      [["views", "--last", "7d"], days],
      [["views", "--format", "ndjson"], /another format: csv/],
      [["views", "--project", "other"], /another projectId: demo-docs/],
    ]) {
      assertFailed(await quillgate([...args, "-o", "views.csv", "--resume"]), 2, message);
    }
  });

  const CURSOR = "views.csv.quillgate-progress";
  const changeCursor = (change) =>
    write(CURSOR, JSON.stringify({ ...readCursor("views.csv"), ...change }));
  const broken = /is broken or from another version/;
  for (const [name, damage, message] of [
    ["a truncated file", () => write("views.csv", "short"), /is shorter than recorded/],
    ["a missing file", () => rmSync(join(folder, "views.csv")), /views.csv is missing/],
    ["a cursor with invalid JSON", () => write(CURSOR, "{"), broken],
    ["a cursor of another version", () => changeCursor({ version: 2 }), broken],
    ["a cursor without its flags", () => changeCursor({ flags: undefined }), broken],
  ]) {
    test(`refuses to resume ${name} and explains how to start again`, async () => {
      await interrupt();
      damage();
      server.requests.length = 0;
      const resumed = await quillgate(["views", ...RANGE, "-o", "views.csv", "--resume"]);
      assertFailed(resumed, 2, message);
      const hint = /delete (\S+\.quillgate-progress) and run without --resume/;
      const [, file] = hint.exec(resumed.stderr);
      assert.equal(server.requests.length, 0);
      rmSync(file);
      await succeed(["views", ...RANGE, "-o", "views.csv"]);
      assertSame(read("views.csv"), await exportByClient("views", "csv"));
    });
  }

  test("keeps the existing file when the first request fails", async () => {
    write("views.csv", "precious");
    respondWith(() => problem(401, "unauthorized", "the token has expired"));
    const refused = await quillgate(["views", ...RANGE, "-o", "views.csv"]);
    assertFailed(refused, 3, /401 the token has expired\n {2}request request-1\n/);
    assert.equal(read("views.csv"), "precious");
    assert.deepEqual(readdirSync(folder), ["views.csv"]);
  });
});

const isPosix = process.platform !== "win32";

describe("special files", { skip: !isPosix }, () => {
  /** Runs a line of bash, in which `Q` is the command line. */
  const bash = (line) => {
    const variables = { PATH: process.env.PATH, NODE: process.execPath, BIN, ...env() };
    const script = `Q() { "$NODE" "$BIN" "$@"; }\n${line}`;
    return capture("bash", ["-o", "pipefail", "-c", script], { cwd: folder, env: variables });
  };
  const flags = `views ${RANGE.join(" ")} --format csv`;

  for (const [what, line, copy] of [
    ["/dev/stdout in a pipe", `Q ${flags} -o /dev/stdout | cat > copy`, "copy"],
    ["/dev/stdout in a file", `Q ${flags} -o /dev/stdout > copy`, "copy"],
    ["-", `Q ${flags} -o - > copy`, "copy"],
    [
      "a process substitution",
      `Q ${flags} -o >(cat > part; mv part copy); while [ ! -e copy ]; do sleep 0.01; done`,
      "copy",
    ],
    [
      "a FIFO with a late reader",
      `mkfifo f; Q ${flags} -o f & sleep 0.2; cat f > copy; wait; rm f`,
      "copy",
    ],
    ["a descriptor of a file", `Q ${flags} -o /dev/fd/3 3> copy`, "copy"],
    [
      "a table in a FIFO",
      "mkfifo f; cat f > copy & Q views --rows 2 --format table -o f; wait; rm f",
    ],
    ["/dev/stderr in a file", `Q ${flags} --quiet -o /dev/stderr 2> copy`, "copy"],
    ["/dev/null", `Q ${flags} -o /dev/null`],
  ]) {
    test(`-o writes to ${what} and leaves nothing behind`, async () => {
      const { code, stdout, stderr } = await bash(line);
      assert.deepEqual([code, stdout], [0, ""], stderr);
      if (copy !== undefined) assertSame(read(copy), await exportByClient("views", "csv"));
      assert.ok(readdirSync(folder).every((name) => name === "copy"));
      for (const name of ["stdout", "null", "fd/3"]) {
        assert.ok(!existsSync(`/dev/${name}.quillgate-progress`), name);
      }
    });
  }
});
