import { cp, readdir, rm } from "node:fs/promises";
import { join } from "node:path";

/** Replaces a file or a folder with a copy of another. */
export async function replaceTree(source, copy) {
  await rm(copy, { recursive: true, force: true });
  await cp(source, copy, { recursive: true });
}

/** Removes everything in a folder except the entries with these names. */
export async function keepOnly(folder, names) {
  const others = (await readdir(folder)).filter((name) => !names.includes(name));
  await Promise.all(others.map((name) => rm(join(folder, name), { recursive: true })));
}
