/** The version of this package. */

import { readFileSync } from "node:fs";

/** Reads it from the package's description. */
export function readVersion(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  const { version }: { version?: unknown } = JSON.parse(text);
  return String(version);
}
