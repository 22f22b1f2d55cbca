/**
 * Encodes bytes as the content of a JavaScript string without escapes. `pkg/src/byte_text.ts`
 * decodes it. The string compresses nearly as well as the bytes, because no character encodes parts
 * of two bytes, unlike in base64. A byte below 90 becomes one character. Any other becomes two: the
 * first selects the base 90 or 182, and the second is the distance from it.
 */
export function encodeBytes(bytes) {
  let text = "";
  for (const byte of bytes) {
    if (byte < ONE_CHARACTER_BYTES) {
      text += character(byte);
    } else {
      const beyond = byte - ONE_CHARACTER_BYTES;
      text +=
        character(ONE_CHARACTER_BYTES + Math.trunc(beyond / DIGITS)) + character(beyond % DIGITS);
    }
  }
  return text;
}

/** Bytes below this value become one character. */
const ONE_CHARACTER_BYTES = 90;
/** Size of the alphabet. */
const DIGITS = 92;
const FIRST = "#".charCodeAt(0);

function character(digit) {
  const written = String.fromCharCode(FIRST + digit);
  return written === "\\" ? "!" : written;
}
