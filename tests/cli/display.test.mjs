/** Output of the command line: colors, hyperlinks, times, the man page and completion. */

import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { closeSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { COMMANDS } from "../../pkg/dist/cli/commands.js";
import { measureWidth } from "../../pkg/dist/cli/display_width.js";
import { showRelativeTime } from "../../pkg/dist/cli/duration.js";
import { layOut, writePercentage } from "../../pkg/dist/cli/table.js";
import { supportsColor, supportsLinks } from "../../pkg/dist/cli/terminal.js";
import { disarmOutputs } from "../../pkg/dist/cli/workflow_commands.js";
import { ROOT } from "../../scripts/versions.mjs";
import { runCommand } from "./command_line.mjs";
import { startSession } from "./session.mjs";
import { deployment, job, problem, streamDeployment, streamJob } from "./stand_in.mjs";

const MAN_PAGE = join(ROOT, "pkg", "dist", "quillgate.1");
const NOW = Date.parse("2026-11-25T12:00:00Z");

describe("colors and hyperlinks", () => {
  for (const [env, isTTY, expected] of [
    [{}, true, true],
    [{}, false, false],
    [{ TERM: "dumb" }, true, false],
    [{ NO_COLOR: "1" }, true, false],
    [{ NO_COLOR: "" }, true, true],
    [{ FORCE_COLOR: "1" }, false, true],
    [{ FORCE_COLOR: "1", NO_COLOR: "1" }, false, true],
    [{ FORCE_COLOR: "0" }, true, false],
  ]) {
    const what = `${JSON.stringify(env)} ${isTTY ? "on a terminal" : "in a pipe"}`;
    test(`${what} ${expected ? "enables" : "disables"} colors`, () => {
      assert.equal(supportsColor({ isTTY }, env), expected);
    });
  }

  test("the doctor obeys FORCE_COLOR in a pipe and NO_COLOR on a terminal", async () => {
    const forced = await runCommand(["doctor"], { env: { FORCE_COLOR: "1" } });
    assert.ok(forced.stdout.includes("\u001b[31m"));
    const without = await runCommand(["doctor"], { env: { NO_COLOR: "1" }, columns: 80 });
    assert.ok(!without.stdout.includes("\u001b["));
  });

  for (const [env, isTTY, expected] of [
    [{ TERM_PROGRAM: "iTerm.app" }, true, true],
    [{ TERM_PROGRAM: "iTerm.app" }, false, false],
    [{ TERM_PROGRAM: "Apple_Terminal" }, true, false],
    [{ VTE_VERSION: "7600" }, true, true],
    [{ VTE_VERSION: "4602" }, true, false],
    [{ WT_SESSION: "x", CI: "true" }, true, false],
    [{ WT_SESSION: "x", CI: "false" }, true, true],
    [{ FORCE_HYPERLINK: "1" }, false, true],
    [{ FORCE_HYPERLINK: "0", WT_SESSION: "x" }, true, false],
  ]) {
    const what = `${JSON.stringify(env)} ${isTTY ? "on a terminal" : "in a pipe"}`;
    test(`${what} ${expected ? "enables" : "disables"} hyperlinks`, () => {
      assert.equal(supportsLinks({ isTTY }, env), expected);
    });
  }
});

for (const [time, expected] of [
  ["2026-11-25T11:59:58Z", "2 seconds ago"],
  ["2026-11-25T12:00:00Z", "0 seconds ago"],
  ["2026-11-25T11:58:59Z", "1 minute ago"],
  ["2026-11-25T09:00:00Z", "3 hours ago"],
  ["2026-11-20T12:00:00Z", "5 days ago"],
  ["2026-11-25T14:00:00Z", "in 2 hours"],
  ["2026-09-01T12:00:00Z", "2026-09-01"],
  ["not a time", "not a time"],
]) {
  test(`shows the time ${time} as ${expected}`, () => {
    assert.equal(showRelativeTime(time, NOW), expected);
  });
}

test("percentages show 0% only for nothing, and below 100% never 100%", () => {
  for (const [value, decimals, expected] of [
    [0, 1, "0%"],
    [0.04, 1, "<0.1%"],
    [0.05, 1, "0.1%"],
    [12.34, 1, "12.3%"],
    [99.96, 1, "99.9%"],
    [100, 1, "100%"],
    [0.1, 0, "<1%"],
    [-0.1, 0, "-<1%"],
    [0.5, 0, "1%"],
    [-99.7, 0, "-99%"],
    [-100, 0, "-100%"],
    [100.4, 0, "100%"],
    [1_199_900, 0, "1,199,900%"],
  ]) {
    assert.equal(writePercentage(value, decimals), expected);
  }
});

test("columns are aligned after wide, combined and invisible characters", () => {
  const paths = [
    ...["/ja/クイックスタート", "/en/quickstart", "/emoji/🚀🚀", "/e\u0301a\u0308", "/ko/시작하기"],
    ...["/zh/快速入门", "/full/ＡＢ", "/flag/🇩🇪", "/family/👩‍👩‍👧", "/heart/❤️", "/joined/a\u200bb"],
  ];
  const columns = [
    { head: "PATH", value: (path) => path, isKey: true },
    { head: "VIEWS", value: () => 12, isKey: true },
  ];
  for (const width of [undefined, 20, 15]) {
    const lines = layOut(paths, columns, { width }).text.trimEnd().split("\n");
    assert.equal(new Set(lines.map(measureWidth)).size, 1, lines.join("\n"));
    if (width !== undefined) assert.ok(lines.every((line) => measureWidth(line) <= width));
  }
  const widths = {
    "🇩🇪": 2,
    "👩‍👩‍👧": 2,
    "❤️": 2,
    "👍🏻": 2,
    "⚠️": 2,
    ℹ️: 2,
    "✅": 2,
    é: 1,
    快: 2,
    "\u200b": 0,
    한: 2,
    ｶ: 1,
    ｶﾞ: 2,
    ﾊﾟ: 2,
    ﾞ: 1,
    が: 2,
    "…": 1,
  };
  for (const [text, width] of Object.entries(widths)) assert.equal(measureWidth(text), width, text);
});

test("a note about a retry or a job keeps the server's strings on its line", async (t) => {
  const { env, respondWith } = await startSession(t);
  let isRetried = false;
  respondWith(({ path }) => {
    if (/\/job_1\/events/.test(path)) return streamJob(job("odd\nstatus"), job("completed"));
    if (/\/job_1\/messages/.test(path)) return { json: job("pending") };
    if (isRetried) return { json: { jobs: [], nextCursor: null } };
    isRetried = true;
    return problem(503, "unavailable", "one\ntwo", { "retry-after": "0" });
  });
  const listed = await runCommand(["job", "list"], { env });
  assert.match(listed.stderr, /one two.*; retry in/);
  const sent = await runCommand(["job", "message", "job_1", "x", "--wait"], { env });
  assert.match(sent.stderr, /^quillgate: job job_1 is odd status$/m);
});

describe("GitHub Actions", () => {
  /** Returns the lines that the runner would execute as commands. */
  const findCommands = (text) =>
    text.split(/\r\n|\r|\n/).filter((line) => /^\s*::|##\[/.test(line.replace(/\p{Cf}/gu, "")));
  const annotations = ["::error title=x::a", "a\r::warning::c", "##[error]d"];
  const terms = [...annotations, " ::add-mask::b", "a\n\t::e"];
  const searches = terms.map((searchQuery) => ({ searchQuery, hits: 1 }));
  const json = { searches, totalSearches: terms.length, nextCursor: null };
  const readers = {
    json: JSON.parse,
    ndjson: (text) => text.trim().split("\n").map(JSON.parse),
  };

  test("no line of the output is a workflow command, and JSON keeps its values", async (t) => {
    const { env: own, respondWith } = await startSession(t);
    respondWith(() => ({ json }));
    const env = { ...own, GITHUB_ACTIONS: "true" };
    const jq = ["--jq", ".[].searchQuery"];
    for (const flags of [["csv"], ["table"], ["ndjson"], ["json"], jq, ["table", "--wide"]]) {
      const args = flags[0] === "--jq" ? flags : ["--format", ...flags];
      for (const columns of [undefined, 80]) {
        const { code, stdout, stderr } = await runCommand(["searches", ...args], { env, columns });
        assert.equal(code, 0, stderr);
        assert.deepEqual(findCommands(stdout + stderr), [], args.join(" "));
        if (columns !== undefined) continue;
        const shown = readers[flags[0]]?.(stdout).map((row) => row.searchQuery);
        if (shown) assert.deepEqual(shown, terms);
      }
    }
    const elsewhere = { env: { ...env, GITHUB_ACTIONS: "" } };
    const { stdout } = await runCommand(["searches", "--format", "csv"], elsewhere);
    assert.equal(findCommands(stdout).length, 5);
  });

  test("JSON lines and errors keep their values, also on a terminal", async (t) => {
    const { env: own, respondWith } = await startSession(t);
    const text = "##[error]\u009b2J\u202e";
    const ended = job("completed", text);
    const searches = [{ searchQuery: text, hits: 1 }];
    const failure = problem(403, "forbidden", "##[error]no");
    respondWith(({ path }) => {
      if (/\/jobs\?/.test(path))
        return { json: { jobs: [{ ...ended, prompt: text }], nextCursor: null } };
      if (/\/job_1\/events/.test(path)) return streamJob(ended);
      if (/\/searches/.test(path))
        return { json: { searches, totalSearches: 1, nextCursor: null } };
      if (/\/s_live\/events/.test(path)) return streamDeployment(deployment("success", [text]));
      return failure;
    });
    for (const GITHUB_ACTIONS of ["true", ""]) {
      const env = { ...own, GITHUB_ACTIONS };
      for (const columns of [undefined, 80]) {
        for (const [args, read] of [
          [["job", "list", "--format", "ndjson"], ({ prompt }) => prompt],
          [["job", "watch", "job_1", "--json"], ({ source }) => source.ref],
          [["deployment", "watch", "s_live", "--json"], ({ logs }) => logs[0]],
          [["searches", "--json"], ([row]) => row.searchQuery],
          [["searches", "--format", "ndjson"], (row) => row.searchQuery],
        ]) {
          const { code, stdout, stderr } = await runCommand(args, { env, columns });
          assert.equal(code, 0, stderr);
          assert.equal(read(JSON.parse(stdout)), text);
          if (args[0] !== "searches") assert.match(stdout, /^.+\n$/, "it takes several lines");
          if (columns !== undefined) assert.doesNotMatch(stdout, /[\u009b\u202e]/);
          if (GITHUB_ACTIONS) assert.deepEqual(findCommands(stdout), []);
        }
        const { stderr } = await runCommand(["job", "show", "job_9", "--json"], { env, columns });
        assert.match(JSON.parse(stderr).error.message, /##\[error\]no/);
        if (GITHUB_ACTIONS) assert.deepEqual(findCommands(stderr), []);
      }
    }
  });

  test("a command that two writes share is found, and a file is unchanged", () => {
    let written = "";
    const stream = { write: (text) => (written += text) };
    const env = { GITHUB_ACTIONS: "true" };
    const { stdout } = disarmOutputs({ env, stdout: stream, stderr: stream });
    for (const [part, expected] of [
      ["::a\n", ": :a\n"],
      [" ", " "],
      ["", ""],
      [":", ":"],
      [":error::x\n#", " :error::x\n#"],
      ["#", "#"],
      ["[group]\na:", " [group]\na:"],
      [":b", ":b"],
      ["::c", "::c"],
      ["", ""],
      [" ", " "],
      ["::é", "::é"],
      ["\r", "\r"],
      ["::d", ": :d"],
    ]) {
      written = "";
      stdout.write(Buffer.from(part));
      assert.equal(written, expected);
    }
    const file = openSync(join(tmpdir(), `quillgate-${process.pid}`), "w");
    const target = { fd: file, write: () => true };
    assert.equal(disarmOutputs({ env, stdout: target, stderr: target }).stdout, target);
    closeSync(file);
    rmSync(join(tmpdir(), `quillgate-${process.pid}`));
  });
});

const hasMan = spawnSync("man", ["--version"]).status === 0;

test("the man page has every command and renders without warnings", { skip: !hasMan }, async () => {
  const env = { ...process.env, MANWIDTH: "100", LC_ALL: "C.UTF-8", MAN_KEEP_FORMATTING: "" };
  const args = ["--warnings", "-l", MAN_PAGE];
  const { stdout, stderr } = await promisify(execFile)("man", args, { env });
  assert.equal(stderr, "");
  for (const { name, options } of COMMANDS) {
    assert.ok(stdout.includes(`   ${name}`), name);
    for (const option of Object.keys(options)) assert.ok(stdout.includes(`--${option}`), option);
  }
  assert.match(stdout, /EXIT STATUS/);
});

test("the PowerShell completion lists every command and escapes quotes", async () => {
  const { code, stdout } = await runCommand(["completion", "powershell"]);
  assert.equal(code, 0);
  assert.match(stdout, /^Register-ArgumentCompleter -Native -CommandName quillgate/m);
  for (const { name } of COMMANDS) assert.ok(stdout.includes(`'${name}' = @(`), name);
  assert.ok(stdout.includes("'daily --group' = @(@('day', 'day')"));
  // Every quotation mark inside a string is doubled, so each line has an even number.
  for (const line of stdout.split("\n")) {
    assert.equal((line.match(/'/g)?.length ?? 0) % 2, 0, line);
  }
});
