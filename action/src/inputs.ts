/** Reads and validates the action's inputs. */

import { readFileSync, realpathSync, statSync } from "node:fs";
import { isAbsolute, relative, resolve, sep } from "node:path";
import { isLoopback } from "../../pkg/dist/base_url.js";
import { decodeText } from "../../pkg/dist/text_input.js";
import type { Runner } from "./runner.js";

/** The validated inputs of `action.yml`. */
export interface Inputs {
  gateway: string;
  project: string;
  prompt: string;
  audience: string;
  /** One of the gateway's access tokens; `undefined` to use the workflow's own identity. */
  token: string | undefined;
  wait: boolean;
  /** In milliseconds, from one second to five days. */
  timeout: number;
  idempotencyKey: string | undefined;
  comment: boolean;
  githubToken: string | undefined;
  /** The matrix values of the workflow's job, as JSON. `null` in a job without a matrix. */
  matrix: string;
}

/** Thrown for an invalid input. The message names the input or its file. */
export class InputError extends Error {}

const UNITS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000 };
/** In milliseconds. GitHub cancels a job on a self-hosted runner after five days. */
const MAX_TIMEOUT = 5 * 24 * 3_600_000;
/** The largest request body that a gateway accepts, in bytes. */
export const MAX_BODY_BYTES = 1024 * 1024;

/**
 * Reads and validates every input.
 *
 * @throws {InputError} if an input is missing or invalid
 */
export function readInputs(runner: Runner): Inputs {
  // Mask both secrets before another input can throw.
  const token = readSecret(runner, "token");
  const githubToken = readSecret(runner, "github-token");
  return {
    gateway: readGateway(readRequired(runner, "gateway")),
    project: readRequired(runner, "project"),
    prompt: readPrompt(runner),
    audience: readRequired(runner, "audience"),
    token,
    wait: readBoolean(runner, "wait"),
    timeout: readDuration(runner, "timeout"),
    idempotencyKey: readIdempotencyKey(runner),
    comment: readBoolean(runner, "comment"),
    githubToken,
    matrix: runner.input("matrix"),
  };
}

function readIdempotencyKey(runner: Runner): string | undefined {
  const key = runner.input("idempotency-key").trim();
  if (key === "" || /^[!-~]{1,255}$/.test(key)) return key || undefined;
  throw new InputError("the input idempotency-key must be 1 to 255 visible ASCII characters");
}

function readSecret(runner: Runner, name: string): string | undefined {
  const secret = runner.input(name).trim();
  runner.mask(secret);
  return secret || undefined;
}

function readRequired(runner: Runner, name: string): string {
  const value = runner.input(name).trim();
  if (value === "") throw new InputError(`the input ${name} is missing`);
  return value;
}

/**
 * Returns the gateway's origin. Requests carry a credential, so only loopback addresses may use
 * `http:`.
 */
function readGateway(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isSecure = url?.protocol === "https:";
  const isLocal = url?.protocol === "http:" && isLoopback(text);
  if (!isSecure && !isLocal) {
    throw new InputError("the input gateway must be an https address, as in https://gate.example");
  }
  // Don't quote the URL: the log would show its password.
  if (url.username !== "" || url.password !== "") {
    throw new InputError("the input gateway must have no user and no password");
  }
  if (url.pathname !== "/" || /[?#]/.test(text)) {
    throw new InputError(
      `the input gateway must be an address without path, query and fragment: ${url.origin}`,
    );
  }
  return url.origin;
}

function readPrompt(runner: Runner): string {
  const text = runner.input("prompt");
  const file = runner.input("prompt-file").trim();
  if (text.trim() !== "" && file !== "") {
    throw new InputError("give either the input prompt or prompt-file, not both");
  }
  const prompt = file === "" ? text : readPromptFile(runner, file);
  if (prompt.trim() === "") {
    throw new InputError(
      file === "" ? "the input prompt or prompt-file is missing" : `${file} is empty`,
    );
  }
  checkLength(prompt);
  return prompt;
}

/** Checks the size of the request body. JSON escapes make it larger than the prompt. */
function checkLength(prompt: string): void {
  const length = Buffer.byteLength(JSON.stringify({ prompt }));
  if (length <= MAX_BODY_BYTES) return;
  throw new InputError(
    `the prompt is too long: as JSON it has ${length} bytes, and the gateway takes ${MAX_BODY_BYTES}`,
  );
}

/**
 * Reads a prompt file in the workspace or the runner's temporary folder.
 *
 * Resolves symbolic links first. Otherwise an untrusted commit could link to any file on the runner
 * and send its content to the agent.
 */
function readPromptFile(runner: Runner, name: string): string {
  const { GITHUB_WORKSPACE: workspace = process.cwd(), RUNNER_TEMP: temporary } = runner.env;
  const file = resolveLinks(resolve(workspace, name));
  if (file === undefined) throw new InputError(`the input prompt-file: there is no file ${name}`);
  const folders = [workspace, temporary].flatMap(
    (folder) => (folder && resolveLinks(folder)) || [],
  );
  if (!folders.some((folder) => isWithin(folder, file))) {
    throw new InputError(
      `the input prompt-file: ${name} is outside of the workspace and of the runner's temporary folder`,
    );
  }
  return decode(readContent(file, name), name);
}

function readContent(file: string, name: string): Uint8Array {
  try {
    const status = statSync(file);
    if (status.isDirectory()) throw new InputError(`the input prompt-file: ${name} is a folder`);
    if (!status.isFile()) throw new InputError(`the input prompt-file: ${name} is not a file`);
    if (status.size > MAX_BODY_BYTES) {
      throw new InputError(
        `the input prompt-file: ${name} has ${status.size} bytes, and the gateway takes ${MAX_BODY_BYTES}`,
      );
    }
    return readFileSync(file);
  } catch (error) {
    if (error instanceof InputError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    const why = code === "EACCES" ? "this user may not read it" : (code ?? "unknown error");
    throw new InputError(`the input prompt-file: ${name} cannot be read: ${why}`);
  }
}

function decode(bytes: Uint8Array, name: string): string {
  const decoded = decodeText(bytes);
  if ("text" in decoded) return decoded.text;
  throw new InputError(`the input prompt-file: ${name} ${decoded.fault}`);
}

function resolveLinks(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

function isWithin(folder: string, file: string): boolean {
  const path = relative(folder, file);
  return path !== ".." && !path.startsWith(`..${sep}`) && !isAbsolute(path);
}

function readBoolean(runner: Runner, name: string): boolean {
  const text = runner.input(name).trim();
  if (/^(true|True|TRUE)$/.test(text)) return true;
  if (/^(false|False|FALSE)$/.test(text)) return false;
  throw new InputError(`the input ${name} must be true or false`);
}

function readDuration(runner: Runner, name: string): number {
  const text = runner.input(name).trim();
  const [, digits, unit] = /^(\d{1,9})\s*([smh])$/.exec(text) ?? [];
  const milliseconds = Number(digits) * (UNITS[unit ?? ""] ?? Number.NaN);
  if (milliseconds >= 1_000 && milliseconds <= MAX_TIMEOUT) return milliseconds;
  const found = text === "" ? "it is empty" : `found ${JSON.stringify(text.slice(0, 40))}`;
  throw new InputError(`the input ${name} must be 1s to 120h, as in 90s, 30m or 2h: ${found}`);
}
