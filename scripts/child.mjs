/**
 * Child processes. Each one leads its own process group: stopping it stops everything it started,
 * and no group outlives this process, unless SIGKILL ends this process.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import { text } from "node:stream/consumers";
import { ROOT } from "./versions.mjs";

/** A failure whose message explains it: shown without a stack. */
export class StepError extends Error {
  name = "StepError";
}

/** Children that have not exited, by the id of their process and group. */
const groups = new Map();
let isStopping = false;
let isWatchingSignals = false;
let exitCodeOnSignal;

/** Starts a command in its own process group. The group ends with this process at the latest. */
export function spawnGroup(command, args, options = {}) {
  watchSignals();
  const { cwd = ROOT } = options;
  const child = spawn(command, args, { ...options, cwd, detached: true });
  if (child.pid !== undefined) {
    groups.set(child.pid, child);
    child.once("exit", () => {
      signalGroup(child.pid, "SIGKILL");
      groups.delete(child.pid);
    });
  }
  return child;
}

/** Sends SIGTERM, then SIGKILL after `graceMs`. Resolves when the leader has exited. */
export async function stopGroup(child, { graceMs = 5000 } = {}) {
  if (child.pid === undefined || hasEnded(child)) return;
  const ended = once(child, "exit");
  signalGroup(child.pid, "SIGTERM");
  const force = setTimeout(() => signalGroup(child.pid, "SIGKILL"), graceMs);
  await ended;
  clearTimeout(force);
}

export function hasEnded(child) {
  return child.exitCode !== null || child.signalCode !== null;
}

/** For programs that run until a signal. By default, the code is 128 plus its number. */
export function signalsEndWith(code) {
  watchSignals();
  exitCodeOnSignal = code;
}

/** Shows output only of a failure, with `verbose` or `onOutput`. `onStdout` hides stdout. */
export async function run(step, command, args, options = {}) {
  const { cwd, env, verbose, onOutput, onStdout, signal } = options;
  signal?.throwIfAborted();
  const child = spawnGroup(command, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  const hidden = [];
  const show = (output) => (chunk) => {
    if (verbose || onOutput) output.write(chunk);
    else hidden.push(chunk);
    onOutput?.(chunk);
  };
  child.stdout.on("data", onStdout ?? show(process.stdout));
  child.stderr.on("data", show(process.stderr));
  const stop = () => stopGroup(child);
  signal?.addEventListener("abort", stop);
  const [code, killedBy] = await once(child, "close").catch((error) => {
    throw new StepError(`${step}: cannot run ${command}: ${error.message}`);
  });
  signal?.removeEventListener("abort", stop);
  // The shutdown has stopped the command, and will end this process: that is not a failure.
  if (isStopping) await new Promise(() => {});
  if (code === 0) return;
  if (!signal?.aborted) process.stderr.write(Buffer.concat(hidden));
  const how = killedBy ? `was ended by ${killedBy}` : `exited with code ${code}`;
  throw new StepError(`${step} failed: ${[command, ...args].join(" ")} ${how}`);
}

/** Never rejects: the code is `null` if the command cannot start or was killed. */
export async function capture(command, args, { cwd, env, timeoutMs } = {}) {
  const limit = { timeout: timeoutMs, killSignal: "SIGKILL" };
  const child = spawnGroup(command, args, {
    cwd,
    env,
    ...limit,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [[code], stdout, stderr] = await Promise.all([
    once(child, "close").catch(() => [null]),
    text(child.stdout),
    text(child.stderr),
  ]);
  return { code, stdout, stderr };
}

/**
 * Ends this process after its parent, npm or npm's shell, has ended. Does nothing if npm did not
 * start this process. On Ctrl-C npm signals its shell, and the shell does not always pass on the
 * signal.
 */
export function endWithNpm() {
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  const checkParent = () => {
    if (process.ppid !== parent) shutDown("SIGTERM");
  };
  setInterval(checkParent, 250).unref();
}

/** Runs the main function of a script. Prints an error and sets the exit code to 1. */
export async function runMain(body) {
  try {
    await body();
  } catch (error) {
    if (isStopping) return;
    process.exitCode = 1;
    console.error(error instanceof StepError ? `\n✗ ${error.message}` : error);
  }
}

function signalGroup(pid, signal) {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if (error.code !== "ESRCH" && error.code !== "EPERM") throw error;
  }
}

function watchSignals() {
  if (isWatchingSignals) return;
  isWatchingSignals = true;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => shutDown(signal));
  }
  process.on("exit", () => {
    for (const pid of groups.keys()) signalGroup(pid, "SIGKILL");
  });
}

/** Only the first signal counts: a terminal and npm may both pass on the same Ctrl-C. */
async function shutDown(signal) {
  if (isStopping) return;
  isStopping = true;
  await Promise.allSettled([...groups.values()].map((child) => stopGroup(child)));
  process.exit(exitCodeOnSignal ?? 128 + constants.signals[signal]);
}
