import { foldText } from "../../shell/readable_text.ts";

declare const brand: unique symbol;
/** A page's identity, for comparisons. All spellings of a page have the same one. */
export type PageId = string & { readonly [brand]: true };

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
 * Returns the identity of a page. Decodes the path, and drops doubled and final slashes, `/index`,
 * and the extensions `.htm`, `.html`, `.md` and `.mdx`.
 */
export function toPageId(page: string): PageId {
  const path = decodePath(toPagePath(page)).normalize("NFC");
  const short = path.replace(/\/{2,}/g, "/").replace(/(?:\/index)?(?:\.html?|\.mdx?)?\/?$/i, "");
  return (short === "" ? "/" : short) as PageId;
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

/** Returns the spellings of a page that prompts contain, without those that contain another one. */
export function spellingsOf(path: string): string[] {
  const page = toPageId(path);
  const all = [page, encode(page, encodeURI), encode(page, encodeURIComponent), path];
  return all.filter((one, at) => !all.some((other, i) => one.includes(other) && i < at));
}

/** Encodes the characters of a path. Existing escapes and slashes stay. */
function encode(path: string, encodePart: (text: string) => string): string {
  const parts = path.split(/(%[\dA-Fa-f]{2}|\/)/);
  return parts.map((part, at) => (at % 2 === 0 ? encodePart(part) : part)).join("");
}

/**
 * Returns whether a prompt is about a page rather than about a longer path that contains its path.
 * The gateway sends only the start of a long prompt. If the path is not in it, returns true,
 * because the gateway found the path in the rest.
 */
export function mentionsPage(prompt: string, path: string): boolean {
  const page = foldText(toPageId(path));
  const text = foldText(decodePath(prompt)).replace(/(?<!:)\/{2,}/g, "/");
  if (!text.includes(page)) return true;
  const escaped = page.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  const end = "(?:/index)?(?:\\.html?|\\.mdx?)?/?(?!\\.?[\\p{L}\\p{N}_/~-])";
  const start = "(?:^|https?://[^\\s/]+|[^\\p{L}\\p{N}_/.~-])";
  return new RegExp(start + escaped + end, "u").test(text);
}
