/** The flags of commands that write and wait. Help loads them without the client. */

import type { Option } from "./command.js";

export const DEFAULT_TIMEOUT = "30m";

/** The flags of every write. */
export const WRITE: Readonly<Record<string, Option>> = {
  "idempotency-key": {
    type: "text",
    value: "KEY",
    summary: "Repeated requests with the same key run once. Default: a random key.",
  },
  force: {
    type: "switch",
    summary: "Repeat a request with an unknown outcome. It may run twice.",
  },
};

/** Returns the flag `--timeout` of commands that wait. */
export function timeoutOption(noun: string): Readonly<Record<string, Option>> {
  return {
    timeout: {
      type: "text",
      value: "TIME",
      default: DEFAULT_TIMEOUT,
      summary: `How long to wait for the ${noun} to finish. The ${noun} continues afterwards.`,
    },
  };
}
