/**
 * Writes an export to a file. A second file, the state file, records where to resume.
 *
 * Each write appends a chunk to the export and then updates the state file. An interruption in
 * between leaves bytes that the state file does not count. Resuming removes them.
 */

import { constants } from "node:fs";
import {
  access,
  type FileHandle,
  open,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { dirname } from "node:path";
import type { ListName, ListPosition } from "../index.js";
import { UsageError } from "./errors.js";

const SUFFIX = ".quillgate-progress";
const VERSION = 1;

/** The properties that identify an export. A resumed export must have the same ones. */
export interface ExportIdentity {
  report: string;
  format: string;
  projectId: string;
  /** The base URL; `null` for an admin key without `--base-url`. */
  baseUrl: string | null;
  /** The flags that select rows, as typed. */
  flags: Record<string, string>;
}

/** The content of the state file. */
export interface ExportState extends ExportIdentity {
  version: typeof VERSION;
  /**
   * The parameters of the list. `--last 7d` is stored as two dates, so that an export resumed on
   * another day covers the same rows.
   */
  params: Record<string, string>;
  /** The number of bytes written to the export. */
  bytes: number;
  /** The number of rows written to the export. */
  rows: number;
  /** Where the list resumes; absent before the first chunk, `null` after the last. */
  position?: ListPosition<ListName> | null;
}

/** An export that can be resumed after an interruption. */
export class ExportFile {
  readonly #path: string;
  #handle: FileHandle | undefined;
  #state: ExportState;

  private constructor(path: string, handle: FileHandle | undefined, state: ExportState) {
    this.#path = path;
    this.#handle = handle;
    this.#state = state;
  }

  /**
   * Begins an export. Its first chunk overwrites an existing file.
   *
   * @throws {UsageError} if the file has an interrupted export, or its folder cannot be written
   */
  static async begin(
    path: string,
    identity: ExportIdentity,
    params: Record<string, string>,
  ): Promise<ExportFile> {
    if (await exists(path + SUFFIX)) {
      throw new UsageError(
        `${path} holds an export that was interrupted: --resume completes it. To begin again, delete ` +
          `${path}${SUFFIX}`,
      );
    }
    // A file can be writable in a folder that is not, such as one that is mounted into a container.
    await access(dirname(path), constants.W_OK).catch(({ code }: NodeJS.ErrnoException) => {
      throw new UsageError(`${path}${SUFFIX} cannot be written (${code}): use > instead of -o`);
    });
    const state: ExportState = { version: VERSION, ...identity, params, bytes: 0, rows: 0 };
    return new ExportFile(path, undefined, state);
  }

  /**
   * Resumes an interrupted export. Without a state file, begins a new export and overwrites an
   * existing file, so a scheduled command can always use `--resume`.
   *
   * @throws {UsageError} if the state file is invalid or belongs to another export, or the export
   *   is missing or shorter than recorded
   */
  static async resume(
    path: string,
    identity: ExportIdentity,
    params: Record<string, string>,
  ): Promise<ExportFile> {
    const state = await readState(path);
    if (state === undefined) return ExportFile.begin(path, identity, params);
    refuseOther(path, state, identity);
    const handle = await open(path, "r+").catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
      if (state.bytes === 0) return open(path, "w");
      throw new UsageError(
        `${path} is missing, so its export cannot resume: ${adviseRestart(path)}`,
      );
    });
    const { size } = await handle.stat();
    if (size < state.bytes) {
      await handle.close();
      throw new UsageError(
        `${path} is shorter than recorded, so its export cannot resume: ${adviseRestart(path)}`,
      );
    }
    await handle.truncate(state.bytes);
    return new ExportFile(path, handle, state);
  }

  get state(): Readonly<ExportState> {
    return this.#state;
  }

  /**
   * Writes a chunk, then records the new state.
   *
   * @param next the position after the chunk; `null` at the end
   * @param rows the total number of rows after the chunk
   */
  async write(chunk: Uint8Array, next: ListPosition<ListName> | null, rows: number): Promise<void> {
    const { bytes } = this.#state;
    const handle = await this.#open();
    for (let done = 0; done < chunk.length; ) {
      const { bytesWritten } = await handle.write(chunk, done, undefined, bytes + done);
      done += bytesWritten;
    }
    await handle.datasync().catch(ignoreUnsupported);
    this.#state = { ...this.#state, bytes: bytes + chunk.length, rows, position: next };
    await writeState(this.#path, this.#state);
  }

  /** Opens the file at the first write. An export that fails earlier leaves an existing file as is. */
  async #open(): Promise<FileHandle> {
    if (this.#handle === undefined) {
      await writeState(this.#path, this.#state);
      this.#handle = await open(this.#path, "w");
    }
    return this.#handle;
  }

  /** Closes the file. Deletes the state file if the export is complete. */
  async close(): Promise<void> {
    await this.#handle?.close();
    if (this.#state.position === null) await rm(this.#path + SUFFIX, { force: true });
  }
}

/** Ignores that a file system, such as some network mounts, cannot flush a file. */
function ignoreUnsupported(error: NodeJS.ErrnoException): void {
  if (!["EINVAL", "ENOSYS", "ENOTSUP", "EOPNOTSUPP"].includes(error.code ?? "")) throw error;
}

/** Replaces the state file atomically. */
async function writeState(path: string, state: ExportState): Promise<void> {
  const next = `${path}${SUFFIX}.next`;
  await writeFile(next, `${JSON.stringify(state)}\n`);
  await rename(next, path + SUFFIX);
}

async function readState(path: string): Promise<ExportState | undefined> {
  const file = path + SUFFIX;
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  const state = parseState(text);
  if (state === undefined) {
    throw new UsageError(
      `${file} is broken or from another version of quillgate: ${adviseRestart(path)}`,
    );
  }
  return state;
}

function adviseRestart(path: string): string {
  return `delete ${path}${SUFFIX} and run without --resume`;
}

function parseState(text: string): ExportState | undefined {
  try {
    const state: ExportState = JSON.parse(text);
    const { version, bytes, rows, flags, params, position } = state;
    const isWhole =
      version === VERSION &&
      [bytes, rows].every((count) => Number.isSafeInteger(count) && count >= 0) &&
      [flags, params].every(isTexts) &&
      (position == null ? bytes === 0 || position === null : typeof position === "object");
    return isWhole ? state : undefined;
  } catch {
    return undefined;
  }
}

function isTexts(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).every((text) => typeof text === "string");
}

/**
 * Checks that the command line belongs to the interrupted export. It may omit flags that select
 * rows.
 *
 * @throws {UsageError} if the exports differ
 */
function refuseOther(path: string, state: ExportState, identity: ExportIdentity): void {
  for (const name of ["report", "format", "projectId", "baseUrl"] as const) {
    if (state[name] !== identity[name]) {
      const found = `another ${name}: ${state[name] ?? "none"}`;
      throw new UsageError(
        `${path} is an export with ${found}. To begin again, ${adviseRestart(path)}`,
      );
    }
  }
  const differs = Object.entries(identity.flags).some(
    ([name, value]) => state.flags[name] !== value,
  );
  if (differs) {
    const flags = Object.entries(state.flags).map(([name, value]) => `--${name} ${value}`);
    const which =
      flags.length === 0
        ? "without flags that choose rows: complete it without them"
        : `with ${flags.join(" ")}: complete it with these`;
    throw new UsageError(`${path} is an export ${which}. To begin again, ${adviseRestart(path)}`);
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
