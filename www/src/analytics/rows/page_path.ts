/** Maximum length of a path in an address. */
const MAX_PATH = 1000;

/**
 * Returns whether a string can be the path of a page with its own route. Excludes line breaks and
 * other control characters, because the path becomes part of a job's prompt.
 */
export function isPagePath(text: string | null): text is string {
  return text !== null && text.length <= MAX_PATH && /^\/[^\p{C}\p{Zl}\p{Zp}]*$/u.test(text);
}

/**
 * Converts a page of a row to its path. Mintlify's reports also contain URLs, paths without the
 * first slash, and the empty string for the home page.
 */
export function toPagePath(text: string): string {
  const path = text
    .trim()
    .replace(/^https?:\/\/[^/?#]*/i, "")
    .replace(/[?#].*$/s, "");
  return path.startsWith("/") ? path : `/${path}`;
}

/**
 * Returns the same string for all spellings of a page, to compare pages of different reports.
 * Decodes the path, and drops doubled and final slashes, `/index`, and the extensions `.htm`,
 * `.html`, `.md` and `.mdx`.
 */
export function pageIdentity(page: string): string {
  const path = decodePath(toPagePath(page)).normalize("NFC");
  const short = path.replace(/\/{2,}/g, "/").replace(/(?:\/index)?(?:\.html?|\.mdx?)?\/?$/i, "");
  return short === "" ? "/" : short;
}

/**
 * Decodes a path, except for `/`, `?`, `#` and `%`, whose escapes have another meaning than the
 * characters. Invalid escapes stay.
 */
export function decodePath(path: string): string {
  return path.replace(/(?:%[\dA-Fa-f]{2})+/g, (escapes) => {
    try {
      return decodeURIComponent(escapes).replace(/[/?#%]/g, encodeURIComponent);
    } catch {
      return escapes;
    }
  });
}

/**
 * Returns whether a prompt is about a page rather than about a longer path that contains its path.
 * The gateway sends only the start of a long prompt. If the path is not in it, returns true,
 * because the gateway found the path in the rest.
 */
export function mentionsPage(prompt: string, path: string): boolean {
  if (!prompt.toLowerCase().includes(path.toLowerCase())) return true;
  const escaped = path.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  const whole = new RegExp(`(?:^|https?://[^\\s/]+|[^\\w/.~-])${escaped}(?![\\w/~-])`, "i");
  return whole.test(prompt);
}
