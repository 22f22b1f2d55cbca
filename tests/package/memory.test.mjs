/** Calls, and what their callers leave unfinished, leave nothing in memory. */
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { copy, install, runProgram } from "./installed.mjs";

const CALLS = 10_000;
const ABANDONED = 1_000;
const MEGABYTE = 1_000_000;
/** wasm memory only grows, by whole pages: one more may be what more calls at a time have taken. */
const WASM_PAGE = 65_536;
/** How many calls there were at a time. */
const AT_WORK = 20;
/** A table doubles when it is full: what is leaked twice makes it longer by more than this. */
const FIRST_ENTRIES = 512;

let found;

before(async () => {
  const folder = await install("memory");
  copy(folder, "memory.mjs");
  const args = ["--expose-gc", "memory.mjs", String(CALLS), String(ABANDONED)];
  const output = await runProgram("memory", process.execPath, args, { cwd: folder });
  const line = output.split("\n").find((text) => text.startsWith("MEMORY "));
  found = JSON.parse(line.slice("MEMORY ".length));
});

test("every kind of call was made, and every kind of list and watch left", () => {
  const counts = Object.values(found.counts);
  assert.ok(counts.length > 30, `${counts.length} kinds`);
  assert.ok(counts.every((count) => count >= 100));
  assert.equal(
    counts.reduce((sum, count) => sum + count, 0),
    CALLS + ABANDONED,
  );
  assert.ok(found.memories > 0, "the wasm memory was not seen");
  assert.ok(found.before.wasm > 0);
});

test("the heap is where it was", () => {
  const grown = found.after.heap - found.before.heap;
  assert.ok(Math.abs(grown) <= MEGABYTE, `the heap has grown by ${grown} bytes`);
});

test("the wasm memory is where it was", () => {
  const grown = found.after.wasm - found.before.wasm;
  assert.ok(grown <= WASM_PAGE, `the wasm memory has grown by ${grown} bytes`);
});

test("the wasm holds on to no JavaScript value", () => {
  const grown = found.after.values - found.before.values;
  assert.ok(grown <= AT_WORK, `its tables hold ${grown} values more`);
});

test("the wasm gives back every entry of its tables", () => {
  const grown = found.after.entries - found.before.entries;
  assert.ok(grown <= FIRST_ENTRIES, `its tables have ${grown} entries more`);
});
