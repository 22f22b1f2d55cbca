/** Reads text that people write, from files and stdin. */

import { readFile } from "node:fs/promises";
import { decodeText } from "../text_input.js";
import { UsageError } from "./errors.js";

/**
 * Decodes text. See {@link decodeText} for the encodings.
 *
 * @param source names the text in errors
 * @throws {UsageError} if the text is invalid; the message never quotes it
 */
export function toText(bytes: Uint8Array, source: string): string {
  const decoded = decodeText(bytes);
  if ("fault" in decoded) throw new UsageError(`${source} ${decoded.fault}`);
  return decoded.text;
}

/**
 * Reads a file of text.
 *
 * @param source names the file in errors
 * @throws {UsageError} if the file is unreadable or its text is invalid
 */
export async function readTextFile(path: string, source = path): Promise<string> {
  const text = await findTextFile(path, source);
  if (text === undefined) throw new UsageError(`${source} cannot be read (ENOENT)`);
  return text;
}

/** Reads a file of text like {@link readTextFile}, but returns `undefined` if it does not exist. */
export async function findTextFile(path: string, source = path): Promise<string | undefined> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new UsageError(`${source} cannot be read (${code})`);
  }
  return toText(bytes, source);
}
