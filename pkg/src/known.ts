/** Options by name: one that nobody knows is a mistake, and says so before anything is sent. */

import { ValidationError } from "./errors.js";

/**
 * Refuses an option that is not among those known; what is `undefined` counts as left out.
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
