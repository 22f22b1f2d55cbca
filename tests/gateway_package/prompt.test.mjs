/** The questions of `init` in a real pseudo-terminal, which the program `script` provides. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { ROOT } from "../../scripts/versions.mjs";
import { NO_TERMINAL } from "../cli/terminal.mjs";
import { makeFolder } from "../harness/folder.mjs";

const COMMAND = join(ROOT, "pkg", "dist", "cli", "bin.js");

const root = makeFolder({ after }, "prompt");
const home = join(root, "home");
for (const name of [home, join(root, "node_modules")]) mkdirSync(name);
symlinkSync(join(ROOT, "gateway"), join(root, "node_modules", "quillgate-gateway"));

/** Runs `init` in a terminal and types each answer when its question appears. */
async function typeAnswers(answers) {
  const command = `"${process.execPath}" "${COMMAND}" init my-gateway`;
  const child = spawn("script", ["-qec", command, "/dev/null"], { cwd: home });
  const left = [...answers];
  let screen = "";
  // The same question can appear again.
  let seen = 0;
  child.stdout.setEncoding("utf8").on("data", (text) => {
    screen += text;
    const at = left.length > 0 ? screen.indexOf(left[0][0], seen) : -1;
    if (at === -1) return;
    seen = at + left[0][0].length;
    child.stdin.write(left.shift()[1]);
  });
  const [code] = await once(child, "close");
  return { code, screen, left };
}

for (const [name, key] of Object.entries({ "Ctrl-C": "\x03", "Ctrl-D": "\x04" })) {
  test(`${name} at a question ends init, which writes nothing`, { skip: NO_TERMINAL }, async () => {
    const { code, screen } = await typeAnswers([["Project id", key]]);
    assert.equal(code, 130, screen);
    assert.match(screen, /quillgate: interrupted/);
    assert.doesNotMatch(screen, /AbortError/);
    assert.deepEqual(readdirSync(home), []);
  });
}

test("init writes the typed answers", { skip: NO_TERMINAL }, async () => {
  const { code, screen, left } = await typeAnswers([
    ["Project id", "acme-docs\r"],
    ["[no]", "yes\r"],
  ]);
  assert.equal(code, 0, screen);
  assert.deepEqual(left, []);
  const config = readFileSync(join(home, "my-gateway", "wrangler.toml"), "utf8");
  assert.match(config, /^ARCHIVE_PROJECTS = "acme-docs"$/m);
  assert.match(screen, /next: cd my-gateway/);
});
