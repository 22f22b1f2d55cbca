/** Programs under test: started in the background, logged, and stopped for certain. */
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { hasEnded, spawnGroup, stopGroup } from "../../scripts/child.mjs";
import { ROOT } from "../../scripts/versions.mjs";

/** Where the output of every program goes; git-ignored. */
export const LOGS = join(ROOT, "tests", ".logs");

/**
 * @typedef {object} Program
 * @property {() => string} output everything that it has written so far
 * @property {string} logFile where the same is kept
 * @property {(pattern: RegExp, deadlineMs?: number) => Promise<RegExpExecArray>} line
 *   the first line that matches, now or later
 * @property {<T>(check: () => Promise<T | undefined>, deadlineMs?: number) => Promise<T>} until
 *   the first result of `check` that is not `undefined`, checked again and again
 * @property {Promise<string>} ended how it ended, once it has
 * @property {() => Promise<void>} stop
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
    line(pattern, deadlineMs = 30_000) {
      const find = () => firstLine(output, pattern);
      return watch(find, `a line like ${pattern}`, deadlineMs);
    },
    async until(check, deadlineMs = 30_000) {
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
    },
  };

  function settleWatchers() {
    for (const watcher of watchers) watcher();
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
