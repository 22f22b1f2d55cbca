/** Opens a URL in the user's browser. */

import { spawn } from "node:child_process";
import type { Host } from "./host.js";

/**
 * Opens a URL with the program in `BROWSER`, or with the system's default program.
 *
 * @returns whether the program could be started
 */
export async function openInBrowser(url: string, { env }: Pick<Host, "env">): Promise<boolean> {
  const [program, ...args] = makeBrowserCommand(url, env);
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

/** Returns the program and the arguments that open a URL. */
export function makeBrowserCommand(
  url: string,
  { BROWSER: browser, SystemRoot }: Host["env"],
  platform: NodeJS.Platform = process.platform,
): [string, ...string[]] {
  const isWindows = platform === "win32";
  // On Windows, `BROWSER` must be a path. Node.js would look for a mere name in the current folder
  // first, which can be part of someone else's repository.
  if (browser && (!isWindows || browser.includes("\\"))) return [browser, url];
  if (platform === "darwin") return ["open", url];
  if (!isWindows) return ["xdg-open", url];
  // Not `start`, which would interpret a `&` in the URL.
  return [`${SystemRoot}\\System32\\rundll32.exe`, "url.dll,FileProtocolHandler", url];
}
