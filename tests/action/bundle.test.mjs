/** The checked-in bundle of the action. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { test } from "node:test";
import { ACTION_BUNDLE, bundleAction } from "../../scripts/action.mjs";
import { ROOT } from "../../scripts/versions.mjs";
import { metadata } from "./runner.mjs";

const bundle = readFileSync(ACTION_BUNDLE, "utf8");

test("the action's bundle is up to date: node scripts/action.mjs rebuilds it", async () => {
  assert.ok((await bundleAction()) === bundle, "action/dist/index.mjs is out of date");
});

test("the action's bundle imports only built-in modules", () => {
  const imports = Array.from(bundle.matchAll(/^import .* from "([^"]+)";$/gm), ([, name]) => name);
  assert.ok(imports.length > 0);
  const known = new Set(builtinModules.map((name) => `node:${name}`));
  for (const name of imports) assert.ok(known.has(name), name);
});

test("the action's bundle handles signals before any other statement", () => {
  const begin = bundle.indexOf("// action/src/cancellation.ts\n");
  assert.ok(begin > 0 && bundle.slice(begin, begin + 600).includes("process.on("));
  // Only declarations precede it.
  const statements = bundle
    .slice(0, begin)
    .split("\n")
    .filter((line) => /^[\w$]/.test(line))
    .filter((line) => !/^(import|var|function|async function|class|__export\()/.test(line));
  assert.deepEqual(statements, []);
});

test("the action's bundle contains no path of the build machine", () => {
  assert.ok(!bundle.includes(ROOT));
});

test("action.yml runs the bundle", () => {
  assert.deepEqual(metadata.runs, { using: "node24", main: "dist/index.mjs" });
});
