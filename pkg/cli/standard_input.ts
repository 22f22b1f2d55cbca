/** Reads stdin. A command can read it only once, for a prompt or for a credential. */

import { UsageError } from "./errors.js";
import type { Host } from "./host.js";
import { toText } from "./text_input.js";

const readers = new WeakMap<object, string>();

/**
 * Reads stdin to its end. Rejects with the signal's reason if the user interrupts it.
 *
 * @param what names the content in errors
 * @throws {UsageError} if stdin was read before, or is not text
 */
export async function readAll(
  { stdin, signal }: Pick<Host, "stdin" | "signal">,
  what: string,
): Promise<string> {
  const before = readers.get(stdin);
  if (before !== undefined) {
    throw new UsageError(`standard input cannot be both ${before} and ${what}`);
  }
  readers.set(stdin, what);
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort);
    decodeAll(stdin)
      .finally(() => signal.removeEventListener("abort", abort))
      .then(resolve, reject);
  });
}

/**
 * Returns the secret of a variable, or else of stdin.
 *
 * @throws {UsageError} if neither has one
 */
export async function readSecret(
  host: Pick<Host, "env" | "stdin" | "signal">,
  variable: string,
): Promise<string> {
  const given = host.env[variable];
  if (given) return given;
  const piped = host.stdin.isTTY === true ? "" : (await readAll(host, "the secret")).trim();
  if (piped === "") throw new UsageError(`no secret: set ${variable} or pipe it to stdin`);
  return piped;
}

async function decodeAll(stdin: Host["stdin"]): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk));
  return toText(Buffer.concat(chunks), "standard input");
}
