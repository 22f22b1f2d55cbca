/** The input `if-changed`: decides whether the step has a reason to run. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { findChangedPaths } from "./changed_paths.js";
import type { GithubApi } from "./github_api.js";
import { type Glob, isIncluded, parseGlobs } from "./globs.js";
import { InputError } from "./input_error.js";
import type { Runner } from "./runner.js";

export type Guard = { command: string; globs?: undefined } | { globs: Glob[]; command?: undefined };

export interface Decision {
  /** `undefined` if it cannot be decided. The step then runs. */
  isChanged: boolean | undefined;
  /** A sentence without a full stop. */
  reason: string;
}

const RUN = /^run:\s*(.*)$/s;
/** The exit code of a command that reports no change. */
const UNCHANGED = 1;
/** The variables with the secrets of an action, and with the files that change later steps. */
const HIDDEN = /^(?:INPUT_|ACTIONS_|GITHUB_(?:ENV|PATH|OUTPUT|STATE)$)/;

/**
 * Parses the input: globs, one on each line, or `run:` and a command.
 *
 * @returns `undefined` if the input is empty
 * @throws {InputError} if the input is invalid
 */
export function readGuard(text: string): Guard | undefined {
  const lines = text.split("\n").flatMap((line) => line.trim() || []);
  const commands = lines.flatMap((line) => RUN.exec(line)?.[1] ?? []);
  const [command] = commands;
  if (lines.length === 0) return undefined;
  if (command === undefined) return { globs: parseGlobs(lines) };
  if (lines.length > 1) {
    throw new InputError("the input if-changed must be either globs or one line with run:");
  }
  if (command === "") throw new InputError("the input if-changed has no command after run:");
  return { command };
}

/**
 * Decides whether the step runs.
 *
 * @param timeout of a command, in milliseconds
 * @throws the signal's reason if the step is cancelled
 */
export async function decide(
  guard: Guard,
  options: { runner: Runner; api: GithubApi | undefined; timeout: number; signal: AbortSignal },
): Promise<Decision> {
  const { command, globs } = guard;
  if (command !== undefined) return await runCommand(command, options);
  const found = await findChangedPaths(options);
  options.signal.throwIfAborted();
  if ("reason" in found) {
    return { isChanged: undefined, reason: `the changed paths are not known: ${found.reason}` };
  }
  const path = found.paths.find((path) => isIncluded(globs, path));
  if (path !== undefined) return { isChanged: true, reason: `${path} changed` };
  if (found.isCut) {
    const reason = `GitHub lists only the first ${found.paths.length} changed paths`;
    return { isChanged: undefined, reason };
  }
  const reason = `none of the ${found.paths.length} changed paths is in the input if-changed`;
  return { isChanged: false, reason };
}

async function runCommand(
  command: string,
  { runner, timeout, signal }: { runner: Runner; timeout: number; signal: AbortSignal },
): Promise<Decision> {
  const { GITHUB_WORKSPACE: cwd = process.cwd() } = runner.env;
  const variables = Object.entries(runner.env).filter(([name]) => !HIDDEN.test(name));
  const env = Object.fromEntries(variables);
  // In its own process group, so that all of its processes end with it.
  const child = spawn("bash", ["--noprofile", "--norc", "-eo", "pipefail", "-c", command], {
    ...{ cwd, env, stdio: ["ignore", "pipe", "pipe"] },
    detached: process.platform !== "win32",
  });
  for (const input of [child.stdout, child.stderr]) {
    // Untrusted output must not contain workflow commands, which `info` prevents.
    createInterface({ input }).on("line", (line) => runner.info(line));
  }
  const deadline = AbortSignal.timeout(timeout);
  const either = AbortSignal.any([signal, deadline]);
  const stop = () => killGroup(child);
  either.addEventListener("abort", stop);
  try {
    const [code, killedBy] = await once(child, "close");
    const isStub = code === UNCHANGED && !(await testBash({ cwd, env, signal: either }));
    signal.throwIfAborted();
    if (deadline.aborted)
      return { isChanged: undefined, reason: "the command did not end in time" };
    if (isStub) return { isChanged: undefined, reason: "bash does not run commands" };
    if (code === 0) return { isChanged: true, reason: "the command exited with 0" };
    const reason = `the command exited with ${code ?? killedBy}`;
    return { isChanged: code === UNCHANGED ? false : undefined, reason };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const { code = "unknown error" } = error as NodeJS.ErrnoException;
    return { isChanged: undefined, reason: `bash cannot be started: ${code}` };
  } finally {
    either.removeEventListener("abort", stop);
  }
}

/**
 * Returns whether bash runs commands. On Windows, `bash` can be a stub of WSL, which exits with 1
 * if no Linux distribution is installed.
 */
async function testBash(options: { cwd: string; env: NodeJS.ProcessEnv; signal: AbortSignal }) {
  const args = ["--noprofile", "--norc", "-c", "exit 42"];
  const child = spawn("bash", args, { ...options, stdio: "ignore" });
  const [code] = await once(child, "close").catch(() => []);
  return code === 42;
}

function killGroup(child: ChildProcess): void {
  try {
    if (process.platform === "win32" || child.pid === undefined) child.kill("SIGKILL");
    else process.kill(-child.pid, "SIGKILL");
  } catch {
    // The group has ended.
  }
}
