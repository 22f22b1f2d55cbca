/** Checks that the file of `-o` can be written. */

import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { type Context, readText } from "./command.js";
import { UsageError } from "./errors.js";

/**
 * Returns the absolute path of `-o`, or `undefined` without the flag.
 *
 * Call this before the first request, so that no request is wasted if the file cannot be written.
 *
 * @throws {UsageError} if the file cannot be written
 */
export async function findOutputFile(context: Context): Promise<string | undefined> {
  const shown = readText(context, "output");
  if (shown === undefined) return undefined;
  const path = resolve(context.host.folder, shown);
  const folder = dirname(path);
  const [file, parent] = await Promise.all([describe(path), describe(folder)]);
  if (file === "folder") throw new UsageError(`${shown} is a folder: name a file in it`);
  if (parent !== "folder") {
    const why = parent === "none" ? "there is no such folder" : "that is no folder";
    throw new UsageError(`${shown} cannot be written: ${folder}: ${why}`);
  }
  await refuseUnwritable(shown, file === "none" ? folder : path);
  return path;
}

async function describe(path: string): Promise<"folder" | "file" | "none"> {
  try {
    return (await stat(path)).isDirectory() ? "folder" : "file";
  } catch {
    return "none";
  }
}

async function refuseUnwritable(shown: string, path: string): Promise<void> {
  try {
    await access(path, constants.W_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageError(`${shown} cannot be written: ${path} (${code})`);
  }
}
