/** Standard input, which can be one thing only: a prompt, or a credential. */

import { type Host, UsageError } from "./command.js";

const readers = new WeakMap<object, string>();

/**
 * Reads all of standard input, until the user interrupts it.
 *
 * @param what it is read for
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

async function decodeAll(stdin: Host["stdin"]): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stdin) {
    text += typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
