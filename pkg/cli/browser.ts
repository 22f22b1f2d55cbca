/** Opens a URL in the user's browser. */

import { spawn } from "node:child_process";
import type { Host } from "./host.js";
import { findOnWindows } from "./windows.js";

/**
 * Opens a URL with the program in `BROWSER`, or with the system's default program.
 *
 * @returns whether the program could be started
 */
export async function openInBrowser(url: string, { env }: Pick<Host, "env">): Promise<boolean> {
  const [program, ...args] = makeBrowserCommand(url, env);
  if (program === undefined) return false;
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

/** Returns the program and the arguments that open a URL; nothing without such a program. */
export function makeBrowserCommand(
  url: string,
  { BROWSER: browser, PATH, SystemRoot }: Host["env"],
  platform: NodeJS.Platform = process.platform,
): string[] {
  const isWindows = platform === "win32";
  if (browser && isWindows && !/[\\/]/.test(browser)) {
    const found = findOnWindows(browser, PATH) ?? findOnWindows(`${browser}.exe`, PATH);
    return found === undefined ? [] : [found, url];
  }
  if (browser) return [browser, url];
  if (platform === "darwin") return ["open", url];
  if (!isWindows) return ["xdg-open", url];
  // Not `start`, which would interpret a `&` in the URL.
  const opener = `${SystemRoot ?? "C:\\Windows"}\\System32\\rundll32.exe`;
  return [opener, "url.dll,FileProtocolHandler", url];
}
