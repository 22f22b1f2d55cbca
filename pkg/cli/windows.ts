/** Finds programs on Windows. */

import { existsSync } from "node:fs";
import { win32 } from "node:path";

/**
 * Finds a program in the folders of `PATH`. By itself, Node.js would start one in the current folder
 * first, which can be part of someone else's repository.
 */
export function findOnWindows(name: string, path = ""): string | undefined {
  const folders = path.split(";").map((folder) => folder.replaceAll('"', ""));
  const files = folders.filter(win32.isAbsolute).map((folder) => `${folder}/${name}`);
  return files.find((file) => existsSync(file));
}
