/** Computes digests of source files, and watches the files for changes. */
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { ROOT } from "./versions.mjs";

/** Folders that builds and tools write. */
const GENERATED = new Set(["build", "dist", "node_modules", "target", ".wrangler"]);
/** Files of editors. */
const EDITOR_FILE = /^\.#|^#.*#$|~$|\.sw[a-z]$|^4913$/;
/** How long to wait for more files that are saved together. */
const DEBOUNCE_MS = 50;

/** Hashes paths and content. A missing file changes the digest, too. */
export async function digestFiles(paths, isIncluded = isSource) {
  const hash = createHash("sha256");
  const lists = paths.map((path) => listFiles(path, isIncluded));
  for (const file of (await Promise.all(lists)).flat()) {
    const content = await readFile(file).catch(() => undefined);
    hash.update(`${relative(ROOT, file)} ${content?.length ?? "missing"}\0`);
    if (content) hash.update(content);
  }
  return hash.digest("hex");
}

/** Lists the files of a folder in a fixed order. Returns any other path unchanged. */
async function listFiles(path, isIncluded) {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => undefined);
  if (!entries) return [path];
  const lists = entries
    .filter(({ name }) => isIncluded(name))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map((entry) => {
      const inner = join(path, entry.name);
      return entry.isDirectory() ? listFiles(inner, isIncluded) : [inner];
    });
  return (await Promise.all(lists)).flat();
}

/** Whether a name inside a folder is neither of a build nor of an editor. */
export function isSource(name) {
  return !GENERATED.has(name) && !EDITOR_FILE.test(name);
}

/** Calls back after each change of content, once for files that change together. */
export async function watchFiles(paths, isIncluded, digest, onChange) {
  // Imported here because this file is loaded before the npm packages are installed.
  const { watch } = await import("chokidar");
  let known = digest;
  let since;
  let timer;
  let comparing = Promise.resolve();

  const compare = async () => {
    const began = since;
    since = undefined;
    const found = await digestFiles(paths, isIncluded);
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

  const ignored = (path) => !paths.includes(path) && !isIncluded(basename(path));
  const watcher = watch(paths, { ignored, ignoreInitial: true }).on("all", notice);
  await new Promise((resolve) => watcher.on("ready", resolve));
  notice();
  return async () => {
    clearTimeout(timer);
    await watcher.close();
  };
}
