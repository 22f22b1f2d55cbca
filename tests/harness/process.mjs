/** Programs under test: started in the background, logged, and stopped for certain. */
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, writeSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { hasEnded, spawnGroup, stopGroup } from "../../scripts/child.mjs";
import { ROOT } from "../../scripts/versions.mjs";

/** How long a process may take to be gone after it was ended by force. */
const FORCED_END_MS = 5000;

/** Where the output of every program goes; git-ignored. */
export const LOGS = join(ROOT, "tests", ".logs");

/**
 * @typedef {object} Program
 * @property {() => string} output everything that it has written so far
 * @property {string} logFile where the same is kept
 * @property {(pattern: RegExp, deadlineMs?: number, from?: number) => Promise<RegExpExecArray>} line
 *   the first line that matches, now or later; `from`: only what comes after that much output
 * @property {<T>(check: () => Promise<T | undefined>, deadlineMs?: number) => Promise<T>} until
 *   the first result of `check` that is not `undefined`, checked again and again
 * @property {Promise<string>} ended how it ended, once it has
 * @property {() => Promise<void>} stop asks it to end; nothing of its group is left then
 * @property {() => Promise<void>} kill ends its whole group at once, as a crash would
 */

/**
 * Starts a program in its own process group, so that stopping it also stops
 * what it started.
 *
 * @param {string} name names the log file and the program in errors
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, graceMs?: number }} [options]
 *   `graceMs`: how long it may take to end when asked, before it is ended by force
 * @returns {Program}
 */
export function startProgram(name, command, args, { cwd, env, graceMs = 3000 } = {}) {
  const { logFile, log } = openLog(name);
  const options = { cwd, env, stdio: ["ignore", "pipe", "pipe"] };
  const child = spawnGroup(command, args, options);
  const watchers = new Set();
  let output = "";
  let how;

  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => {
      output += text;
      writeSync(log, text);
      for (const watcher of watchers) watcher();
    });
  }
  child.on("error", (error) => settle(`could not be started: ${error.message}`));
  child.on("exit", (code, signal) => {
    settle(signal ? `was ended by ${signal}` : `exited with code ${code}`);
  });
  child.on("close", () => closeSync(log));

  function settle(words) {
    how ??= words;
    for (const watcher of watchers) watcher();
  }

  /** Resolves with what `find` finds, looking again whenever something happens. */
  function watch(find, what, deadlineMs) {
    return new Promise((resolve, reject) => {
      const finish = (settleWith, value) => {
        clearTimeout(deadline);
        watchers.delete(look);
        settleWith(value);
      };
      const fail = (why) => {
        finish(reject, new Error(`${name} ${why}\n--- ${logFile}\n${output.slice(-4000)}`));
      };
      const look = () => {
        const found = find();
        if (found) finish(resolve, found);
        else if (how) fail(`${how} before ${what}`);
      };
      const deadline = setTimeout(() => fail(`took over ${deadlineMs} ms for ${what}`), deadlineMs);
      watchers.add(look);
      look();
    });
  }

  return {
    output: () => output,
    logFile,
    line(pattern, deadlineMs = 90_000, from = 0) {
      const find = () => firstLine(output.slice(from), pattern);
      return watch(find, `a line like ${pattern}`, deadlineMs);
    },
    async until(check, deadlineMs = 90_000) {
      let found;
      let done = false;
      const waiting = watch(() => found, "it was ready", deadlineMs).finally(() => {
        done = true;
      });
      const asking = (async () => {
        while (!done) {
          found = await check().catch(() => undefined);
          if (found !== undefined) return settleWatchers();
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
      })();
      const result = await waiting;
      await asking;
      return result;
    },
    ended: once(child, "close").then(
      () => how,
      () => how,
    ),
    async stop() {
      if (hasEnded(child) || child.pid === undefined) return;
      const closed = once(child, "close");
      await stopGroup(child, { graceMs });
      await closed;
      await endOfGroup(child.pid);
    },
    async kill() {
      if (hasEnded(child) || child.pid === undefined) return;
      const closed = once(child, "close");
      process.kill(-child.pid, "SIGKILL");
      await closed;
      await endOfGroup(child.pid);
    },
  };

  function settleWatchers() {
    for (const watcher of watchers) watcher();
  }
}

/**
 * Waits until no process of a group is alive that was ended by force: what it held, ports and
 * database files, is free then.
 *
 * @param {number} group
 */
async function endOfGroup(group) {
  const deadline = performance.now() + FORCED_END_MS;
  for (let alive = aliveIn(group); alive.length > 0; alive = aliveIn(group)) {
    if (performance.now() > deadline) throw new Error(`still alive: ${alive.join(", ")}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** The processes of a group that have not ended; only Linux tells. */
function aliveIn(group) {
  if (process.platform !== "linux") return [];
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => {
    const { state, pgrp } = statOf(pid);
    return pgrp === group && state !== "Z" && state !== "X";
  });
}

function statOf(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The program's name, in parentheses, may hold anything.
    const [state, , pgrp] = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return { state, pgrp: Number(pgrp) };
  } catch {
    return {};
  }
}

/**
 * A TCP port of 127.0.0.1 that was free a moment ago.
 *
 * @returns {Promise<number>}
 */
export async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

function firstLine(output, pattern) {
  const complete = output.slice(0, output.lastIndexOf("\n") + 1);
  for (const line of complete.split("\n")) {
    const found = pattern.exec(line);
    if (found) return found;
  }
  return undefined;
}

/** Opens `<name>-<n>.log` with the first number that is not taken. */
function openLog(name) {
  mkdirSync(LOGS, { recursive: true });
  for (let n = 1; ; n += 1) {
    const logFile = join(LOGS, `${name}-${n}.log`);
    try {
      return { logFile, log: openSync(logFile, "wx") };
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    }
  }
}
