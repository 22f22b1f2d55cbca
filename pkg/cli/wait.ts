/** Waits for the end of a job or a deployment. */

import { type Context, readText } from "./command.js";
import { readDuration } from "./duration.js";
import { UsageError } from "./errors.js";
import { findExitCode, getExitCode } from "./exit_codes.js";
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
  noun: Noun;
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

/**
 * Returns the result of a watch of what this command has started. If the watch fails, a hint names
 * what was started.
 */
export async function watchStarted<Result>(
  { output, signal }: Context,
  noun: Noun,
  id: string,
  watched: Promise<Result>,
): Promise<Result> {
  try {
    return await watched;
  } catch (error) {
    // Otherwise, the watch itself has added a hint.
    if (!isUnfinished(error, signal)) {
      output.hint(`the ${noun} is ${id}; to wait for it: quillgate ${noun} watch ${id}`);
    }
    throw error;
  }
}

function isUnfinished(error: unknown, signal: AbortSignal): boolean {
  return signal.aborted || UNFINISHED_CODES.includes(findExitCode(error));
}

type Noun = "job" | "deployment";

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
    if (isUnfinished(error, signal)) {
      output.hint(`the ${noun} continues; to wait for it: quillgate ${noun} watch ${name}`);
    }
    throw error;
  } finally {
    progress.end();
  }
}
