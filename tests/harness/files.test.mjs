import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { digestFiles, watchFiles } from "../../scripts/files.mjs";

/** Longer than `watchFiles` takes to report a change. */
const QUIET_MS = 500;

let folder;
let stop;
let changes;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "quillgate-files-"));
  mkdirSync(join(folder, "src", "dist"), { recursive: true });
  write("src/a.rs", "a");
  write("lock", "1");
  changes = 0;
});

afterEach(async () => {
  await stop?.();
  rmSync(folder, { recursive: true, force: true });
});

const write = (name, content) => writeFileSync(join(folder, name), content);
const digest = () => digestFiles([join(folder, "src"), join(folder, "lock")]);

async function watch(known) {
  const paths = [join(folder, "src"), join(folder, "lock")];
  stop = await watchFiles(paths, known ?? (await digest()), () => {
    changes += 1;
  });
  await delay(QUIET_MS);
}

/** Makes a change and returns the number of reports. */
async function reportsOf(change) {
  changes = 0;
  change();
  await delay(QUIET_MS);
  return changes;
}

test("a digest depends on content and names, but not on files of builds and editors", async () => {
  const before = await digest();
  write("src/dist/made.js", "made");
  write("src/.a.rs.swp", "swap");
  assert.equal(await digest(), before);
  renameSync(join(folder, "src", "a.rs"), join(folder, "src", "b.rs"));
  const renamed = await digest();
  assert.notEqual(renamed, before);
  write("lock", "2");
  assert.notEqual(await digest(), renamed);
  rmSync(join(folder, "lock"));
  assert.notEqual(await digest(), renamed);
});

test("files that change together cause one report", async () => {
  await watch();
  assert.equal(changes, 0);
  const both = () => {
    write("src/a.rs", "changed");
    write("src/b.rs", "new");
  };
  assert.equal(await reportsOf(both), 1);
});

test("writing the same content to a file is not reported", async () => {
  await watch();
  assert.equal(await reportsOf(() => write("src/a.rs", "a")), 0);
});

test("replacing a file by renaming another is reported, as editors do it", async () => {
  await watch();
  for (const name of ["src/a.rs", "lock"]) {
    for (const content of ["first", "second"]) {
      const replace = () => {
        write(`${name}.new~`, content);
        renameSync(join(folder, `${name}.new~`), join(folder, name));
      };
      assert.equal(await reportsOf(replace), 1, `${name}: ${content}`);
    }
  }
});

test("changes in folders that are created, removed and created again are reported", async () => {
  await watch();
  const inner = join(folder, "src", "inner", "deep");
  for (const round of [1, 2]) {
    assert.equal(await reportsOf(() => mkdirSync(inner, { recursive: true })), 0);
    assert.equal(await reportsOf(() => write("src/inner/deep/c.rs", `${round}`)), 1);
    assert.equal(
      await reportsOf(() => rmSync(join(folder, "src", "inner"), { recursive: true })),
      1,
    );
  }
});

test("a change since the digest is reported when the watch begins", async () => {
  const known = await digest();
  write("src/a.rs", "changed");
  await watch(known);
  assert.equal(changes, 1);
});
