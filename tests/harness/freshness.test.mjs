import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { RECORDS, whenChanged } from "../../scripts/freshness.mjs";

let folder;
let step;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "quillgate-freshness-"));
  mkdirSync(join(folder, "in"));
  write("in/a", "a");
  step = {
    name: basename(folder),
    inputs: [join(folder, "in")],
    outputs: [join(folder, "out")],
  };
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
  rmSync(join(RECORDS, `${step.name}.json`), { force: true });
});

const write = (name, content) => writeFileSync(join(folder, name), content);

async function isMade() {
  const made = [];
  await whenChanged({ ...step, made }, async () => write("out", "made"));
  return made.length > 0;
}

test("a build step runs once, and again after each change of its inputs", async () => {
  assert.equal(await isMade(), true);
  assert.equal(await isMade(), false);
  write("in/a", "b");
  assert.equal(await isMade(), true);
  write("in/c", "c");
  assert.equal(await isMade(), true);
  assert.equal(await isMade(), false);
});

test("a build step runs again after its output was changed or removed", async () => {
  await isMade();
  write("out", "changed");
  assert.equal(await isMade(), true);
  rmSync(join(folder, "out"));
  assert.equal(await isMade(), true);
  assert.equal(await isMade(), false);
});

test("a build step that failed runs again", async () => {
  const failing = whenChanged(step, async () => {
    throw new Error("no space left");
  });
  await assert.rejects(failing, /no space left/);
  assert.equal(await isMade(), true);
});
