/** Asks questions on the terminal. */

import { createInterface, type Interface } from "node:readline/promises";
import { Writable } from "node:stream";
import { type Context, readSwitch } from "./command.js";
import { Interruption, UsageError } from "./errors.js";
import { getExitCode } from "./exit_codes.js";
import { isCi } from "./terminal.js";

/** Asks a question. Returns the fallback for an empty answer. */
export async function ask(context: Context, question: string, fallback = ""): Promise<string> {
  const shown = fallback === "" ? "" : ` [${fallback}]`;
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  return (await read(context, reader, `${question}${shown} `)) || fallback;
}

/**
 * Asks for confirmation, unless `--yes` is set.
 *
 * @param refused the error's message after another answer than yes
 * @throws {UsageError} unless the user confirms
 */
export async function confirm(context: Context, question: string, refused: string): Promise<void> {
  const { host, output } = context;
  if (readSwitch(context, "yes")) return;
  if (host.stdin.isTTY !== true || !output.interactive || isCi(host.env)) {
    throw new UsageError("--yes is required, because the command cannot ask", [
      "it asks on a terminal, without --json and --quiet, and never in CI",
    ]);
  }
  if (!/^y(es)?$/i.test(await ask(context, `${question} (y/N)`))) throw new UsageError(refused);
}

/** Asks for a secret, which the terminal does not echo. */
export async function askSecret(context: Context, question: string): Promise<string> {
  const discard = new Writable({ write: (_chunk, _encoding, done) => done() });
  // With `terminal`, the reader turns off the echo and writes each key to `output` instead.
  const reader = createInterface({ input: process.stdin, output: discard, terminal: true });
  // Ask only after the echo is off. Otherwise the start of a fast answer would be visible.
  process.stderr.write(`${question} `);
  const answer = await read(context, reader, "");
  process.stderr.write("\n");
  return answer;
}

async function read({ signal }: Context, reader: Interface, question: string): Promise<string> {
  // The reader handles Ctrl-C as a key. On Windows, sending the signal would kill the process.
  reader.on("SIGINT", () => reader.close());
  // Ctrl-C and Ctrl-D close the reader without an answer.
  const closed = new Promise<never>((_, reject) => {
    reader.on("close", () => reject(new Interruption(getExitCode("interrupted"))));
  });
  try {
    return (await Promise.race([reader.question(question, { signal }), closed])).trim();
  } finally {
    reader.close();
  }
}
