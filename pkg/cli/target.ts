/** Opens the target of `-o`: a regular file, stdout, or a special file such as a FIFO. */

import { constants, type Stats } from "node:fs";
import { access, type FileHandle, open, stat, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isatty } from "node:tty";
import { type Context, readText } from "./command.js";
import { UsageError } from "./errors.js";
import { replaceControlsOfRows, writeAll } from "./output.js";

/** A target that receives results in order. Only a regular file can hold a resumable export. */
export type Target =
  | { kind: "file"; path: string }
  | {
      kind: "stdout" | "special";
      write(data: string | Uint8Array): Promise<void>;
      close(): Promise<void>;
    };

/** The names of stdout. On Linux, opening one of the paths fails or truncates a redirected file. */
const STDOUT = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];
/** An open file of this process: a state file next to it would be in a system folder. */
const DESCRIPTOR = /^\/(?:dev|proc\/(?:self|\d+))\/fd\//;
const STDERR = ["/dev/stderr", "/dev/fd/2", "/proc/self/fd/2"];
const READER_INTERVAL_MS = 50;

/** Returns the value of `-o`, or `undefined` for stdout. */
export function readFileName(context: Context): string | undefined {
  const shown = readText(context, "output");
  return shown === undefined || STDOUT.includes(shown) ? undefined : shown;
}

/**
 * Opens the target of `-o`, which is stdout without the flag. Waits for the reader of a FIFO.
 *
 * Call this before the first request, so that no request is wasted if the target cannot be written.
 *
 * @throws {UsageError} if the target cannot be written
 */
export async function openTarget(context: Context): Promise<Target> {
  const { output, host, signal } = context;
  const shown = readFileName(context);
  if (shown === undefined) {
    const write = (data: string | Uint8Array) => output.writeRows(data);
    return { kind: "stdout", write, close: async () => {} };
  }
  if (STDERR.includes(shown)) {
    const isTerminal = host.stderr.isTTY === true;
    const write = (data: string | Uint8Array) =>
      writeAll(host.stderr, isTerminal ? replaceControlsOfRows(data) : data);
    return { kind: "special", write, close: async () => {} };
  }
  const path = resolve(host.folder, shown);
  const [file, folder] = await Promise.all([path, dirname(path)].map(readStats));
  if (file?.isDirectory()) throw new UsageError(`${shown} is a folder: name a file in it`);
  if (file !== undefined && (!file.isFile() || DESCRIPTOR.test(path))) {
    const handle = await openSpecial(path, file, signal).catch((error) => {
      throw signal.aborted ? error : describeFailure(shown, path, error);
    });
    const isTerminal = isatty(handle.fd);
    const write = (data: string | Uint8Array) =>
      handle.appendFile(isTerminal ? replaceControlsOfRows(data) : data);
    return { kind: "special", write, close: () => handle.close() };
  }
  if (!folder?.isDirectory()) {
    const why = folder === undefined ? "there is no such folder" : "that is no folder";
    throw new UsageError(`${shown} cannot be written: ${dirname(path)}: ${why}`);
  }
  const checked = file === undefined ? dirname(path) : path;
  await access(checked, constants.W_OK).catch((error) => {
    throw describeFailure(shown, checked, error);
  });
  return { kind: "file", path };
}

/** Writes a whole result to a target, and closes it. */
export async function writeToTarget(target: Target, text: string): Promise<void> {
  if (target.kind === "file") return writeFile(target.path, text);
  await target.write(text);
  await target.close();
}

async function readStats(path: string | undefined): Promise<Stats | undefined> {
  return stat(path ?? "").catch(() => undefined);
}

/** Opens a file that exists. Never truncates it, because it can be another stream's log. */
async function openSpecial(path: string, file: Stats, signal: AbortSignal): Promise<FileHandle> {
  const { O_WRONLY, O_APPEND, O_NONBLOCK = 0 } = constants;
  for (;;) {
    try {
      // Opening a FIFO without a reader would block, and could not be aborted.
      const probe = await open(path, O_WRONLY | O_NONBLOCK);
      const handle = await open(path, O_WRONLY | O_APPEND);
      await probe.close();
      return handle;
    } catch (error) {
      if (!file.isFIFO() || (error as NodeJS.ErrnoException).code !== "ENXIO") throw error;
      await delay(READER_INTERVAL_MS, undefined, { signal });
    }
  }
}

function describeFailure(shown: string, path: string, error: unknown): UsageError {
  const { code } = error as NodeJS.ErrnoException;
  return new UsageError(`${shown} cannot be written: ${path} (${code})`);
}
