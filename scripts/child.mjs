/**
 * Child processes: each in its own process group, so that stopping one stops
 * everything that it started, and none outlives this process.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import { ROOT } from "./versions.mjs";

/** A step that failed in a way that its message explains: shown without a stack. */
export class StepError extends Error {
  name = "StepError";
}

/** Groups that may still hold a process, by the id of their leader. */
const groups = new Map();
const shutdowns = new Set();
let stopping = false;
let watching = false;
let exitCodeOnSignal;

/**
 * Starts a command as the leader of a new process group. It is stopped when
 * this process ends, whatever the reason.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {import("node:child_process").SpawnOptions} [options]
 */
export function spawnGroup(command, args, options = {}) {
  watchSignals();
  const child = spawn(command, args, { cwd: ROOT, ...options, detached: true });
  if (child.pid !== undefined) {
    groups.set(child.pid, child);
    child.once("exit", () => {
      signalGroup(child.pid, "SIGKILL");
      groups.delete(child.pid);
    });
  }
  return child;
}

/**
 * Asks a group to end, and ends it by force when it does not within the grace.
 *
 * @param {import("node:child_process").ChildProcess} child
 * @param {{ graceMs?: number }} [options]
 */
export async function stopGroup(child, { graceMs = 5000 } = {}) {
  if (child.pid === undefined || hasEnded(child)) return;
  const ended = once(child, "exit");
  signalGroup(child.pid, "SIGTERM");
  const force = setTimeout(() => signalGroup(child.pid, "SIGKILL"), graceMs);
  await ended;
  clearTimeout(force);
}

/** Whether a child has exited or was killed. */
export function hasEnded(child) {
  return child.exitCode !== null || child.signalCode !== null;
}

/**
 * Registers what to do when a signal asks this process to end. Children are
 * stopped in any case.
 *
 * @param {() => unknown} action
 * @returns {() => void} takes it back
 */
export function onShutdown(action) {
  watchSignals();
  shutdowns.add(action);
  return () => {
    shutdowns.delete(action);
  };
}

/**
 * Makes a signal this process's ordinary end, for a program that runs until it
 * is stopped.
 *
 * @param {number} code the exit code
 */
export function signalsEndWith(code) {
  watchSignals();
  exitCodeOnSignal = code;
}

/**
 * @typedef {object} RunOptions
 * @property {string} [cwd] the repository's root unless told
 * @property {NodeJS.ProcessEnv} [env]
 * @property {(chunk: Buffer) => void} [onOutput] also receives all that is shown
 * @property {(chunk: Buffer) => void} [onStdout] receives standard output, which is then not shown
 * @property {AbortSignal} [signal] stops the command
 */

/**
 * Runs a command to its end with its output shown as it comes.
 *
 * @param {string} step what the command is for; failures are told by this name
 * @param {string} command
 * @param {string[]} args
 * @param {RunOptions} [options]
 * @throws {StepError} when it cannot be started or exits with another code than 0
 */
export async function run(step, command, args, options = {}) {
  const { cwd = ROOT, env = process.env, onOutput, onStdout, signal } = options;
  signal?.throwIfAborted();
  const stdout = onOutput || onStdout ? "pipe" : "inherit";
  const stderr = onOutput ? "pipe" : "inherit";
  const child = spawnGroup(command, args, { cwd, env, stdio: ["ignore", stdout, stderr] });
  const stop = () => stopGroup(child);
  signal?.addEventListener("abort", stop);
  if (onStdout) child.stdout.on("data", onStdout);
  else if (onOutput) tee(child.stdout, process.stdout, onOutput);
  if (onOutput) tee(child.stderr, process.stderr, onOutput);
  const [code, killedBy] = await ending(child).catch((error) => {
    throw new StepError(`${step}: cannot run ${command}: ${error.message}`);
  });
  signal?.removeEventListener("abort", stop);
  if (code === 0) return;
  const how = killedBy ? `was ended by ${killedBy}` : `exited with code ${code}`;
  throw new StepError(`${step} failed: ${[command, ...args].join(" ")} ${how}`);
}

/**
 * Runs a command to its end without showing its output. Never rejects: a
 * command that cannot be started has the code `null`.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, timeoutMs?: number }} [options]
 * @returns {Promise<{ code: number | null, stdout: string, stderr: string }>}
 */
export async function capture(command, args, { cwd = ROOT, env = process.env, timeoutMs } = {}) {
  const child = spawnGroup(command, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"]) {
    child[name].setEncoding("utf8").on("data", (text) => {
      output[name] += text;
    });
  }
  const limit = timeoutMs && setTimeout(() => signalGroup(child.pid, "SIGKILL"), timeoutMs);
  const code = await ending(child).then(
    ([exitCode]) => exitCode,
    () => null,
  );
  clearTimeout(limit);
  return { code, ...output };
}

/**
 * Ends this process, as a signal would, when npm has gone that runs it: npm
 * passes a signal on to a shell, and the shell not always to this process.
 */
export function endWithNpm() {
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  const look = () => {
    if (process.ppid !== parent) shutDown("SIGTERM");
  };
  setInterval(look, 250).unref();
}

/**
 * Runs a script's main function: a {@link StepError} becomes its message and
 * exit code 1, anything else keeps its stack.
 *
 * @param {() => Promise<unknown>} body
 */
export async function runMain(body) {
  try {
    await body();
  } catch (error) {
    if (stopping) return;
    process.exitCode = 1;
    console.error(error instanceof StepError ? `\n✗ ${error.message}` : error);
  }
}

function tee(from, to, onOutput) {
  from.on("data", (chunk) => {
    to.write(chunk);
    onOutput(chunk);
  });
}

/** Settles when a child has ended and its output has been read. */
function ending(child) {
  return once(child, "close");
}

function signalGroup(pid, signal) {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if (error.code !== "ESRCH" && error.code !== "EPERM") throw error;
  }
}

function watchSignals() {
  if (watching) return;
  watching = true;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => shutDown(signal));
  }
  process.on("exit", () => {
    for (const pid of groups.keys()) signalGroup(pid, "SIGKILL");
  });
}

/** A terminal and npm may both pass on one Ctrl-C: repeats change nothing. */
async function shutDown(signal) {
  if (stopping) return;
  stopping = true;
  const actions = [...shutdowns].map((action) => Promise.resolve().then(action));
  const children = [...groups.values()].map((child) => stopGroup(child));
  await Promise.allSettled([...actions, ...children]);
  process.exit(exitCodeOnSignal ?? 128 + constants.signals[signal]);
}
