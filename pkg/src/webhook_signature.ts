/** Keys and signatures of Standard Webhooks (HMAC-SHA256). */

const KEY_PREFIX = "whsec_";
const VERSION_PREFIX = "v1,";
/** The shortest key that Standard Webhooks allows, in bytes. */
const MIN_KEY = 24;
const ALGORITHM = { name: "HMAC", hash: "SHA-256" };

/**
 * Decodes a key: base64 with or without padding, after an optional `whsec_`. Returns `undefined` if it
 * is not base64 of at least 24 bytes.
 */
export function decodeKey(key: string): Uint8Array<ArrayBuffer> | undefined {
  const trimmed = key.trim(); // Files and secret stores add line breaks.
  const base64 = trimmed.startsWith(KEY_PREFIX) ? trimmed.slice(KEY_PREFIX.length) : trimmed;
  const bytes = decodeBase64(base64);
  return bytes && bytes.length >= MIN_KEY ? bytes : undefined;
}

/** Returns the bytes that are signed: `id.timestamp.body`. */
export function signedContent(
  id: string,
  timestamp: string,
  body: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const head = new TextEncoder().encode(`${id}.${timestamp}.`);
  const content = new Uint8Array(head.length + body.length);
  content.set(head);
  content.set(body, head.length);
  return content;
}

/** Computes the HMAC-SHA256 of a message. */
export async function computeHmac(
  key: Uint8Array<ArrayBuffer>,
  message: Uint8Array<ArrayBuffer>,
): Promise<Uint8Array> {
  const imported = await crypto.subtle.importKey("raw", key, ALGORITHM, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign(ALGORITHM.name, imported, message));
}

/** Formats a `webhook-signature` with one signature. */
export function formatSignature(hmac: Uint8Array): string {
  return VERSION_PREFIX + btoa(String.fromCharCode(...hmac));
}

/**
 * Parses `webhook-signature`. Skips other versions and signatures that are not base64. Spaces
 * separate signatures, and commas separate header fields.
 */
export function parseSignatures(header: string): Uint8Array[] {
  const versioned = header.matchAll(/\bv1,([^ ,]*)/g);
  return [...versioned].flatMap(([, base64 = ""]) => decodeBase64(base64) ?? []);
}

/** Compares in constant time for a given length, so that timing reveals nothing about the bytes. */
export function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  if (one.length !== other.length) return false;
  let difference = 0;
  for (const [at, byte] of one.entries()) difference |= byte ^ (other[at] as number);
  return difference === 0;
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
