import { dayAndTime } from "../shell/wording.ts";

/**
 * What is wrong with a pasted token as far as it can be told without the gateway, in words for the
 * person who pasted it; null when it is worth a request.
 */
export function complainAboutToken(text: string, now: number): string | null {
  const token = text.trim();
  if (token === "") return "Paste your access token.";
  if (token.startsWith("mint_")) {
    return (
      "This is a key of the platform itself, not an access token. It belongs on the server: " +
      "do not paste it into any web page."
    );
  }
  const payload = payloadOf(token);
  if (payload === null) {
    return "This is not an access token: it should be three parts joined by dots.";
  }
  const expiresAt = typeof payload.exp === "number" ? payload.exp * 1000 : Number.NaN;
  // Years that no calendar has are left to the gateway.
  if (expiresAt <= now && Math.abs(expiresAt) < 8.64e15) {
    return `This access token expired on ${dayAndTime(expiresAt)}. Ask for a new one.`;
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
