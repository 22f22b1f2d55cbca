/** The packed package's types in the oldest supported TypeScript, and two checkers of packages. */
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
  // Every supported version of Node can require ES modules, which is all that the ignored rule is
  // about. The checks of runtimes show it.
  const attw = toolPath("@arethetypeswrong", "cli", "dist", "index.js");
  const args = [attw, await packed(), "--ignore-rules", "cjs-resolves-to-esm", "--format", "ascii"];
  const { code, stdout, stderr } = await capture(process.execPath, args, { cwd: folder });
  assert.match(stdout, /No problems found/, stdout + stderr);
  assert.equal(code, 0);
});
