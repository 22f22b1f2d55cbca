/** Reads the prompt, from an input or a file. */

import { readFileSync, realpathSync, statSync } from "node:fs";
import { isAbsolute, relative, resolve, sep } from "node:path";
import { decodeText } from "../../pkg/dist/text_input.js";
import { InputError } from "./input_error.js";
import type { Runner } from "./runner.js";

/** The largest request body that a gateway accepts, in bytes. */
export const MAX_BODY_BYTES = 1024 * 1024;

/**
 * Returns the prompt.
 *
 * @throws {InputError} if it is missing, empty or too long
 */
export function readPrompt(runner: Runner): string {
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
