import { SIGN_IN_WORDS } from "./sign_in_words.ts";

/** Returns the problem with a pasted token; null if the page finds none. The gateway judges claims. */
export function complainAboutToken(text: string): string | null {
  const token = text.trim();
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
