/** Runs calls of every kind and checks that they leave nothing in memory. */
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { copy, install, runProgram } from "../installed.mjs";

const MEGABYTE = 1_000_000;
/** wasm memory grows by pages. A new peak of concurrent calls can require one more. */
const WASM_PAGE = 65_536;
const CONCURRENT_CALLS = 20;
/** The tolerated growth of the wasm tables. One grows by 128; a leak would add more. */
const MAX_TABLE_GROWTH = 512;

export function checkMemory(calls, abandoned) {
  let found;

  before(async () => {
    const folder = await install("memory");
    copy(folder, "memory/program.mjs");
    const args = ["--expose-gc", "program.mjs", String(calls), String(abandoned)];
    const output = await runProgram("memory", process.execPath, args, { cwd: folder });
    const line = output.split("\n").find((text) => text.startsWith("MEMORY "));
    found = JSON.parse(line.slice("MEMORY ".length));
  });

  test("the memory program makes every kind of call and leaves every kind of list and watch", () => {
    const counts = Object.values(found.counts);
    assert.ok(counts.length > 30, `${counts.length} kinds`);
    assert.ok(Math.min(...counts) >= Math.floor(abandoned / 10));
    const total = counts.reduce((sum, count) => sum + count, 0);
    assert.equal(total, calls + abandoned);
    assert.ok(found.memories > 0, "no wasm memory was found");
    assert.ok(found.before.wasm > 0);
  });

  test(`${calls + abandoned} calls do not grow the heap`, () => {
    const growth = found.after.heap - found.before.heap;
    assert.ok(Math.abs(growth) <= MEGABYTE, `the heap has grown by ${growth} bytes`);
  });

  test(`${calls + abandoned} calls do not grow the wasm memory`, () => {
    const growth = found.after.wasm - found.before.wasm;
    assert.ok(growth <= WASM_PAGE, `the wasm memory has grown by ${growth} bytes`);
  });

  test(`${calls + abandoned} calls leave no JavaScript value in the wasm tables`, () => {
    const growth = found.after.values - found.before.values;
    assert.ok(growth <= CONCURRENT_CALLS, `the tables have ${growth} more values`);
  });

  test(`${calls + abandoned} calls do not grow the wasm tables`, () => {
    const growth = found.after.entries - found.before.entries;
    assert.ok(growth <= MAX_TABLE_GROWTH, `the tables have ${growth} more entries`);
  });
}
