/** Packs the package, and installs it in temporary folders outside the repository. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { capture } from "../../scripts/child.mjs";
import { ROOT } from "../../scripts/versions.mjs";
import { startProgram } from "../harness/process.mjs";

export const HERE = dirname(fileURLToPath(import.meta.url));
const PACKAGE = join(ROOT, "pkg");
const TOOLS = join(HERE, "tools", "node_modules");
/** Tarballs and their installations, by the hash of the package's files. */
const CACHE = join(ROOT, "node_modules", ".cache", "quillgate-package");
const TARBALL = "quillgate.tgz";
/** Maximum age of a cache entry. No test run can still be using an older one. */
const MAX_CACHE_AGE_MS = 24 * 3_600_000;

let home;
let cached;

function temporary() {
  if (home === undefined) {
    home = mkdtempSync(join(tmpdir(), "quillgate-package-"));
    process.once("exit", () => rmSync(home, { recursive: true, force: true, maxRetries: 5 }));
  }
  return home;
}

export async function packed() {
  return join(await cacheEntry(), TARBALL);
}

function cacheEntry() {
  cached ??= (async () => {
    const entry = join(CACHE, hashPackage());
    if (!existsSync(entry)) await fillCache(entry);
    return entry;
  })();
  return cached;
}

function hashPackage() {
  const files = readdirSync(PACKAGE, { recursive: true })
    .filter((path) =>
      /^(dist\/|src\/|(inline|testing|values|webhooks)\/|package\.json$|README\.md$|LICENSE$)/.test(
        path,
      ),
    )
    .filter((path) => statSync(join(PACKAGE, path)).isFile())
    .sort();
  const hash = createHash("sha256");
  for (const path of files) hash.update(`${path}\0`).update(readFileSync(join(PACKAGE, path)));
  return hash.digest("hex");
}

async function fillCache(entry) {
  mkdirSync(CACHE, { recursive: true });
  removeOldEntries();
  const made = mkdtempSync(join(CACHE, ".new-"));
  const packing = ["pack", "--pack-destination", made, "--json", "--loglevel=error"];
  const [{ filename }] = JSON.parse(await npm(packing, PACKAGE));
  renameSync(join(made, filename), join(made, TARBALL));
  writeFileSync(join(made, "package.json"), '{ "private": true }');
  const quiet = ["--no-audit", "--no-fund", "--loglevel=error"];
  await npm(["install", "--offline", ...quiet, join(made, TARBALL)], made);
  try {
    renameSync(made, entry);
  } catch (error) {
    // Another process may have created the same entry.
    if (!existsSync(entry)) throw error;
    rmSync(made, { recursive: true });
  }
}

function removeOldEntries() {
  for (const name of readdirSync(CACHE)) {
    const path = join(CACHE, name);
    const age = Date.now() - statSync(path).mtimeMs;
    if (age > MAX_CACHE_AGE_MS) rmSync(path, { recursive: true, force: true });
  }
}

async function npm(args, cwd) {
  const { code, stdout, stderr } = await capture("npm", args, { cwd });
  assert.equal(code, 0, stderr);
  return stdout;
}

/** Creates a folder with the package from the cached installation of the tarball. */
export async function install(name, files = {}) {
  const folder = join(temporary(), name);
  const entry = await cacheEntry();
  mkdirSync(folder);
  const dependencies = { quillgate: `file:${join(entry, TARBALL)}` };
  const manifest = { name: `cell-${name}`, private: true, type: "module", dependencies };
  write(folder, { "package.json": JSON.stringify(manifest), ...files });
  const modules = "node_modules";
  cpSync(join(entry, modules), join(folder, modules), { recursive: true, verbatimSymlinks: true });
  return folder;
}

export function write(folder, files) {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text, { mode: 0o600 });
  }
}

export function copy(folder, path) {
  cpSync(join(HERE, path), join(folder, basename(path)));
}

export function link(folder, name) {
  const path = join(folder, "node_modules", name);
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(join(ROOT, "node_modules", name), path);
}

export const requireIn = (folder) => createRequire(join(folder, "x.cjs"));

/** Requires a package of tests/package/tools. */
export const tool = requireIn(TOOLS);

export function toolPath(...path) {
  return join(TOOLS, ...path);
}

export function versionOf(name) {
  const folders = [join(ROOT, "node_modules"), TOOLS];
  const manifests = folders.map((folder) => join(folder, name, "package.json"));
  const manifest = manifests.find((path) => existsSync(path));
  assert.ok(manifest, `${name} is not installed`);
  return JSON.parse(readFileSync(manifest, "utf8")).version;
}

/** Runs a program until it exits with code 0. Returns its output. */
export async function runProgram(name, command, args, options) {
  const program = startProgram(`package-${name}`, command, args, options);
  const ended = await program.ended;
  assert.equal(ended, "exited with code 0", `${name}: ${program.output()}`);
  return program.output();
}
