/** The package stays within its recorded budget. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { ownSizes } from "../../bench/sizes.mjs";
import { ROOT } from "../../scripts/versions.mjs";

/**
 * In bytes. A change that has to go past one says so by raising it here. With the state machine in
 * wasm and its driver in TypeScript there are 12,474 of wasm and 9,408 of JavaScript, where futures
 * in wasm were 27,994 and 9,358. Filters of the list took 73 of wasm, and what leads to records, to the
 * stream of all jobs, to daily views and to a browser's session 86 of JavaScript. What writes an export, what reads a gateway's streams of jobs, its
 * records and its archive are loaded by their first use, 4,600; the 600 with which Vite loads them are
 * in the JavaScript. Of the tarball 43,600 are the command line, which an import does not load.
 */
const BUDGET = { wasm: 12_600, js: 9_500, total: 22_050, lazy: 4_700, tarball: 133_000 };
/** How much more than JavaScript and wasm apart the entry is that embeds the wasm, as the README says. */
const MOST_FOR_INLINE = 1.04;

test("wasm and JavaScript are within their budget, compressed with brotli", async () => {
  const { wasm, js, total } = await ownSizes();
  assert.ok(wasm.brotli <= BUDGET.wasm, `the wasm has ${wasm.brotli} bytes of ${BUDGET.wasm}`);
  assert.ok(js.brotli <= BUDGET.js, `the JavaScript has ${js.brotli} bytes of ${BUDGET.js}`);
  const sum = total.brotli;
  assert.ok(sum <= BUDGET.total, `they have ${sum} bytes together of ${BUDGET.total}`);
});

test("what writes an export or reads a stream or a record is a file of its own, which an import does not load", async () => {
  for (const entry of ["quillgate", "quillgate/inline"]) {
    const { brotli } = (await ownSizes(entry)).lazy;
    assert.ok(brotli > 0, `${entry} loads it at once`);
    assert.ok(brotli <= BUDGET.lazy, `it has ${brotli} bytes of ${BUDGET.lazy}`);
  }
});

test("the entry that embeds the wasm is hardly larger than the two files", async () => {
  const { total } = await ownSizes();
  const inline = await ownSizes("quillgate/inline");
  assert.equal(inline.wasm.raw, 0, "it is one file");
  const ratio = inline.total.brotli / total.brotli;
  assert.ok(ratio <= MOST_FOR_INLINE, `it has ${ratio.toFixed(3)} times the bytes`);
});

test("the tarball is within its budget, and has no file that a user does not need", async () => {
  const args = ["pack", "--dry-run", "--json", "--ignore-scripts"];
  const { stdout } = await promisify(execFile)("npm", args, { cwd: join(ROOT, "pkg") });
  const [{ size, files }] = JSON.parse(stdout);
  assert.ok(size <= BUDGET.tarball, `the tarball has ${size} bytes of ${BUDGET.tarball}`);
  const unexpected = files.map(({ path }) => path).filter((path) => !EXPECTED.test(path));
  assert.deepEqual(unexpected, []);
});

const EXPECTED =
  /^(package\.json|README\.md|LICENSE|dist\/(cli\/\w+\.js|(generated\/)?(\w+\.js|\w+\.d\.ts|core_bg\.wasm)))$/;

test("the built files name no folder of the machine that built them", async () => {
  for (const file of ["core_bg.wasm", "core.js"]) {
    const text = await readFile(join(ROOT, "pkg", "dist", file), "latin1");
    assert.ok(!text.includes(ROOT), file);
    assert.ok(!text.includes("/.cargo/"), file);
  }
});
