/** Runs the command line in a real terminal of util-linux's `script`, and reads its screen. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { BIN } from "./command_line.mjs";

const ROWS = 24;
const { stdout: scriptVersion } = spawnSync("script", ["--version"], { encoding: "utf8" });
/** The reason to skip tests in a terminal, or `false`. BSD's `script` has other options. */
export const NO_TERMINAL =
  !scriptVersion?.includes("util-linux") && "the program script of util-linux is missing";

export function startInTerminal(args, { env = {}, folder, columns = 80, redirect = "" }) {
  const words = [process.execPath, BIN, ...args].map(quote).join(" ");
  const line = `stty rows ${ROWS} cols ${columns}; exec ${words} ${redirect}`;
  const { PATH, HOME, LANG = "C.UTF-8" } = process.env;
  // `-q` is quiet, `-e` returns the program's exit code, and `-f` flushes after each write.
  const child = spawn("script", ["-qefc", line, "/dev/null"], {
    cwd: folder,
    env: { PATH, HOME, LANG, TERM: "xterm", SHELL: "/bin/sh", ...env },
  });
  const watchers = new Set();
  let raw = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    raw += text;
    for (const check of watchers) check();
  });
  child.stdin.on("error", () => {});
  const closed = once(child, "close").then(([code]) => {
    for (const check of watchers) check(true);
    return code;
  });
  return {
    raw: () => raw,
    screen: () => drawScreen(raw),
    press: (keys) => child.stdin.write(keys),
    /** Waits until the current or an earlier screen matches. Rejects if the program ends first. */
    async waitForScreen(pattern) {
      await new Promise((resolve, reject) => {
        const check = (ended = false) => {
          // A status line may be replaced between two checks, so earlier screens count too.
          const seen = screensOf(raw).some((screen) => pattern.test(screen));
          if (!seen && !ended) return;
          watchers.delete(check);
          if (seen) resolve();
          else reject(new Error(`the program ended before ${pattern} was on the screen:\n${raw}`));
        };
        watchers.add(check);
        check();
      });
    },
    kill: () => child.kill("SIGKILL"),
    ended: closed,
  };
}

/** Matches the end of a screen in the output: after each status line and each line break. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals interpret this sequence.
const SCREEN_END = /(?<=\u001b\[K|\n)/;

function screensOf(raw) {
  return raw
    .split(SCREEN_END)
    .map((_, at, parts) =>
      drawScreen(parts.slice(Math.max(0, at - ROWS), at + 1).join("")).join("\n"),
    );
}

export function drawScreen(text) {
  const lines = [""];
  let column = 0;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: terminals interpret these sequences.
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
