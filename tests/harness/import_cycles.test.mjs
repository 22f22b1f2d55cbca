/** Checks that the imports of the package, the command line and the page form no cycle. */
import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { test } from "node:test";
import { ROOT } from "../../scripts/versions.mjs";

const COMMENT = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm;
const IMPORT = /(?:\bfrom|\bimport)[\s(]*"(\.[^"]+)"/g;

function listModules(folder) {
  const names = readdirSync(folder, { recursive: true });
  return names.filter((name) => /(?<!\.d)\.[jt]sx?$/.test(name)).map((name) => join(folder, name));
}

/** Returns the files that a file imports, including imports of types and by `import()`. */
function readImports(file) {
  const text = readFileSync(file, "utf8").replace(COMMENT, "");
  const paths = [...text.matchAll(IMPORT)]
    .map(([, specifier]) => resolve(file, "..", specifier))
    .flatMap((path) => [path.replace(/\.js$/, ".ts"), path]);
  return [...new Set(paths)].filter((path) => existsSync(path));
}

/** Returns the import cycles of a folder, each as a list of files. */
function findCycles(folder) {
  return findCyclesOf(listModules(folder), readImports, folder);
}

/** Returns the import cycles between the folders of a folder, each as a list of folders. */
function findFolderCycles(folder) {
  const imports = new Map();
  for (const file of listModules(folder)) {
    const own = dirname(file);
    const others = readImports(file).map(dirname);
    const known = imports.get(own) ?? [];
    imports.set(own, [...known, ...others.filter((other) => other !== own)]);
  }
  return findCyclesOf([...imports.keys()], (own) => imports.get(own) ?? [], folder);
}

function findCyclesOf(nodes, importsOf, folder) {
  const cycles = [];
  const finished = new Set();
  const visit = (node, path) => {
    const start = path.indexOf(node);
    if (start !== -1) cycles.push(path.slice(start).map((each) => relative(folder, each)));
    if (start !== -1 || finished.has(node)) return;
    for (const imported of importsOf(node)) visit(imported, [...path, node]);
    finished.add(node);
  };
  for (const node of nodes.sort()) visit(node, []);
  return cycles;
}

for (const folder of ["pkg/src", "pkg/cli"]) {
  test(`the imports of ${folder} form no cycle`, () => {
    const files = listModules(join(ROOT, folder));
    assert.ok(files.flatMap(readImports).length > files.length, "too few imports were found");
    assert.deepEqual(findCycles(join(ROOT, folder)), []);
  });
}

test("the imports between the folders of the page form no cycle", () => {
  assert.deepEqual(findFolderCycles(join(ROOT, "www/src")), []);
});

test("the search for cycles between folders finds one without a cycle of files", () => {
  const folder = mkdtempSync(join(tmpdir(), "quillgate-cycles-"));
  const files = {
    "jobs/list.ts": 'import "../session/claims.ts";',
    "session/claims.ts": "export {};",
    "session/end.tsx": 'import "../jobs/storage.ts";',
    "jobs/storage.ts": "export {};",
  };
  try {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    assert.deepEqual(findCycles(folder), []);
    assert.deepEqual(findFolderCycles(folder), [["jobs", "session"]]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

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
