/** `quillgate init`: creates a folder from which operators deploy a gateway. */

import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join, resolve, win32 } from "node:path";
import { type Context, readChoice, readText } from "./command.js";
import { UsageError } from "./errors.js";
import { getExitCode } from "./exit_codes.js";
import { type InitModule, loadGatewayModule } from "./gateway_package.js";
import type { Host } from "./host.js";
import { ask } from "./question.js";
import { toLine } from "./table.js";
import { readVersion } from "./version.js";

export async function run(context: Context): Promise<number> {
  const { host, output, arguments: args } = context;
  const [directory = ""] = args;
  const from = readText(context, "from");
  const tarballs = from === undefined ? undefined : await findTarballs(host, from);
  const module = await loadGatewayModule<InitModule>(host, "init");
  if (module === undefined) return runWithNpx(context, directory, tarballs);
  const canAsk = host.stdin.isTTY === true && output.interactive;
  const { files, directory: made } = await module.init({
    directory: resolve(host.folder, directory),
    project: readText(context, "project"),
    archive: readChoice(context, "archive"),
    tarballs,
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

/** The paths of the packages' tarballs, by the packages' names. */
type Tarballs = Record<string, string>;

const PACKAGES = ["quillgate-gateway", "quillgate"];

/** @throws {UsageError} if the folder lacks the tarball of a package, or has several */
async function findTarballs(host: Host, from: string): Promise<Tarballs> {
  const folder = resolve(host.folder, from);
  const files = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${from} cannot be read (${error.code})`);
  });
  const entries = PACKAGES.map((name) => {
    const found = files.filter((file) => new RegExp(`^${name}-\\d.*\\.tgz$`).test(file));
    if (found.length === 1) return [name, join(folder, found[0] as string)];
    throw new UsageError(`${from} must contain one file ${name}-*.tgz, found ${found.length}`);
  });
  return Object.fromEntries(entries);
}

/** Set in the process that npx starts below, so that it does not start npx again. */
const RERUN = "QUILLGATE_INIT_RERUN";

/**
 * Runs this command again with npx, which installs the gateway package from its tarball or from the
 * registry. On a terminal, npx asks first.
 */
async function runWithNpx(
  context: Context,
  directory: string,
  tarballs: Tarballs | undefined,
): Promise<number> {
  const { host, output } = context;
  const version = readVersion();
  const missing = `quillgate-gateway@${version} is not installed here`;
  if (host.env[RERUN]) throw new UsageError(missing);
  const project = readText(context, "project");
  const archive = readChoice(context, "archive");
  const args = [
    ...PACKAGES.map((name) => `--package=${tarballs?.[name] ?? `${name}@${version}`}`),
    ...["--", "quillgate", "init"],
    ...(project === undefined ? [] : [`--project=${project}`]),
    ...(archive === undefined ? [] : [archive ? "--archive" : "--no-archive"]),
    ...(tarballs === undefined ? [] : [`--from=${readText(context, "from")}`]),
    ...(output.json ? ["--json"] : []),
    ...(output.quiet ? ["--quiet"] : []),
    ...["--", directory],
  ];
  const env = { ...host.env, [RERUN]: "1" };
  // This process filters the result with jq. On a terminal, npx would write its question into the
  // result, so npx gets no terminal and installs without asking.
  const isFiltered = readText(context, "jq") !== undefined;
  const unavailable = `${missing}, and npx could not be started: install it and try again`;
  const [program, ...rest] = makeNpmCommand("npx", args);
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
  if (code === null) throw new UsageError(unavailable);
  if (code === getExitCode("failure") && tarballs === undefined && isUnpublished(host, version)) {
    throw new UsageError(
      `quillgate-gateway@${version} is not published at the npm registry (E404)`,
      ["build both packages from the repository, and add --from FOLDER with their tarballs"],
    );
  }
  return code;
}

/** Asks npm if the registry lacks the package. The output of npx cannot tell: it is the user's. */
function isUnpublished({ env, folder: cwd }: Host, version: string): boolean {
  const args = ["view", `quillgate-gateway@${version}`, "version", "--json"];
  const [program = "", ...rest] = makeNpmCommand("npm", args);
  const { stdout, stderr } = spawnSync(program, rest, { cwd, env, encoding: "utf8" });
  return /\bE404\b/.test(`${stdout}${stderr}`);
}

/**
 * Returns the program and the arguments that start npm or npx. On Windows, returns an empty array
 * if it is not installed.
 */
export function makeNpmCommand(
  name: "npm" | "npx",
  args: readonly string[],
  platform: NodeJS.Platform = process.platform,
  node: string = process.execPath,
): string[] {
  if (platform !== "win32") return [name, ...args];
  // On Windows, both are batch files, which Node.js cannot start without a shell.
  const script = `${win32.dirname(node)}/node_modules/npm/bin/${name}-cli.js`;
  return existsSync(script) ? [node, script, ...args] : [];
}
