import { SIGN_IN_WORDS } from "./sign_in_words.ts";

/** Text before a token in a header or in a shell script. */
const BEFORE_TOKEN =
  /^(?:export\b|(?:set\s|\$env:)(?=\w+\s*=)|\w+\s*=|authorization\s*:|bearer|["'`“‘«\s])+/i;

/**
 * Returns the token in a pasted text. Removes quotation marks, line breaks, invisible characters, and
 * beginnings such as `Bearer` and `export QUILLGATE_TOKEN=`.
 */
export function extractToken(pasted: string): string {
  const visible = pasted.replace(/\p{Cf}/gu, "");
  return visible.replace(BEFORE_TOKEN, "").replace(/["'`”’»\s;]/g, "");
}

/** Returns the problem with a pasted token; null if the page finds none. The gateway judges claims. */
export function complainAboutToken(text: string): string | null {
  const token = extractToken(text);
  if (token === "") return SIGN_IN_WORDS.empty;
  if (token.startsWith("mint_")) return SIGN_IN_WORDS.adminKey;
  return isJwt(token) ? null : SIGN_IN_WORDS.malformed;
}

function isJwt(token: string): boolean {
  const [, payload = "", ...others] = token.split(".");
  if (others.length !== 1 || !/^[\w.-]+$/.test(token)) return false;
  try {
    return atob(payload.replaceAll("-", "+").replaceAll("_", "/")).startsWith("{");
  } catch {
    return false;
  }
}
