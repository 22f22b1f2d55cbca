/** The repository's source files: what is in them, and when that changes. */
import { createHash } from "node:crypto";
import { readdirSync, statSync, watch } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { ROOT } from "./versions.mjs";

/** What builds and tools write. */
const GENERATED = new Set(["build", "dist", "node_modules", "target", ".wrangler"]);
/** What editors keep beside a file while it is being edited. */
const EDITOR_FILE = /^\.#|^#.*#$|~$|\.sw[a-z]$|^4913$/;
/** How long to wait for more files that are saved together. */
const DEBOUNCE_MS = 50;

/**
 * Hashes the content of files and folders, without the generated folders in them.
 *
 * @param {string[]} paths
 * @returns {Promise<string>}
 */
export async function digestFiles(paths) {
  const hash = createHash("sha256");
  for (const file of (await Promise.all(paths.map(listFiles))).flat()) {
    const content = await readFile(file).catch(() => undefined);
    hash.update(`${relative(ROOT, file)} ${content?.length ?? "missing"}\0`);
    if (content) hash.update(content);
  }
  return hash.digest("hex");
}

/** The files of a folder, in a fixed order; anything else stands for itself. */
async function listFiles(path) {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => undefined);
  if (!entries) return [path];
  const lists = entries
    .filter(({ name }) => isSource(name))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map((entry) => {
      const inner = join(path, entry.name);
      return entry.isDirectory() ? listFiles(inner) : [inner];
    });
  return (await Promise.all(lists)).flat();
}

function isSource(name) {
  return !GENERATED.has(name) && !EDITOR_FILE.test(name);
}

/**
 * Calls back each time that the content of files or folders has changed. The operating system
 * reports the changes; nothing is polled. Files that change together cause one call.
 *
 * @param {string[]} paths
 * @param {string} digest what {@link digestFiles} said of them: an earlier change is reported at once
 * @param {(since: number) => void} onChange receives the `performance.now()` of the first change
 * @returns {() => void} stops watching
 */
export function watchFiles(paths, digest, onChange) {
  let known = digest;
  let since;
  let timer;
  let comparing = Promise.resolve();

  const compare = async () => {
    const began = since;
    since = undefined;
    const found = await digestFiles(paths);
    if (found === known) return;
    known = found;
    onChange(began);
  };
  const notice = () => {
    since ??= performance.now();
    clearTimeout(timer);
    timer = setTimeout(() => {
      comparing = comparing.then(compare);
    }, DEBOUNCE_MS);
  };

  const watchers = new Map();
  for (const path of paths) {
    if (isFolder(path)) watchTree(path, notice, watchers);
    else watchFile(path, notice, watchers);
  }
  notice();
  return () => {
    clearTimeout(timer);
    for (const watcher of watchers.values()) watcher.close();
  };
}

/** Watches a folder and those in it, also the ones that are made later. */
function watchTree(folder, notice, watchers) {
  watchers.get(folder)?.close();
  watchers.delete(folder);
  if (!isFolder(folder)) return;
  const watcher = watch(folder, { persistent: false }, (event, name) => {
    if (!name || !isSource(name)) return;
    if (event === "rename") watchTree(join(folder, name), notice, watchers);
    notice();
  });
  // A folder that is removed is no failure.
  watchers.set(
    folder,
    watcher.on("error", () => {}),
  );
  for (const name of readdirSync(folder).filter(isSource)) {
    watchTree(join(folder, name), notice, watchers);
  }
}

/** Watches a file through its folder, since editors put a new file in the place of the old one. */
function watchFile(file, notice, watchers) {
  const watcher = watch(dirname(file), { persistent: false }, (_event, name) => {
    if (name === basename(file)) notice();
  });
  watchers.set(file, watcher);
}

function isFolder(path) {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
