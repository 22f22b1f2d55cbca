/**
 * A program in a real pseudo-terminal, and what its screen shows.
 *
 * The terminal is that of `script`, which is part of every Debian (bsdutils) and of every other Linux
 * distribution (util-linux): no native module has to be compiled.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { BIN } from "./command_line.mjs";

const ROWS = 24;

/**
 * Runs the command line in a terminal.
 *
 * @param {string[]} args
 * @param {{ env?: Record<string, string>, folder: string, columns?: number, redirect?: string }} options
 *   `redirect`: what a shell adds, such as `2>log`
 */
export function startInTerminal(args, { env = {}, folder, columns = 80, redirect = "" }) {
  const words = [process.execPath, BIN, ...args].map(quote).join(" ");
  const line = `stty rows ${ROWS} cols ${columns}; exec ${words} ${redirect}`;
  const { PATH, HOME, LANG = "C.UTF-8" } = process.env;
  // The arguments are those of util-linux: quiet, flushed, and with the program's own exit code.
  const child = spawn("script", ["-qefc", line, "/dev/null"], {
    cwd: folder,
    env: { PATH, HOME, LANG, TERM: "xterm", SHELL: "/bin/sh", ...env },
  });
  const watchers = new Set();
  let raw = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    raw += text;
    for (const look of watchers) look();
  });
  child.stdin.on("error", () => {});
  const closed = once(child, "close").then(([code]) => {
    for (const look of watchers) look(true);
    return code;
  });
  return {
    /** Everything that was written, escape sequences and all. */
    raw: () => raw,
    /** The lines of the screen, as somebody sees them now. */
    screen: () => drawScreen(raw),
    /** Presses keys. */
    press: (keys) => child.stdin.write(keys),
    /** Resolves once a screen matched. */
    async shows(pattern) {
      await new Promise((resolve, reject) => {
        const look = (ended = false) => {
          // A status line may have come and gone between two looks.
          const seen = screensOf(raw).some((screen) => pattern.test(screen));
          if (!seen && !ended) return;
          watchers.delete(look);
          if (seen) resolve();
          else reject(new Error(`it ended without showing ${pattern}:\n${raw}`));
        };
        watchers.add(look);
        look();
      });
    },
    /** Ends it by force, if it has not ended. */
    kill: () => child.kill("SIGKILL"),
    /** Resolves to the exit code. */
    ended: closed,
  };
}

/** What ends a state of the screen: a status line's end, or a line's. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is what a terminal obeys.
const STATE_END = /(?<=\u001b\[K|\n)/;

/** What the screen shows after each write of a line's beginning. */
function screensOf(raw) {
  return raw
    .split(STATE_END)
    .map((_, at, parts) =>
      drawScreen(parts.slice(Math.max(0, at - ROWS), at + 1).join("")).join("\n"),
    );
}

/** Draws text as a terminal does, as far as a command line makes use of one. */
export function drawScreen(text) {
  const lines = [""];
  let column = 0;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what a terminal obeys.
  for (const [part] of text.matchAll(/\u001b\[[0-9;?]*[A-Za-z]|[^\u001b]/gu)) {
    const last = lines.length - 1;
    if (part === "\r") column = 0;
    else if (part === "\n") lines.push("");
    else if (part === "\u001b[K") lines[last] = lines[last].slice(0, column);
    else if (!part.startsWith("\u001b")) {
      const line = lines[last].padEnd(column);
      lines[last] = line.slice(0, column) + part + line.slice(column + 1);
      column++;
    }
  }
  return lines;
}

function quote(word) {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
