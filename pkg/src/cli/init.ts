/** `quillgate init` */

import { resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { type Context, readSwitch, readText, UsageError } from "./command.js";
import { type InitModule, loadGatewayModule } from "./gateway_package.js";
import { readVersion } from "./version.js";

export async function run(context: Context): Promise<undefined> {
  const { host, arguments: args } = context;
  const [directory = ""] = args;
  const module = await loadGatewayModule<InitModule>(host, "init");
  if (module === undefined) {
    const packages = `-p quillgate@${readVersion()} -p quillgate-gateway@${readVersion()}`;
    throw new UsageError(
      `quillgate-gateway is not installed here. This brings it along: npx ${packages} quillgate init ${directory}`,
    );
  }
  await module.init({
    directory: resolve(host.folder, directory),
    project: readText(context, "project"),
    archive: readSwitch(context, "archive") || undefined,
    prompt: (question, fallback) => ask(context, question, fallback),
  });
}

/** Asks on the terminal; elsewhere there is nobody to ask, and the answer is the usual one. */
async function ask(
  { host, output, signal }: Context,
  question: string,
  fallback: string | undefined,
): Promise<string> {
  if (host.stdin.isTTY !== true || !output.interactive) {
    if (fallback !== undefined) return fallback;
    throw new UsageError(`nobody can be asked here: ${question}`);
  }
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const shown = fallback === undefined ? "" : ` [${fallback}]`;
    const answer = (await reader.question(`${question}${shown} `, { signal })).trim();
    return answer === "" && fallback !== undefined ? fallback : answer;
  } finally {
    reader.close();
  }
}
