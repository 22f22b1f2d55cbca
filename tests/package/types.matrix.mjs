/** Checks the package with the oldest supported TypeScript and with two linters. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { capture } from "../../scripts/child.mjs";
import { packed, toolPath, versionOf } from "./installed.mjs";
import { checkCompiler, folder } from "./types/compiler.mjs";

checkCompiler(versionOf("typescript-5.4"), toolPath("typescript-5.4", "bin", "tsc"));

test("publint reports no problem", async () => {
  const publint = toolPath("publint", "src", "cli.js");
  const args = [publint, "run", await packed(), "--strict"];
  const { code, stdout, stderr } = await capture(process.execPath, args, { cwd: folder });
  assert.match(stdout, /All good!/, stdout + stderr);
  assert.equal(code, 0);
});

test("arethetypeswrong reports no problem", async () => {
  const attw = toolPath("@arethetypeswrong", "cli", "dist", "index.js");
  const args = [attw, await packed(), "--format", "json"];
  const { stdout, stderr } = await capture(process.execPath, args, { cwd: folder });
  assert.equal(stderr, "");
  assert.deepEqual(JSON.parse(stdout).analysis.problems, []);
});
