/** Waits for the end of a job or a deployment. */

import { type Context, readText } from "./command.js";
import { readDuration } from "./duration.js";
import { UsageError } from "./errors.js";
import { findExitCode, getExitCode } from "./exit_codes.js";
import type { Output } from "./output.js";
import { WaitProgress } from "./progress.js";
import { toLine } from "./table.js";
import { DEFAULT_TIMEOUT } from "./write_options.js";

/** After these exit codes, the work may still be running. */
const UNFINISHED_CODES = [
  getExitCode("waitTimeout"),
  getExitCode("unavailable"),
  getExitCode("budget"),
];

/**
 * Parses `--timeout`, a duration such as `30m`, which is the default.
 *
 * Call this before the first request, so that an invalid timeout starts nothing.
 *
 * @returns milliseconds
 * @throws {UsageError} if the timeout is malformed, 0 or greater than 2³¹ − 1 ms
 */
export function readTimeout(context: Context): number {
  const timeout = readDuration(readText(context, "timeout") ?? DEFAULT_TIMEOUT, "--timeout");
  if (timeout === 0) throw new UsageError("--timeout must be at least 1s");
  return timeout;
}

/** A job or a deployment, and how to show its changes. */
export interface Awaited<State> {
  noun: "job" | "deployment";
  id: string;
  /** In milliseconds. */
  timeout: number;
  /** Starts the watch. */
  changes(): AsyncIterable<State>;
  /** Describes a state for the progress. */
  describe(state: State): string;
  /** Called with the current state, and again after every change. */
  onChange(state: State): Promise<void> | void;
}

/** Adds a hint on how to wait again. Returns a function that removes it. */
export function hintAtWatch(output: Output, noun: "job" | "deployment", id: string): () => void {
  return output.hint(
    `the ${noun} continues; to wait for it: quillgate ${noun} watch ${toLine(id)}`,
  );
}

/**
 * Watches a job or a deployment until it ends, and returns its last state. If the command stops
 * earlier, a hint names the command that continues.
 */
export async function watchToEnd<State>(
  { output, signal }: Context,
  { noun, id, timeout, changes, describe, onChange }: Awaited<State>,
): Promise<State | undefined> {
  const name = toLine(id);
  const progress = new WaitProgress(output, `${noun} ${name}`, timeout);
  try {
    let last: State | undefined;
    for await (const state of changes()) {
      last = state;
      progress.setText(`${noun} ${name}: ${toLine(describe(state))}`);
      await onChange(state);
    }
    return last;
  } catch (error) {
    if (signal.aborted || UNFINISHED_CODES.includes(findExitCode(error))) {
      hintAtWatch(output, noun, id);
    }
    throw error;
  } finally {
    progress.end();
  }
}
