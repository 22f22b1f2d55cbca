/** The package as a stranger has it: packed, and installed in a folder of its own. */
import assert from "node:assert/strict";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { capture } from "../../scripts/child.mjs";
import { ROOT } from "../../scripts/versions.mjs";
import { startProgram } from "../harness/process.mjs";

export const HERE = dirname(fileURLToPath(import.meta.url));
const TOOLS = join(HERE, "tools", "node_modules");

let home;
let tarball;

/** A folder for this process, outside of the repository and gone when it ends. */
function temporary() {
  if (home === undefined) {
    home = mkdtempSync(join(tmpdir(), "quillgate-package-"));
    process.once("exit", () => rmSync(home, { recursive: true, force: true, maxRetries: 5 }));
  }
  return home;
}

/** Packs the package, once per process. @returns {Promise<string>} the path of the tarball */
export function packed() {
  tarball ??= (async () => {
    const args = ["pack", "--pack-destination", temporary(), "--json", "--loglevel=error"];
    const { code, stdout, stderr } = await capture("npm", args, { cwd: join(ROOT, "pkg") });
    assert.equal(code, 0, stderr);
    return join(temporary(), JSON.parse(stdout)[0].filename);
  })();
  return tarball;
}

/**
 * Installs the tarball, and nothing from anywhere else, in an empty folder.
 *
 * @param {string} name of the folder
 * @param {Record<string, string>} [files] what else stands in it, by path
 * @param {string} [from] another tarball than that of the package as it is
 * @returns {Promise<string>} the folder
 */
export async function install(name, files = {}, from = undefined) {
  const folder = join(temporary(), name);
  mkdirSync(folder);
  const manifest = { name: `cell-${name}`, private: true, type: "module" };
  write(folder, { "package.json": JSON.stringify(manifest), ...files });
  const quiet = ["--no-audit", "--no-fund", "--loglevel=error"];
  const args = ["install", "--offline", ...quiet, from ?? (await packed())];
  const { code, stderr } = await capture("npm", args, { cwd: folder });
  assert.equal(code, 0, stderr);
  return folder;
}

/** Writes files in a folder, by their path in it. */
export function write(folder, files) {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text, { mode: 0o600 });
  }
}

/** Copies a file that stands beside this one. */
export function copy(folder, ...names) {
  for (const name of names) cpSync(join(HERE, name), join(folder, name));
}

/** Lets a folder find one of the repository's own packages. */
export function link(folder, name) {
  const path = join(folder, "node_modules", name);
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(join(ROOT, "node_modules", name), path);
}

/** Requires one of the tests' own tools. */
export const tool = createRequire(join(TOOLS, "x.cjs"));

/** A program that a tool brings. */
export function toolPath(...path) {
  return join(TOOLS, ...path);
}

/** The version of a tool, or of one of the repository's own packages. */
export function versionOf(name) {
  const folders = [join(ROOT, "node_modules"), TOOLS];
  const manifests = folders.map((folder) => join(folder, name, "package.json"));
  const manifest = manifests.find((path) => existsSync(path));
  assert.ok(manifest, `${name} is not installed`);
  return JSON.parse(readFileSync(manifest, "utf8")).version;
}

/** Runs a program to its end. @returns {Promise<string>} what it has written */
export async function runProgram(name, command, args, options) {
  const program = startProgram(`package-${name}`, command, args, options);
  const ended = await program.ended;
  assert.equal(ended, "exited with code 0", `${name}: ${program.output()}`);
  return program.output();
}
