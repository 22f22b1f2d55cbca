/** How the command line is parsed, and the help texts. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { COMMANDS } from "../../pkg/dist/cli/commands.js";
import { parse } from "../../pkg/dist/cli/parse.js";
import { listOptions } from "../../pkg/dist/cli/shared_options.js";
import { runCommand } from "./command_line.mjs";

const SECRET = "a-misplaced-secret-of-the-user";

test("help lists every command, and a command's help lists every flag", async () => {
  const { code, stdout, stderr } = await runCommand(["--help"]);
  assert.deepEqual([code, stderr], [0, ""]);
  for (const command of COMMANDS) {
    assert.ok(stdout.includes(`\n  ${command.name} `), command.name);
    const help = await runCommand([...command.name.split(" "), "--help"]);
    assert.equal(help.code, 0);
    assert.ok(help.stdout.startsWith(`usage: quillgate ${command.name}`));
    for (const name of Object.keys(listOptions(command))) {
      assert.match(help.stdout, new RegExp(`--${name}\\b`), command.name);
    }
    for (const { line } of command.examples) assert.ok(help.stdout.includes(line));
  }
});

test("help has several spellings and goes to standard error when the command is missing", async () => {
  const { stdout } = await runCommand(["--help"]);
  for (const args of [["help"], ["-h"], ["help", "help"]]) {
    assert.equal((await runCommand(args)).stdout, stdout);
  }
  for (const args of [[], ["--project", "p"]]) {
    const { code, stdout: empty, stderr } = await runCommand(args);
    assert.deepEqual([code, empty, stderr], [2, "", stdout]);
  }
  const { code, stderr } = await runCommand(["--json"]);
  assert.deepEqual([code, JSON.parse(stderr).error.message], [2, "there is no command"]);
  const { stdout: groupHelp } = await runCommand(["job", "--help"]);
  assert.match(groupHelp, /usage: quillgate job COMMAND.*job create.*job watch/s);
  assert.ok(!groupHelp.includes("searches"));
  const { stdout: commandHelp } = await runCommand(["help", "job", "create"]);
  assert.equal(commandHelp, (await runCommand(["job", "create", "--help"])).stdout);
});

test("every example in the help is a valid command", () => {
  for (const { name, examples } of COMMANDS) {
    for (const { line } of examples) {
      const [, typed] = /quillgate (.*?)(?:\)"?)?(?: [<>|] .*)?$/.exec(line);
      const words = typed.match(/"[^"]*"|\S+/g).map((word) => word.replaceAll('"', ""));
      const parsed = parse(words, COMMANDS);
      assert.equal(parsed.kind, "command", line);
      assert.equal(parsed.command.name, name);
    }
  }
});

test("every line of the help fits into 80 columns", async () => {
  for (const { name } of COMMANDS) {
    const { stdout } = await runCommand([...name.split(" "), "--help"]);
    const long = stdout.split("\n").filter((line) => line.length > 80 && !/^ {2}\S/.test(line));
    assert.deepEqual(long, [], name);
  }
});

describe("invalid command lines", () => {
  for (const [line, message] of [
    ["vews", /there is no command vews; did you mean views\?/],
    ["jobs", /there is no command jobs; did you mean job\?/],
    ["verison", /there is no command verison; did you mean version\?/],
    ["open", /there is no such command\n/],
    ["help vews", /there is no command vews; did you mean views\?/],
    ["job", /job needs one of create, list, show, open, watch/],
    ["job cretae", /there is no command job cretae; did you mean job create\?/],
    ["job cancel", /job has no such command; there are create, list/],
    ["views --lats 28d", /views has no flag --lats; did you mean --last\?/],
    ["-x", /there is no flag -x without a command/],
    ["--lats=28d", /there is no flag --lats without/],
    ["views -o", /-o needs a value: Write to this file/],
    ["views --last", /--last needs a value: The last days/],
    ["job create --wait=yes", /--wait takes no value/],
    ["job watch", /ID is missing/],
    ["job watch one two", /job watch takes one argument/],
    ["doctor one", /doctor takes no argument/],
    ["feedback --source elsewhere", /--source must be one of code_snippet, contextual/],
    ["completion tcsh", /SHELL must be one of bash, zsh, fish, powershell/],
    ["views --last 28", /--last must be days or weeks such as 28d or 4w/],
    ["views --last 0d", /--last must be days or weeks/],
    ["views --last 4w --from 2026-01-01", /--last cannot be combined with --from or --to/],
    ["views --wait soon", /--wait must be a duration such as 90s, 10m or 1h/],
    ["views --wait 2d", /--wait is at most 24:00:00/],
    ["views --format csv --json", /--json is --format json/],
    ["views -o views.xlsx", /name does not say the format/],
    ["views --format csv --rows 0", /--rows must be a whole number of at least 1/],
    ["views --format table --resume", /--resume cannot be combined with the format table/],
    ["views --format table --wait 1h", /--wait cannot be combined with the format table/],
    ["job list --rows 0", /--rows must be a whole number of at least 1/],
    ["job list --rows -5", /--rows must be a whole number of at least 1/],
    ["views --last 7", /--last must be days or weeks .*; did you mean 7d\?/],
    ["views --token abc", /views has no flag --token; did you mean --token-file\?/],
    ["archive views --to 2026-02-01", /--from is missing/],
    ["views --compare --format csv", /--compare needs the format table or json/],
    ["token revoke one", /list REVOKED_TOKENS, by npx wrangler secret put REVOKED_TOKENS/],
    ["init a --archive --no-archive", /--archive and --no-archive contradict/],
    ["archive plan", /--from is missing/],
  ]) {
    test(`rejects the command line '${line}' with a hint`, async () => {
      const { code, stdout, stderr } = await runCommand(line.split(" "));
      assert.match(stderr, message);
      assert.deepEqual([code, stdout], [2, ""]);
    });
  }
});

test("errors never repeat an argument that could be a secret", async () => {
  for (const args of [
    [SECRET],
    ["job", SECRET],
    ["views", SECRET],
    [`--token=${SECRET}`],
    [`-x${SECRET}`],
    ["views", "--token", SECRET],
    ["views", `--token=${SECRET}`],
    ["job", "create", "--wait", `--quiet=${SECRET}`, "x"],
    ["token", "mint", SECRET],
    ["token", "mint", "--secret", SECRET],
    ["token", "mint", `--secret=${SECRET}`],
  ]) {
    const { code, stdout, stderr } = await runCommand(args);
    assert.equal(code, 2, args.join(" "));
    assert.ok(!`${stdout}${stderr}`.includes(SECRET), stderr);
  }
});

test("--json prints an error as one line of JSON", async () => {
  const { code, stdout, stderr } = await runCommand(["views", "--json"]);
  assert.deepEqual([code, stdout], [2, ""]);
  const { error } = JSON.parse(stderr);
  assert.deepEqual([error.name, error.exitCode, error.status], ["UsageError", 2, null]);
  assert.match(error.message, /no project/);
});

test("accepts flags before the command", async () => {
  const { stderr } = await runCommand(["--project", "job", "--quiet", "job", "list"]);
  assert.match(stderr, /no credential/);
});

test("version, --version and -v print the package's version", async () => {
  for (const word of ["version", "--version", "-v"]) {
    const { code, stdout } = await runCommand([word]);
    assert.equal(code, 0);
    assert.match(stdout, /^\d+\.\d+\.\d+\S*\n$/);
  }
});
