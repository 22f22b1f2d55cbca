/** Reads a job's prompt from an argument, a file, stdin or the user's editor. */

import { resolve } from "node:path";
import { type Context, readText } from "./command.js";
import { editText, keepText, type Typed } from "./editor.js";
import { UsageError } from "./errors.js";
import { readAll } from "./standard_input.js";
import { readTextFile } from "./text_input.js";

/**
 * Reads the prompt of a command.
 *
 * @param argument the positional argument; `-` means stdin
 * @throws {UsageError} if the prompt is missing, empty, unreadable or specified twice
 */
export async function readPrompt(context: Context, argument: string | undefined): Promise<Typed> {
  const file = readText(context, "prompt-file");
  if (argument !== undefined && file !== undefined) {
    throw new UsageError("PROMPT cannot be combined with --prompt-file");
  }
  const prompt = await readSource(context, argument, file);
  if (prompt.text.trim() !== "") return prompt;
  await prompt.discard();
  throw new UsageError("the prompt is empty");
}

async function readSource(
  context: Context,
  argument: string | undefined,
  file: string | undefined,
): Promise<Typed> {
  const { host, output } = context;
  const isTerminal = host.stdin.isTTY === true;
  if (argument === "-" || file === "-") {
    if (isTerminal) output.note("quillgate: type the prompt, then press Ctrl-D");
    const text = await readAll(host, "a prompt");
    return isTerminal ? keepText(context, text) : toPrompt(text);
  }
  if (argument !== undefined) return toPrompt(checkArgument(argument));
  if (file !== undefined) return toPrompt(await readTextFile(resolve(host.folder, file), file));
  const typed = isTerminal && output.interactive ? await editText(context) : undefined;
  if (typed !== undefined) return typed;
  throw new UsageError(
    "PROMPT is missing: add it, use - for stdin or --prompt-file, or set EDITOR",
  );
}

/** Returns a prompt that the user still has. */
function toPrompt(text: string): Typed {
  return { text, discard: async () => {} };
}

/** Node.js replaces bytes of an argument that are not UTF-8 by U+FFFD. */
function checkArgument(argument: string): string {
  if (!argument.includes("\ufffd")) return argument;
  throw new UsageError("PROMPT is not text in UTF-8: it contains U+FFFD");
}
