/** The checked-in bundle: what the sources and the built package make, in one file. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { test } from "node:test";
import { ACTION_BUNDLE, bundleAction } from "../../scripts/action.mjs";
import { ROOT } from "../../scripts/versions.mjs";
import { metadata } from "./runner.mjs";

const bundle = readFileSync(ACTION_BUNDLE, "utf8");

test("is what the sources and the package make: else run node scripts/action.mjs", async () => {
  assert.ok((await bundleAction()) === bundle, "action/dist/index.mjs is out of date");
});

test("loads nothing but Node.js", () => {
  const imports = Array.from(bundle.matchAll(/^import .* from "([^"]+)";$/gm), ([, name]) => name);
  assert.ok(imports.length > 0);
  const known = new Set(builtinModules.map((name) => `node:${name}`));
  for (const name of imports) assert.ok(known.has(name), name);
});

test("hears a cancellation before anything else is done", () => {
  const begin = bundle.indexOf("// action/src/cancellation.ts\n");
  assert.ok(begin > 0 && bundle.slice(begin, begin + 600).includes("process.on("));
  // What comes before it are functions and names, which do nothing by themselves.
  const statements = bundle
    .slice(0, begin)
    .split("\n")
    .filter((line) => /^[\w$]/.test(line))
    .filter((line) => !/^(import|var|function|async function|class|__export\()/.test(line));
  assert.deepEqual(statements, []);
});

test("names no path of the machine that made it", () => {
  assert.ok(!bundle.includes(ROOT));
});

test("is what action.yml runs", () => {
  assert.deepEqual(metadata.runs, { using: "node24", main: "dist/index.mjs" });
});

test("every input and output is described", () => {
  for (const entry of Object.values({ ...metadata.inputs, ...metadata.outputs })) {
    assert.match(entry.description, /^[A-Z].*\.$/s);
  }
});
