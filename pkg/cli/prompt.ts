/** Reads a job's prompt from an argument, a file, stdin or the user's editor. */

import { resolve } from "node:path";
import { type Context, readText } from "./command.js";
import { editText } from "./editor.js";
import { UsageError } from "./errors.js";
import { readAll } from "./standard_input.js";
import { readTextFile } from "./text_input.js";

/**
 * Reads the prompt of a command.
 *
 * @param argument the positional argument; `-` means stdin
 * @throws {UsageError} if the prompt is missing, empty, unreadable or specified twice
 */
export async function readPrompt(context: Context, argument: string | undefined): Promise<string> {
  const file = readText(context, "prompt-file");
  if (argument !== undefined && file !== undefined) {
    throw new UsageError("PROMPT cannot be combined with --prompt-file");
  }
  const prompt = await readSource(context, argument, file);
  if (prompt.trim() === "") throw new UsageError("the prompt is empty");
  return prompt;
}

async function readSource(
  { host, output }: Context,
  argument: string | undefined,
  file: string | undefined,
): Promise<string> {
  if (argument === "-" || file === "-") {
    if (host.stdin.isTTY) output.note("quillgate: type the prompt, then press Ctrl-D");
    return readAll(host, "a prompt");
  }
  if (argument !== undefined) return checkArgument(argument);
  if (file === undefined) {
    const typed =
      host.stdin.isTTY === true && output.interactive ? await editText(host) : undefined;
    if (typed !== undefined) return typed;
    throw new UsageError(
      "PROMPT is missing: add it, use - for stdin or --prompt-file, or set EDITOR",
    );
  }
  return readTextFile(resolve(host.folder, file), file);
}

/** Node.js replaces bytes of an argument that are not UTF-8 by U+FFFD. */
function checkArgument(argument: string): string {
  if (!argument.includes("\ufffd")) return argument;
  throw new UsageError("PROMPT is not text in UTF-8: it contains U+FFFD");
}
