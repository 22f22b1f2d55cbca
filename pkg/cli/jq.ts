/** Filters a command's JSON with the program `jq`. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { win32 } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { UsageError } from "./errors.js";
import { GATEWAY_SECRETS } from "./gateway_secrets.js";
import type { Host, Stream } from "./host.js";
import { writeAll } from "./output.js";
import { replaceControls, toLine } from "./table.js";

/** Thrown when jq fails after the command has sent its requests. */
class JqError extends Error {
  override name = "JqError";
}

/**
 * Starts jq. Strings are printed without quotes. Other values are indented on a terminal, and have
 * one line each elsewhere.
 *
 * @throws {UsageError} if jq is not installed or rejects the filter
 */
export async function startJq(filter: string, host: Host): Promise<Jq> {
  const { program, args } = makeCommand(filter, host);
  const options = { cwd: host.folder, env: withoutSecrets(host.env) };
  // Without input, jq compiles the filter and ends.
  const check = spawn(program, args, { ...options, stdio: ["ignore", "ignore", "pipe"] });
  const { code, message } = await waitForEnd(check, check.stderr);
  if (code !== 0) throw new UsageError(`--jq: ${message || "jq rejects the filter"}`);
  const child = spawn(program, args, { ...options, stdio: ["pipe", "pipe", "pipe"] });
  return new Jq(child, host.stdout);
}

/**
 * Returns the program and the arguments that start jq.
 *
 * @throws {UsageError} if jq is not installed on Windows; elsewhere, starting it fails
 */
export function makeCommand(
  filter: string,
  { env, stdout }: Pick<Host, "env" | "stdout">,
  platform: NodeJS.Platform = process.platform,
): { program: string; args: string[] } {
  const isWindows = platform === "win32";
  const layout = stdout.isTTY === true ? [] : ["--compact-output"];
  // Without `--binary`, jq ends lines with CRLF on Windows. Elsewhere, jq 1.6 rejects the flag.
  const newlines = isWindows ? ["--binary"] : [];
  return {
    program: isWindows ? findOnWindows(env.PATH) : "jq",
    // With the space, jq does not read a filter such as `-.count` as a flag.
    args: ["--raw-output", "--unbuffered", ...layout, ...newlines, ` ${filter}`],
  };
}

/**
 * Finds `jq.exe` in the folders of `PATH`. By itself, Node.js would start one in the current folder
 * first, which can be part of someone else's repository.
 */
function findOnWindows(path = ""): string {
  const folders = path.split(";").map((folder) => folder.replaceAll('"', ""));
  const files = folders.filter(win32.isAbsolute).map((folder) => `${folder}/jq.exe`);
  const found = files.find((file) => existsSync(file));
  if (found === undefined) throw notInstalled();
  return found;
}

function notInstalled(): UsageError {
  return new UsageError("--jq needs the program jq, which is not installed", [
    "install jq (https://jqlang.org), or use --json",
  ]);
}

/** A running jq, which reads a command's JSON and writes its own results to `stdout`. */
export class Jq implements Stream {
  readonly #input: Writable;
  readonly #forwarded: Promise<void>;
  readonly #ended: Promise<End>;

  constructor(
    child: ChildProcess & { stdin: Writable; stdout: Readable; stderr: Readable },
    stdout: Stream,
  ) {
    this.#input = child.stdin;
    // The callback of each write reports the error.
    this.#input.on("error", () => {});
    this.#ended = waitForEnd(child, child.stderr);
    this.#forwarded = forward(child.stdout, stdout);
    // `end` reports both errors.
    this.#ended.catch(() => {});
    this.#forwarded.catch(() => {});
  }

  /** Passes JSON to jq. Fails with the code `EPIPE` if jq has ended. */
  write(data: string | Uint8Array, done?: (error?: Error | null) => void): boolean {
    return this.#input.write(data, (error) => {
      done?.(error && Object.assign(new Error("jq has ended"), { code: "EPIPE" }));
    });
  }

  /** Ends the input and waits for jq. Resolves to its error, if it failed for any value. */
  async end(): Promise<Error | undefined> {
    this.#input.end();
    await this.#forwarded;
    const { code, signal, message } = await this.#ended;
    // The exit code of jq is that of the last value.
    if (code === 0 && message === "") return undefined;
    const reason = message || `it ended with ${signal ?? `exit code ${code}`}`;
    return new JqError(`jq could not filter the command's result: ${reason}`);
  }
}

interface End {
  /** The exit code; `null` after a signal. */
  code: number | null;
  signal: NodeJS.Signals | null;
  /** The first error of jq; empty without one. */
  message: string;
}

/**
 * Removes the variables that can contain secrets of Quillgate, because a filter can read the
 * environment.
 */
function withoutSecrets(env: Host["env"]): Record<string, string | undefined> {
  const secrets = [...GATEWAY_SECRETS, "WEBHOOK_KEY"];
  // Names are case-insensitive on Windows.
  const isSecret = (name: string) => name.startsWith("QUILLGATE_") || secrets.includes(name);
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isSecret(name.toUpperCase())));
}

async function waitForEnd(child: ChildProcess, stderr: Readable): Promise<End> {
  let message = "";
  createInterface({ input: stderr }).on("line", (line) => {
    message ||= toLine(/^jq: error(?: \(at [^)]*\))?: (.*)/.exec(line)?.[1] ?? "");
  });
  try {
    const [code, signal] = await once(child, "close");
    return { code, signal, message };
  } catch (error) {
    if ((error as { code?: unknown }).code !== "ENOENT") throw error;
    throw notInstalled();
  }
}

async function forward(results: Readable, stdout: Stream): Promise<void> {
  const replaceAll = (text: string) => text.split("\t").map((part) => replaceControls(part));
  for await (const text of results.setEncoding("utf8")) {
    // The filter `@tsv` writes tabs.
    await writeAll(stdout, stdout.isTTY === true ? replaceAll(text).join("\t") : text);
  }
}
