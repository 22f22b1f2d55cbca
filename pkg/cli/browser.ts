/** Opens a URL in the user's browser. */

import { spawn } from "node:child_process";
import type { Host } from "./host.js";

/** Programs that open a URL, by `process.platform`. Other platforms use `xdg-open`. */
const OPENERS: Readonly<Record<string, readonly string[]>> = {
  darwin: ["open"],
  // Not `start`, which would interpret a `&` in the URL.
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/**
 * Opens a URL with the program in `BROWSER`, or with the system's default program.
 *
 * @returns whether the program could be started
 */
export async function openInBrowser(url: string, { env }: Pick<Host, "env">): Promise<boolean> {
  const [program = "xdg-open", ...args] = env.BROWSER
    ? [env.BROWSER]
    : (OPENERS[process.platform] ?? []);
  const child = spawn(program, [...args, url], {
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
