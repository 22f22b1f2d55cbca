/** Checks that the imports of the package and of the command line form no cycle. */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { test } from "node:test";
import { ROOT } from "../../scripts/versions.mjs";

const COMMENT = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm;
const IMPORT = /(?:\bfrom|\bimport)[\s(]*"(\.[^"]+)"/g;

function listModules(folder) {
  const names = readdirSync(folder, { recursive: true });
  return names.filter((name) => /(?<!\.d)\.[jt]s$/.test(name)).map((name) => join(folder, name));
}

/** Returns the files that a file imports, including imports of types and by `import()`. */
function readImports(file) {
  const text = readFileSync(file, "utf8").replace(COMMENT, "");
  return [...text.matchAll(IMPORT)]
    .map(([, specifier]) => resolve(file, "..", specifier))
    .flatMap((path) => [path.replace(/\.js$/, ".ts"), path])
    .filter((path) => existsSync(path));
}

/** Returns the import cycles of a folder, each as a list of files. */
function findCycles(folder) {
  const cycles = [];
  const finished = new Set();
  const visit = (file, path) => {
    const start = path.indexOf(file);
    if (start !== -1) cycles.push(path.slice(start).map((each) => relative(folder, each)));
    if (start !== -1 || finished.has(file)) return;
    for (const imported of readImports(file)) visit(imported, [...path, file]);
    finished.add(file);
  };
  for (const file of listModules(folder).sort()) visit(file, []);
  return cycles;
}

for (const folder of ["pkg/src", "pkg/cli"]) {
  test(`the imports of ${folder} form no cycle`, () => {
    const files = listModules(join(ROOT, folder));
    assert.ok(files.flatMap(readImports).length > files.length, "too few imports were found");
    assert.deepEqual(findCycles(join(ROOT, folder)), []);
  });
}

test("the search for import cycles finds one of a type import and an import()", () => {
  const folder = mkdtempSync(join(tmpdir(), "quillgate-cycles-"));
  const files = {
    "first.ts": 'import type {\n  B,\n} from "./second.js";\nexport type A = B;',
    "second.ts": 'export type B = 1;\nexport const load = () => import("./third.js");',
    "third.ts": 'export type { A } from "./first.js";\n// import "./apart.js";',
    "apart.ts": 'import "./first.js";',
  };
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    assert.deepEqual(findCycles(folder), [["first.ts", "second.ts", "third.ts"]]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
