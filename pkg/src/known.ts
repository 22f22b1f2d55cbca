/** Rejects misspelled options before a request is sent. */

import { ValidationError } from "./errors.js";

/**
 * Throws if `options` has a property that is not in `known`. Ignores properties set to `undefined`.
 *
 * @throws {ValidationError}
 */
export function refuseUnknown(options: object | undefined, known: readonly string[]): void {
  for (const [name, value] of Object.entries(options ?? {})) {
    if (value === undefined || known.includes(name)) continue;
    const field = name.slice(0, 32);
    throw new ValidationError(`${field} is not an option`, field, "unknown");
  }
}
