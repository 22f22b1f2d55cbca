/** Reads this package's version. */

import { readFileSync } from "node:fs";

/** Returns the version in `package.json`. */
export function readVersion(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  const { version }: { version?: unknown } = JSON.parse(text);
  return String(version);
}
