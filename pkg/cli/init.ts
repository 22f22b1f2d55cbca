/** `quillgate init`: creates a folder from which operators deploy a gateway. */

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve, win32 } from "node:path";
import { type Context, readChoice, readText } from "./command.js";
import { UsageError } from "./errors.js";
import { getExitCode } from "./exit_codes.js";
import { type InitModule, loadGatewayModule } from "./gateway_package.js";
import { ask } from "./question.js";
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
    output.note(`next: cd ${quote(directory)}, and follow its README.md`);
  }
  return getExitCode("ok");
}

/** Quotes a word for a POSIX shell, if it needs quotes. */
function quote(word: string): string {
  return /^[\w./+@:-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Set in the process that npx starts below, so that it does not start npx again. */
const RERUN = "QUILLGATE_INIT_RERUN";

/**
 * Runs this command again with npx, which downloads the gateway package. On a terminal, npx asks
 * first.
 */
async function runFromRegistry(context: Context, directory: string): Promise<number> {
  const { host, output } = context;
  const version = readVersion();
  const missing = `quillgate-gateway@${version} is not installed here`;
  if (host.env[RERUN]) throw new UsageError(missing);
  const project = readText(context, "project");
  const archive = readChoice(context, "archive");
  const args = [
    ...["quillgate-gateway", "quillgate"].map((name) => `--package=${name}@${version}`),
    ...["--", "quillgate", "init"],
    ...(project === undefined ? [] : [`--project=${project}`]),
    ...(archive === undefined ? [] : [archive ? "--archive" : "--no-archive"]),
    ...(output.json ? ["--json"] : []),
    ...(output.quiet ? ["--quiet"] : []),
    ...["--", directory],
  ];
  const env = { ...host.env, [RERUN]: "1" };
  // This process filters the result with jq. On a terminal, npx would write its question into the
  // result, so npx gets no terminal and installs without asking.
  const isFiltered = readText(context, "jq") !== undefined;
  const unavailable = `${missing}, and npx could not be started: install it and try again`;
  const [program, ...rest] = makeNpxCommand(args);
  if (program === undefined) throw new UsageError(unavailable);
  const child = spawn(program, rest, {
    ...{ cwd: host.folder, env },
    stdio: isFiltered ? ["ignore", "pipe", "inherit"] : "inherit",
  });
  let result = "";
  child.stdout?.setEncoding("utf8").on("data", (text) => {
    result += text;
  });
  const code = await new Promise<number | null>((resolve) => {
    child.on("error", () => resolve(null));
    child.on("close", (ended) => resolve(ended ?? getExitCode("failure")));
  });
  if (result !== "") await output.write(result);
  if (code !== null) return code;
  throw new UsageError(unavailable);
}

/**
 * Returns the program and the arguments that start npx. On Windows, returns an empty array if npx
 * is not installed.
 */
export function makeNpxCommand(
  args: readonly string[],
  platform: NodeJS.Platform = process.platform,
  node: string = process.execPath,
): string[] {
  if (platform !== "win32") return ["npx", ...args];
  // On Windows, npx is a batch file, which Node.js cannot start without a shell.
  const script = `${win32.dirname(node)}/node_modules/npm/bin/npx-cli.js`;
  return existsSync(script) ? [node, script, ...args] : [];
}
