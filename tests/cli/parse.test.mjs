/** What the command line is taken to say, and what it is not. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { COMMANDS } from "../../pkg/dist/cli/commands.js";
import { parse } from "../../pkg/dist/cli/parse.js";
import { listOptions } from "../../pkg/dist/cli/shared_options.js";
import { runCommand } from "./command_line.mjs";

const SECRET = "a-misplaced-secret-of-the-user";

test("help names every command, and the help of each every flag of it", async () => {
  const { code, stdout, stderr } = await runCommand(["--help"]);
  assert.deepEqual([code, stderr], [0, ""]);
  for (const command of COMMANDS) {
    assert.ok(stdout.includes(`\n  ${command.name} `), command.name);
    const own = await runCommand([...command.name.split(" "), "--help"]);
    assert.equal(own.code, 0);
    assert.ok(own.stdout.startsWith(`usage: quillgate ${command.name}`));
    for (const name of Object.keys(listOptions(command))) {
      assert.match(own.stdout, new RegExp(`--${name}\\b`), command.name);
    }
    for (const { line } of command.examples) assert.ok(own.stdout.includes(line));
  }
});

test("help is asked for in several ways, and shown on standard error where there is no command", async () => {
  const { stdout } = await runCommand(["--help"]);
  for (const args of [["help"], ["-h"]]) {
    assert.deepEqual(await runCommand(args).then(({ stdout: own }) => own), stdout);
  }
  for (const args of [[], ["--project", "p"]]) {
    const { code, stdout: none, stderr } = await runCommand(args);
    assert.deepEqual([code, none, stderr], [2, "", stdout]);
  }
  const { code, stderr } = await runCommand(["--json"]);
  assert.deepEqual([code, JSON.parse(stderr).error.message], [2, "there is no command"]);
  const { stdout: ofGroup } = await runCommand(["job", "--help"]);
  assert.match(ofGroup, /usage: quillgate job COMMAND.*job create.*job watch/s);
  assert.ok(!ofGroup.includes("searches"));
  const { stdout: ofCommand } = await runCommand(["help", "job", "create"]);
  assert.equal(ofCommand, (await runCommand(["job", "create", "--help"])).stdout);
});

test("every example can be typed as it stands", () => {
  for (const { name, examples } of COMMANDS) {
    for (const { line } of examples) {
      const [, typed] = /quillgate (.*?)\)?(?: > .*)?$/.exec(line);
      const words = typed.match(/"[^"]*"|\S+/g).map((word) => word.replaceAll('"', ""));
      const parsed = parse(words, COMMANDS);
      assert.equal(parsed.kind, "command", line);
      assert.equal(parsed.command.name, name);
    }
  }
});

test("no line of the help is longer than a terminal", async () => {
  for (const { name } of COMMANDS) {
    const { stdout } = await runCommand([...name.split(" "), "--help"]);
    const long = stdout.split("\n").filter((line) => line.length > 80 && !/^ {2}\S/.test(line));
    assert.deepEqual(long, [], name);
  }
});

describe("a command line that is wrong is refused with what could be meant", () => {
  for (const [args, message] of [
    [["vews"], /did you mean views\?/],
    [["job"], /job needs one of create, list, watch, message/],
    [["job", "cretae"], /job has no such command; there are create, list/],
    [["views", "--lats", "28d"], /views has no flag --lats; did you mean --last\?/],
    [["-x"], /there is no flag -x without a command/],
    [["--lats=28d"], /there is no flag --lats without/],
    [["views", "-o"], /-o needs a value: Write to this file/],
    [["views", "--last"], /--last needs a value: The last finished days/],
    [["job", "create", "--wait=yes"], /--wait takes no value/],
    [["job", "watch"], /ID is missing/],
    [["job", "watch", "one", "two"], /job watch takes one only/],
    [["doctor", "one"], /doctor takes no argument/],
    [["feedback", "--source", "elsewhere"], /--source must be one of code_snippet, contextual/],
    [["completion", "tcsh"], /SHELL must be one of bash, zsh, fish/],
    [["views", "--last", "28"], /--last must be days or weeks such as 28d or 4w/],
    [["views", "--last", "0d"], /--last must be days or weeks/],
    [["views", "--last", "4w", "--from", "2026-01-01"], /--last stands without --from and --to/],
    [["views", "--wait", "soon"], /--wait must be a duration such as 90s, 10m or 1h/],
    [["views", "--wait", "2d"], /--wait is at most 24:00:00/],
    [["views", "--format", "csv", "--json"], /--json is --format json/],
    [["views", "-o", "views.xlsx"], /name does not say the format/],
    [["views", "--format", "csv", "--rows", "5", "--project", "p"], /--rows is for tables/],
    [["views", "--rows", "5"], /the output is no terminal, so it is ndjson: add --format table/],
    [["views", "--rows", "5", "-o", "v.csv"], /--rows is for tables: csv, ndjson and json have/],
    [["views", "--format", "table", "--resume"], /--resume is for csv, ndjson and json/],
    [["job", "list", "--rows", "0"], /--rows must be a whole number of at least 1/],
    [["daily"], /the days are missing/],
    [["token", "revoke", "one"], /list REVOKED_TOKENS, by npx wrangler secret put REVOKED_TOKENS/],
    [["init", "a", "--archive", "--no-archive"], /--archive and --no-archive contradict/],
    [["archive", "plan"], /--from is missing/],
  ]) {
    test(args.join(" "), async () => {
      const { code, stdout, stderr } = await runCommand(args);
      assert.match(stderr, message);
      assert.deepEqual([code, stdout], [2, ""]);
    });
  }
});

test("nothing of what could be a secret is repeated", async () => {
  for (const args of [
    [SECRET],
    ["views", SECRET],
    [`--token=${SECRET}`],
    [`-x${SECRET}`],
    ["views", "--token", SECRET],
    ["views", `--token=${SECRET}`],
    ["job", "create", "--wait", `--quiet=${SECRET}`, "x"],
    ["token", "mint", "--secret", SECRET],
  ]) {
    const { code, stdout, stderr } = await runCommand(args);
    assert.equal(code, 2, args.join(" "));
    assert.ok(!`${stdout}${stderr}`.includes(SECRET), stderr);
  }
});

test("an error is one line of JSON when JSON is asked for", async () => {
  const { code, stdout, stderr } = await runCommand(["views", "--json"]);
  assert.deepEqual([code, stdout], [2, ""]);
  const { error } = JSON.parse(stderr);
  assert.deepEqual([error.name, error.exitCode, error.status], ["UsageError", 2, null]);
  assert.match(error.message, /no project/);
});

test("flags may stand before the command", async () => {
  const { stderr } = await runCommand(["--project", "job", "--quiet", "job", "list"]);
  assert.match(stderr, /no credential/);
});

test("the version is that of the package", async () => {
  for (const flag of ["--version", "-v"]) {
    const { code, stdout } = await runCommand([flag]);
    assert.equal(code, 0);
    assert.match(stdout, /^\d+\.\d+\.\d+\S*\n$/);
  }
});
