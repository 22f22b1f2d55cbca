import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";

/** Removes everything in a folder except the entries with these names. */
export async function keepOnly(folder, names) {
  const others = (await readdir(folder)).filter((name) => !names.includes(name));
  await Promise.all(others.map((name) => rm(join(folder, name), { recursive: true })));
}
