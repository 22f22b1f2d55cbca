/**
 * The file of an export, and beside it where the export goes on.
 *
 * A chunk is written to the file first, and only then does the second file say that the export goes
 * on behind it. Whenever the program ends, the file begins with what the second file knows of, and what
 * stands after that is cut off before the export goes on.
 */

import { type FileHandle, open, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import type { ListCursor, ListName } from "../index.js";
import { UsageError } from "./command.js";

const SUFFIX = ".quillgate-cursor";
const VERSION = 1;

/** What an export is of. One that is resumed must be of the same. */
export interface ExportIdentity {
  report: string;
  format: string;
  projectId: string;
  /** The gateway's address; `null` for the platform itself. */
  baseUrl: string | null;
  /** The flags that choose rows, as they were typed. */
  flags: Record<string, string>;
}

/** How far an export has come. */
export interface ExportState extends ExportIdentity {
  version: typeof VERSION;
  /** What the list is asked for: with the days that flags such as `--last` meant when it began. */
  params: Record<string, string>;
  /** How long the file is. */
  bytes: number;
  rows: number;
  /** Where the list goes on; left out before the first chunk, `null` after the last. */
  cursor?: ListCursor<ListName> | null;
}

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
   * Begins a file. One that is there is overwritten by the first chunk, unless an export was
   * interrupted in it.
   *
   * @throws {UsageError} when it was
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
    const state: ExportState = { version: VERSION, ...identity, params, bytes: 0, rows: 0 };
    return new ExportFile(path, undefined, state);
  }

  /**
   * Opens the file of an export that was interrupted. Where none was, it begins one: over a complete
   * file, too, so that a command that runs again and again can keep its flag.
   *
   * @throws {UsageError} when the file is of another export, or is not as the export left it
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
      throw new UsageError(`${path} is gone, and its export cannot go on: ${beginAgain(path)}`);
    });
    const { size } = await handle.stat();
    if (size < state.bytes) {
      await handle.close();
      throw new UsageError(
        `${path} is shorter than its export had come, and cannot be completed: ${beginAgain(path)}`,
      );
    }
    await handle.truncate(state.bytes);
    return new ExportFile(path, handle, state);
  }

  /** How far it has come. */
  get state(): Readonly<ExportState> {
    return this.#state;
  }

  /** Writes a chunk, and then where the export goes on behind it. */
  async write(chunk: Uint8Array, cursor: ListCursor<ListName> | null, rows: number): Promise<void> {
    const { bytes } = this.#state;
    const handle = await this.#open();
    for (let done = 0; done < chunk.length; ) {
      const { bytesWritten } = await handle.write(chunk, done, undefined, bytes + done);
      done += bytesWritten;
    }
    await handle.datasync();
    this.#state = { ...this.#state, bytes: bytes + chunk.length, rows, cursor };
    await writeState(this.#path, this.#state);
  }

  /** Empties the file when it is first written to, and not before there is something to write. */
  async #open(): Promise<FileHandle> {
    if (this.#handle === undefined) {
      await writeState(this.#path, this.#state);
      this.#handle = await open(this.#path, "w");
    }
    return this.#handle;
  }

  /** Closes the file; what says where it goes on is deleted once it is whole. */
  async close(): Promise<void> {
    await this.#handle?.close();
    if (this.#state.cursor === null) await rm(this.#path + SUFFIX, { force: true });
  }
}

/** Replaces what is beside the file in one instant. */
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
      `${file} is broken, or of another version of quillgate: ${beginAgain(path)}`,
    );
  }
  return state;
}

/** What is left when an export cannot go on. */
function beginAgain(path: string): string {
  return `delete ${path}${SUFFIX} and run without --resume`;
}

function parseState(text: string): ExportState | undefined {
  try {
    const state: ExportState = JSON.parse(text);
    const { version, bytes, rows, flags, params, cursor } = state;
    const isWhole =
      version === VERSION &&
      [bytes, rows].every((count) => Number.isSafeInteger(count) && count >= 0) &&
      [flags, params].every(isTexts) &&
      (cursor == null ? bytes === 0 || cursor === null : typeof cursor === "object");
    return isWhole ? state : undefined;
  } catch {
    return undefined;
  }
}

function isTexts(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).every((text) => typeof text === "string");
}

/** Refuses to append an export to another one. Flags that choose rows may be left out. */
function refuseOther(path: string, state: ExportState, identity: ExportIdentity): void {
  for (const name of ["report", "format", "projectId", "baseUrl"] as const) {
    if (state[name] !== identity[name]) {
      const found = `another ${name}: ${state[name] ?? "none"}`;
      throw new UsageError(
        `${path} is an export with ${found}. To begin again, ${beginAgain(path)}`,
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
    throw new UsageError(`${path} is an export ${which}. To begin again, ${beginAgain(path)}`);
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
