/** `quillgate init` */

import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { type Context, readChoice, readText, UsageError } from "./command.js";
import { getExitCode } from "./exit_codes.js";
import { type InitModule, loadGatewayModule } from "./gateway_package.js";
import { toLine } from "./table.js";
import { readVersion } from "./version.js";

export async function run(context: Context): Promise<number> {
  const { host, output, arguments: args } = context;
  const [directory = ""] = args;
  const module = await loadGatewayModule<InitModule>(host, "init");
  if (module === undefined) return runFromRegistry(context, directory);
  const canAsk = host.stdin.isTTY === true && output.interactive;
  const { files, directory: made } = await module.init({
    directory: resolve(host.folder, directory),
    project: readText(context, "project"),
    archive: readChoice(context, "archive"),
    prompt: canAsk ? (question, fallback) => ask(context, question, fallback) : undefined,
  });
  if (output.json) {
    await output.printJson({ directory: made, files });
  } else {
    await output.print(toLine(`wrote ${files.join(", ")}`));
    output.note(`next: cd ${quote(directory)}, and go on with its README.md`);
  }
  return getExitCode("ok");
}

/** Quotes a word for a POSIX shell, if it needs quotes. */
function quote(word: string): string {
  return /^[\w./+@:-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Asks a question on the terminal. An empty answer returns the fallback. */
async function ask({ signal }: Context, question: string, fallback = ""): Promise<string> {
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  // The reader handles Ctrl-C as a key, so raise the signal here.
  reader.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
  try {
    const shown = fallback === "" ? "" : ` [${fallback}]`;
    return (await reader.question(`${question}${shown} `, { signal })).trim() || fallback;
  } finally {
    reader.close();
  }
}

/** Runs `init` of the gateway package with npx, which asks before it downloads the package. */
async function runFromRegistry(context: Context, directory: string): Promise<number> {
  const { host } = context;
  const wanted = `quillgate-gateway@${readVersion()}`;
  const project = readText(context, "project");
  const archive = readChoice(context, "archive");
  const args = [
    ...[`--package=${wanted}`, "--", "quillgate-gateway", "init"],
    ...(project === undefined ? [] : [`--project=${project}`]),
    ...(archive === undefined ? [] : [archive ? "--archive" : "--no-archive"]),
    ...["--", directory],
  ];
  const child = spawn("npx", args, { cwd: host.folder, env: { ...host.env }, stdio: "inherit" });
  const code = await new Promise<number | null>((resolve) => {
    child.on("error", () => resolve(null));
    child.on("close", (ended) => resolve(ended ?? getExitCode("failure")));
  });
  if (code !== null) return code;
  throw new UsageError(
    `${wanted} is not installed here, and npx could not be run. Install it, and run this again`,
  );
}
