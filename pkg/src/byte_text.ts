/** Decodes the strings of `scripts/byte_text.mjs`. Its comments describe the format. */

/** Bytes below this number are encoded as one character. */
const ONE_CHARACTER_BYTES = 90;
/** The size of the alphabet. */
const DIGITS = 92;
/** The first character of the alphabet. */
const FIRST = 35;
const BACKSLASH = 92;
/** The character that replaces the backslash, which would need an escape. */
const EXCLAMATION_MARK = 33;

/** Returns the bytes of an encoded string. */
export function decodeBytes(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length);
  let length = 0;
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const digit = (code === EXCLAMATION_MARK ? BACKSLASH : code) - FIRST;
    if (from === 0 && digit >= ONE_CHARACTER_BYTES) {
      from = ONE_CHARACTER_BYTES + (digit - ONE_CHARACTER_BYTES) * DIGITS;
    } else {
      bytes[length++] = from + digit;
      from = 0;
    }
  }
  return bytes.subarray(0, length);
}
