/** Reads options: rejects misspelled ones before a request is sent, and ignores inherited ones. */

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

/**
 * Copies options into an object without a prototype, so that prototype pollution cannot add headers
 * or redirect an admin key.
 */
export function ownProperties<T extends object>(options: T | undefined): T {
  return Object.assign(Object.create(null), options);
}
