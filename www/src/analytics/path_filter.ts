/** What a filter asks of a path. */
export interface PathFilter {
  kind: "everything" | "words" | "prefix" | "glob";
  matches(path: string | null): boolean;
}

/** In how many places `**` may be nothing at all: each doubles what a path is compared with. */
const MAX_GLOBSTARS = 6;
const EVERYTHING: PathFilter = { kind: "everything", matches: () => true };

/**
 * Reads what was typed: `/guides` is the beginning of a path, `/guides/*` or `*.md` a glob (`*`
 * within a segment, `**` across segments, `?` one character), and anything else words that all have
 * to be in the path. Upper and lower case are alike.
 */
export function parsePathFilter(text: string): PathFilter {
  const typed = text.trim().toLowerCase();
  if (typed === "") return EVERYTHING;
  if (/[*?]/.test(typed)) return matchGlobs(typed);
  if (typed.startsWith("/")) return match("prefix", (path) => path.startsWith(typed));
  return parseWords(typed);
}

/** Reads what was typed as words that all have to be in a text: a question mark in it is one. */
export function parseWords(text: string): PathFilter {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return EVERYTHING;
  return match("words", (found) => words.every((word) => found.includes(word)));
}

/** The folder that a filter names, as the archive wants it; null when it is no folder. */
export function archivePrefix(text: string): string | null {
  const folder = /^((?:\/[^/*?\s]+)+)\/(?:\*\*)?$/.exec(text.trim());
  return folder?.[1] ?? null;
}

function match(kind: PathFilter["kind"], test: (path: string) => boolean): PathFilter {
  return { kind, matches: (path) => path !== null && test(path.toLowerCase()) };
}

/** A glob without a slash at its beginning may match at any depth. */
function matchGlobs(typed: string): PathFilter {
  const glob = typed.startsWith("/") || typed.startsWith("**") ? typed : `**/${typed}`;
  const parts = glob.split("/**/");
  const globs = parts.length > MAX_GLOBSTARS + 1 ? [glob] : withoutLevels(parts);
  return match("glob", (path) => globs.some((one) => matchesGlob(path, one)));
}

/** Between two slashes, `**` may also be nothing at all. */
function withoutLevels([first = "", ...others]: readonly string[]): readonly string[] {
  if (others.length === 0) return [first];
  return withoutLevels(others).flatMap((rest) => [`${first}/**/${rest}`, `${first}/${rest}`]);
}

/**
 * Whether a whole text matches a glob. Each star takes as little as it can and, when the rest does
 * not match, one character more. Only the last star of each kind is gone back to, so that no glob
 * takes long.
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
