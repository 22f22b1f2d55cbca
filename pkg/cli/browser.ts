/** Opens a URL in the user's browser. */

import { spawn } from "node:child_process";
import type { Context } from "./command.js";
import type { Host } from "./host.js";

/**
 * Returns an http or https URL, or `undefined` for any other. A server's URL with another scheme
 * could start any program on this machine.
 */
export function readWebUrl(url: string | null): string | undefined {
  if (url === null || !URL.canParse(url)) return undefined;
  const { protocol, href } = new URL(url);
  return protocol === "https:" || protocol === "http:" ? href : undefined;
}

/** Opens a URL in the user's browser, or warns. */
export async function showInBrowser(
  { output, host }: Pick<Context, "output" | "host">,
  url: string,
): Promise<void> {
  if (await openInBrowser(url, host)) return;
  output.warn("no browser could be started: open the URL yourself, or set BROWSER");
}

/**
 * Opens a URL with the first program in `BROWSER` that starts, or with the system's default program.
 *
 * @returns whether a program could be started
 */
export async function openInBrowser(url: string, { env }: Pick<Host, "env">): Promise<boolean> {
  for (const command of makeBrowserCommands(url, env)) {
    if (await start(command, env)) return true;
  }
  return false;
}

async function start([program, ...args]: Line, env: Host["env"]): Promise<boolean> {
  const child = spawn(program, args, {
    env: { ...env },
    stdio: "ignore",
    detached: true,
  });
  return await new Promise((resolve) => {
    child.on("error", () => resolve(false));
    child.on("spawn", () => {
      child.unref();
      resolve(true);
    });
  });
}

/** A program and its arguments. */
type Line = [string, ...string[]];

/**
 * Returns the programs that can open a URL, in order of preference. Except on Windows, `BROWSER` is a
 * list of command lines, separated by colons. `%s` is the URL, by default the last argument. No shell
 * is involved, so the URL cannot run a command.
 */
export function makeBrowserCommands(
  url: string,
  { BROWSER: browser = "", SystemRoot }: Host["env"],
  platform: NodeJS.Platform = process.platform,
): Line[] {
  if (platform === "win32") {
    // `BROWSER` must be a path. Node.js would look for a mere name in the current folder first, which
    // can be part of someone else's repository.
    if (browser.includes("\\")) return [[browser, url]];
    // Not `start`, which would interpret a `&` in the URL.
    return [[`${SystemRoot}\\System32\\rundll32.exe`, "url.dll,FileProtocolHandler", url]];
  }
  // A program's path can have spaces or colons, so first try the whole value.
  const lines = browser === "" ? [] : [[browser], ...browser.split(":").map(splitWords)];
  const commands = lines.map((words) => {
    const filled = words.map((word) => word.replaceAll("%s", () => url));
    return words.some((word) => word.includes("%s")) ? filled : [...filled, url];
  });
  const found = commands.filter(([program]) => program !== url) as Line[];
  return found.length > 0 ? found : [[platform === "darwin" ? "open" : "xdg-open", url]];
}

/** Splits a command line into words. Quotes and backslashes keep spaces, as in a shell. */
function splitWords(line: string): string[] {
  const words = line.match(/(?:\\.|[^\s"'\\]|"[^"]*"|'[^']*')+/g) ?? [];
  return words.map((word) => word.replace(/\\(.)|"([^"]*)"|'([^']*)'/g, "$1$2$3"));
}
