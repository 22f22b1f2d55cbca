import { dayAndTime } from "../shell/wording.ts";
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

/** Returns the problem with a pasted token; null if the page finds none. */
export function complainAboutToken(text: string, now: number): string | null {
  const token = extractToken(text);
  if (token === "") return SIGN_IN_WORDS.empty;
  if (token.startsWith("mint_")) {
    return SIGN_IN_WORDS.adminKey;
  }
  const payload = payloadOf(token);
  if (payload === null) {
    return SIGN_IN_WORDS.malformed;
  }
  const expiresAt = typeof payload.exp === "number" ? payload.exp * 1000 : Number.NaN;
  // Leave years beyond the range of `Date` to the gateway.
  if (expiresAt <= now && Math.abs(expiresAt) < 8.64e15) {
    return SIGN_IN_WORDS.expired(dayAndTime(expiresAt));
  }
  return null;
}

function payloadOf(token: string): Record<string, unknown> | null {
  const parts = token.split(".");
  if (parts.length !== 3 || parts.some((part) => !/^[\w-]+$/.test(part))) return null;
  try {
    const binary = atob((parts[1] ?? "").replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    const payload: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return isRecord(payload) ? payload : null;
  } catch {
    return null;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
