/** What a shell completes. */
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { COMMANDS } from "../../pkg/dist/cli/commands.js";
import { optionsOf } from "../../pkg/dist/cli/shared_options.js";
import { runCommand } from "./command_line.mjs";

const execute = promisify(execFile);
const scriptFor = async (shell) => (await runCommand(["completion", shell])).stdout;

/** What bash offers for the last word of a line. */
async function completeInBash(...words) {
  const script = await scriptFor("bash");
  const line = [`COMP_WORDS=("$@")`, "COMP_CWORD=$(($# - 1))", "_quillgate"].join("\n");
  const program = `${script}\n${line}\nprintf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout } = await execute("bash", ["-c", program, "bash", "quillgate", ...words]);
  return stdout.split("\n").filter(Boolean).sort();
}

test("bash completes commands, their second words and their flags", async () => {
  const first = [...new Set(COMMANDS.map(({ name }) => name.split(" ")[0]))];
  assert.deepEqual(await completeInBash(""), [...first, "--help"].sort());
  assert.deepEqual(await completeInBash("vi"), ["views", "visitors"]);
  assert.deepEqual(await completeInBash("job", "m"), ["message"]);
  assert.deepEqual(await completeInBash("completion", "z"), ["zsh"]);
  for (const command of COMMANDS) {
    const flags = Object.keys(optionsOf(command)).map((name) => `--${name}`);
    assert.deepEqual(await completeInBash(...command.name.split(" "), "--"), flags.sort());
  }
});

test("bash completes the values of flags: choices, and files", async () => {
  assert.deepEqual(await completeInBash("feedback", "--source", "a"), ["agent"]);
  assert.deepEqual(await completeInBash("daily", "--group", ""), ["day", "month", "week"]);
  const files = await completeInBash("views", "-o", "/etc/host");
  assert.ok(files.includes("/etc/hosts"), String(files));
});

test("bash is not misled by the value of a flag", async () => {
  assert.deepEqual(await completeInBash("--project", "acme", "job", "c"), ["create"]);
});

/** The shell's own check of a script, where that shell is installed. */
function checkSyntax(shell, script, flag) {
  try {
    execFileSync(shell, [flag], { input: script, stdio: ["pipe", "pipe", "pipe"] });
    return true;
  } catch (error) {
    if (error.code === "ENOENT") return false;
    throw error;
  }
}

for (const [shell, flag] of [
  ["zsh", "-n"],
  ["fish", "-n"],
]) {
  test(`${shell}: every command and flag is in the script`, async (context) => {
    const script = await scriptFor(shell);
    for (const command of COMMANDS) {
      for (const word of command.name.split(" ")) assert.ok(script.includes(word));
      for (const name of Object.keys(optionsOf(command))) {
        assert.ok(script.includes(shell === "fish" ? ` -l ${name}` : `--${name}`), name);
      }
    }
    if (!checkSyntax(shell, script, flag)) context.diagnostic(`${shell} is not installed`);
  });
}
