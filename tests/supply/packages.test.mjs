/** The npm packages in the lock files: their sources, install scripts and advisories. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT } from "../../scripts/versions.mjs";
import { auditPackages, auditSignatures, judge } from "./audit.mjs";

const FOLDERS = [".", "bench", join("bench", "page"), join("tests", "package", "tools")];
/** Packages whose install script fetches or checks a program for the platform. */
const ALLOWED_SCRIPTS = [
  ...["bun", "deno", "esbuild", "fsevents", "sharp", "workerd"],
  // Of Parcel and Jest.
  ...["@parcel/watcher", "@swc/core", "lmdb", "msgpackr-extract"],
];

async function readLock(folder) {
  return JSON.parse(await readFile(join(ROOT, folder, "package-lock.json"), "utf8"));
}

for (const folder of FOLDERS) {
  test(`the lock file of ${folder} has a hash for every package and no source but npm's registry`, async () => {
    const { packages } = await readLock(folder);
    const external = Object.entries(packages).filter(
      ([path, { link }]) => path.includes("node_modules/") && !link,
    );
    assert.ok(external.length > 0);
    for (const [path, { integrity, resolved = "https://registry.npmjs.org/" }] of external) {
      assert.match(integrity ?? "", /^sha512-/, path);
      assert.ok(resolved.startsWith("https://registry.npmjs.org/"), `${path}: ${resolved}`);
    }
  });

  test(`only allowed packages of ${folder} have an install script`, async () => {
    const { packages } = await readLock(folder);
    const running = Object.entries(packages)
      .filter(([, { hasInstallScript }]) => hasInstallScript)
      .map(([path]) => path.split("node_modules/").at(-1));
    assert.deepEqual(
      running.filter((name) => !ALLOWED_SCRIPTS.includes(name)),
      [],
    );
  });
}

test("no package that the page ships has a known vulnerability", async (context) =>
  judge(context, await auditPackages({ cwd: ROOT, omitDev: ["--omit=dev"] })));

test("no package for building and testing has a known vulnerability", async (context) =>
  judge(context, await auditPackages({ cwd: ROOT })));

test("every installed package has a valid signature of the registry", async (context) =>
  judge(context, await auditSignatures(ROOT)));
