/** The commands of package.json install npm packages, so they start without one. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { test } from "node:test";
import { ROOT } from "../../scripts/versions.mjs";

const IMPORT = /^(?:import|export)\b[^;]*?\bfrom "([^"]+)"|^import "([^"]+)"/gms;
const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
/** The file that each npm script runs first. */
const FILES = Object.entries(scripts).flatMap(([name, line]) => {
  const [, file] = /\bnode (\S+\.mjs)/.exec(line) ?? [];
  return file === undefined ? [] : [[name, file]];
});

/** Returns the npm packages that a file imports before it runs, each with the importing file. */
function findPackages(file, seen = new Set()) {
  if (seen.has(file)) return [];
  seen.add(file);
  return [...readFileSync(file, "utf8").matchAll(IMPORT)].flatMap(([, from, bare]) => {
    const specifier = from ?? bare;
    if (specifier.startsWith(".")) return findPackages(resolve(file, "..", specifier), seen);
    return specifier.startsWith("node:") ? [] : [`${relative(ROOT, file)}: ${specifier}`];
  });
}

for (const [name, file] of FILES) {
  test(`npm run ${name} starts on a clone without npm packages`, () => {
    assert.deepEqual(findPackages(join(ROOT, file)), []);
  });
}

test("finds an npm package that another module imports", () => {
  const found = findPackages(join(ROOT, "tests", "harness", "gateway.mjs"));
  assert.ok(found.some((line) => line.startsWith("tests/harness/openapi.mjs: ajv")));
});
