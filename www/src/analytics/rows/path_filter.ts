import { foldText } from "../../shell/readable_text.ts";
import { decodePath, toPageId, toPagePath } from "./page_path.ts";

/** A filter that matches paths. */
export interface PathFilter {
  kind: "everything" | "words" | "prefix" | "glob";
  matches(path: string | null): boolean;
}

/**
 * Maximum number of `**` between slashes in a glob. Each of them may match nothing, which doubles
 * the number of globs to test. In a glob with more, none of them may match nothing.
 */
const MAX_GLOBSTARS = 6;
const EVERYTHING: PathFilter = { kind: "everything", matches: () => true };

/**
 * Parses a filter. `/guides` is a prefix. `/guides/*` and `*.md` are globs: `*` matches within a
 * segment, `**` across segments, `?` one character. Anything else is a list of words that must all
 * occur in the path. Of a URL, the path counts. Ignores case, and finds every spelling of a page.
 */
export function parsePathFilter(text: string): PathFilter {
  const isUrl = /^\s*https?:\/\//i.test(text);
  const typed = foldPath(isUrl ? toPagePath(text) : text.trim());
  if (typed === "") return EVERYTHING;
  if (/[*?]/.test(typed)) return matchGlobs(typed);
  if (!typed.startsWith("/")) return matchWords(typed, foldSpellings);
  // A final slash names the folder, not its page.
  const page = typed.endsWith("/") ? null : foldPath(toPageId(typed));
  return match("prefix", (path) => path.startsWith(typed) || path === page);
}

/**
 * Parses words that must all occur in a string. Unlike in a path, `?` is an ordinary character.
 */
export function parseWords(text: string): PathFilter {
  return matchWords(foldText(text), (found) => [foldText(found)]);
}

function matchWords(text: string, fold: (found: string) => string[]): PathFilter {
  const words = text.split(/\s+/).filter(Boolean);
  if (words.length === 0) return EVERYTHING;
  return match("words", (found) => words.every((word) => found.includes(word)), fold);
}

function foldPath(path: string): string {
  return foldText(decodePath(path));
}

/** Returns the folded path, and the folded identity of its page. */
function foldSpellings(path: string): string[] {
  return [foldPath(path), foldPath(toPageId(path))];
}

/** Returns the folder that a filter names, in the archive's notation; null for other filters. */
export function archivePrefix(text: string): string | null {
  const folder = /^((?:\/[^/*?\s]+)+)\/(?:\*\*)?$/.exec(text.trim());
  return folder?.[1] ?? null;
}

function match(
  kind: PathFilter["kind"],
  test: (path: string) => boolean,
  fold = foldSpellings,
): PathFilter {
  return { kind, matches: (path) => path !== null && fold(path).some(test) };
}

/** A glob without a leading slash matches at any depth. */
function matchGlobs(typed: string): PathFilter {
  const glob = typed.startsWith("/") || typed.startsWith("**") ? typed : `**/${typed}`;
  const parts = glob.split("/**/");
  const globs = parts.length > MAX_GLOBSTARS + 1 ? [glob] : withoutLevels(parts);
  return match("glob", (path) => globs.some((one) => matchesGlob(path, one)));
}

/** Expands globs, because `**` between two slashes may also match nothing. */
function withoutLevels([first = "", ...others]: readonly string[]): readonly string[] {
  if (others.length === 0) return [first];
  return withoutLevels(others).flatMap((rest) => [`${first}/**/${rest}`, `${first}/${rest}`]);
}

/**
 * Returns whether a glob matches an entire string. Stars are lazy and grow by one character after
 * a mismatch. Only the last star of each kind is retried, which bounds the running time.
 */
export function matchesGlob(text: string, glob: string): boolean {
  let at = 0;
  let next = 0;
  let star: { at: number; next: number } | null = null;
  let globstar: { at: number; next: number } | null = null;
  while (at < text.length || next < glob.length) {
    const wanted = glob[next];
    if (wanted === "*") {
      if (glob[next + 1] === "*") {
        while (glob[next] === "*") next += 1;
        globstar = { at, next };
        star = null;
      } else {
        next += 1;
        star = { at, next };
      }
      continue;
    }
    if (at < text.length && isMatch(wanted, text[at])) {
      at += 1;
      next += 1;
      continue;
    }
    if (star !== null && star.at < text.length && text[star.at] !== "/") {
      star.at += 1;
      at = star.at;
      next = star.next;
      continue;
    }
    if (globstar !== null && globstar.at < text.length) {
      globstar.at += 1;
      at = globstar.at;
      next = globstar.next;
      star = null;
      continue;
    }
    return false;
  }
  return true;
}

function isMatch(wanted: string | undefined, found: string | undefined): boolean {
  return wanted === found || (wanted === "?" && found !== "/");
}
