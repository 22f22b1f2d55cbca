/** Starts programs in the background, and stops them with everything they started. */
import { randomInt } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, writeSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { hasEnded, spawnGroup, stopGroup } from "../../scripts/child.mjs";
import { ROOT } from "../../scripts/versions.mjs";

const FIRST_PORT = 16_384;
/** From here on, Linux takes the local ports of outgoing connections; others from 49,152. */
const FIRST_EPHEMERAL_PORT = 32_768;
const KILL_TIMEOUT_MS = 5000;

/** Folder of all output; ignored by git. */
export const LOGS = join(ROOT, "tests", ".logs");

export function startProgram(name, command, args, { cwd, env, graceMs = 3000 } = {}) {
  const { logFile, log } = openLog(name);
  const child = spawnGroup(command, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  const changes = new EventEmitter().setMaxListeners(0);
  let output = "";
  let outcome;

  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => {
      output += text;
      writeSync(log, text);
      changes.emit("change");
    });
  }
  child.on("error", (error) => end(`could not be started: ${error.message}`));
  child.on("exit", (code, signal) => {
    end(signal ? `was ended by ${signal}` : `exited with code ${code}`);
  });
  child.on("close", () => closeSync(log));

  function end(how) {
    outcome ??= how;
    changes.emit("change");
  }

  function failure(why) {
    return new Error(`${name} ${why}\n--- ${logFile}\n${output.slice(-4000)}`);
  }

  /** Resolves to the first result of `find`, which is called after every change. */
  async function waitFor(find, what, timeoutMs) {
    const signal = AbortSignal.timeout(timeoutMs);
    for (;;) {
      const found = find();
      if (found) return found;
      if (outcome) throw failure(`${outcome} before ${what}`);
      await once(changes, "change", { signal }).catch(() => {
        throw failure(`took over ${timeoutMs} ms for ${what}`);
      });
    }
  }

  async function endGroup(sendSignal) {
    if (hasEnded(child) || child.pid === undefined) return;
    const closed = once(child, "close");
    await sendSignal();
    await closed;
    await groupEnd(child.pid);
  }

  return {
    output: () => output,
    logFile,
    /** Resolves to the first complete line that matches, after `from` characters. */
    line(pattern, timeoutMs = 90_000, from = 0) {
      const find = () => firstLine(output.slice(from), pattern);
      return waitFor(find, `a line like ${pattern}`, timeoutMs);
    },
    async until(check, timeoutMs = 90_000) {
      let found;
      let isWaiting = true;
      const poll = async () => {
        while (isWaiting && found === undefined) {
          found = await check().catch(() => undefined);
          if (found === undefined) await delay(50);
        }
        changes.emit("change");
      };
      poll();
      return waitFor(() => found, "it was ready", timeoutMs).finally(() => {
        isWaiting = false;
      });
    },
    ended: once(child, "close").then(
      () => outcome,
      () => outcome,
    ),
    stop: () => endGroup(() => stopGroup(child, { graceMs })),
    kill: () => endGroup(() => process.kill(-child.pid, "SIGKILL")),
  };
}

/** Waits until every process of a group has ended, so that its ports and files are free. */
async function groupEnd(group) {
  const deadline = performance.now() + KILL_TIMEOUT_MS;
  for (let alive = aliveIn(group); alive.length > 0; alive = aliveIn(group)) {
    if (performance.now() > deadline) throw new Error(`still alive: ${alive.join(", ")}`);
    await delay(10);
  }
}

function aliveIn(group) {
  if (process.platform !== "linux") return [];
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => {
    const { state, pgrp } = readStat(pid);
    return pgrp === group && state !== "Z" && state !== "X";
  });
}

function readStat(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name of the program, in parentheses, may contain any character.
    const [state, , pgrp] = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return { state, pgrp: Number(pgrp) };
  } catch {
    return {};
  }
}

/** Returns a free port of 127.0.0.1 that no outgoing connection takes. */
export async function freePort() {
  for (;;) {
    const port = randomInt(FIRST_PORT, FIRST_EPHEMERAL_PORT);
    if (await isFree(port)) return port;
  }
}

export async function isFree(port) {
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch (error) {
    if (error.code === "EADDRINUSE") return false;
    throw error;
  }
  server.close();
  await once(server, "close");
  return true;
}

function firstLine(output, pattern) {
  const complete = output.slice(0, output.lastIndexOf("\n") + 1);
  for (const line of complete.split("\n")) {
    const found = pattern.exec(line);
    if (found) return found;
  }
  return undefined;
}

/** Opens `<name>-<n>.log` with the first unused number. */
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
