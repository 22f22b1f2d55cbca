/** `quillgate version`: prints the version in `package.json`. */

import { readFileSync } from "node:fs";
import type { Context } from "./command.js";

export async function run({ output }: Context): Promise<undefined> {
  const version = readVersion();
  await (output.json ? output.printJson({ version }) : output.print(version));
}

/** Returns the version in `package.json`. */
export function readVersion(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  const { version }: { version?: unknown } = JSON.parse(text);
  return String(version);
}
