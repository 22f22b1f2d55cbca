/** Matches paths against the globs of the input `if-changed`. */

import { InputError } from "./input_error.js";

export interface Glob {
  pattern: RegExp;
  /** Whether the glob starts with `!` and excludes paths. */
  excludes: boolean;
}

/** Characters with a meaning in other glob dialects. */
const UNSUPPORTED = /[?[\]{}\\]/;

/**
 * Parses globs. `*` matches within a folder and `**` across folders. A glob that ends with `/` matches
 * everything in that folder.
 *
 * @throws {InputError} for other special characters, or if every glob excludes
 */
export function parseGlobs(lines: readonly string[]): Glob[] {
  const globs = lines.map(parseGlob);
  if (globs.some(({ excludes }) => !excludes)) return globs;
  throw new InputError("the input if-changed needs a line that does not start with !");
}

function parseGlob(line: string): Glob {
  const excludes = line.startsWith("!");
  const text = (excludes ? line.slice(1) : line).trim().replace(/^(?:\.?\/)+/, "");
  if (text === "" || UNSUPPORTED.test(text)) {
    throw new InputError(
      `the input if-changed knows the special characters *, ** and a ! at the start: found ${JSON.stringify(line)}`,
    );
  }
  const path = text.endsWith("/") ? `${text}**` : text;
  const source = path.replace(/\*\*\/|\*+|[^*]+/g, (part) => {
    // `**/` also matches no folder.
    if (part === "**/") return "(?:.*/)?";
    if (part === "*") return "[^/]*";
    return part.startsWith("*") ? ".*" : part.replace(/[.+^$()|]/g, "\\$&");
  });
  return { pattern: new RegExp(`^${source}$`, "s"), excludes };
}

/** Returns whether the last glob that matches a path includes it. */
export function isIncluded(globs: readonly Glob[], path: string): boolean {
  return globs.findLast(({ pattern }) => pattern.test(path))?.excludes === false;
}
