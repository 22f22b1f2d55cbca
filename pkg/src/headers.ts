/** Reads the headers of a caller. */

import { toValidationError } from "./errors.js";
import { RULE_HEADER } from "./generated/protocol.js";
import type { HeadersLike } from "./options.js";

/**
 * Copies headers. Skips those whose value is `undefined` or `null`.
 *
 * @param field the name of the option, for the error
 * @throws {import("./errors.js").ValidationError} if HTTP does not allow a name or a value. The error
 *   contains the name, never the value.
 */
export function readHeaders(field: string, given: HeadersLike): Headers {
  const headers = new Headers();
  if (typeof given !== "object")
    throw toValidationError(RULE_HEADER, `${field}\n\na ${typeof given}`);
  const pairs = Symbol.iterator in given ? given : Object.entries(given);
  for (const [name, value] of pairs as Iterable<[string, string | null | undefined]>) {
    if (value == null) continue;
    try {
      headers.append(name, value);
    } catch {
      const shown = JSON.stringify(`${name}`.slice(0, 32));
      throw toValidationError(RULE_HEADER, `${field}\n\nan invalid ${shown}`);
    }
  }
  return headers;
}
