/** Checks that folders of the product, and files of the package, import each other in no cycle. */
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { test } from "node:test";
import { ROOT } from "../../scripts/versions.mjs";

const COMMENT = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm;
const IMPORT = /(?:\bfrom|\bimport)[\s(]*"(\.[^"]+)"/g;
const FOLDERS = ["pkg/src", "pkg/cli", "action/src", "gateway/src", "www/src"];

function listModules(folder) {
  const names = readdirSync(folder, { recursive: true });
  return names.filter((name) => /(?<!\.d)\.[jt]sx?$/.test(name)).map((name) => join(folder, name));
}

function readImports(file) {
  const text = readFileSync(file, "utf8").replace(COMMENT, "");
  return [...text.matchAll(IMPORT)]
    .map(([, specifier]) => resolve(file, "..", specifier))
    .flatMap((path) => [path.replace(/\.js$/, ".ts"), path])
    .filter((path) => existsSync(path));
}

function findCycles(graph) {
  const cycles = [];
  const finished = new Set();
  const visit = (node, path) => {
    const start = path.indexOf(node);
    if (start !== -1) cycles.push(path.slice(start));
    if (start !== -1 || finished.has(node)) return;
    for (const next of graph.get(node) ?? []) visit(next, [...path, node]);
    finished.add(node);
  };
  for (const node of [...graph.keys()].sort()) visit(node, []);
  return cycles;
}

function fileGraph(folder) {
  const name = (file) => relative(folder, file);
  const inside = (file) => !name(file).startsWith("..");
  return new Map(
    listModules(folder).map((file) => {
      return [name(file), new Set(readImports(file).filter(inside).map(name))];
    }),
  );
}

/** Returns the imports between folders. Files that are directly in the folder count as "". */
function folderGraph(files) {
  const graph = new Map();
  const folderOf = (file) => dirname(file).replace(/^\.$/, "");
  for (const [file, imports] of files) {
    const from = folderOf(file);
    const known = graph.get(from) ?? new Set();
    for (const to of [...imports].map(folderOf)) if (to !== from) known.add(to);
    graph.set(from, known);
  }
  return graph;
}

for (const folder of FOLDERS) {
  test(`the folders of ${folder} import each other in no cycle`, () => {
    const files = fileGraph(join(ROOT, folder));
    assert.ok([...files.values()].some(({ size }) => size > 0));
    assert.deepEqual(findCycles(folderGraph(files)), []);
  });
}

for (const folder of ["pkg/src", "pkg/cli"]) {
  test(`the files of ${folder} import each other in no cycle`, () => {
    assert.deepEqual(findCycles(fileGraph(join(ROOT, folder))), []);
  });
}
