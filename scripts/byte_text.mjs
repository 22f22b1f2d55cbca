/**
 * Writes bytes as text that stands in a JavaScript string as it is, and that compresses nearly as
 * well as the bytes do: every byte has one place of its own, in the order of the bytes, where base64
 * spreads it over two. `pkg/src/byte_text.ts` reads it.
 *
 * A byte below 90 is one character. Any other is two, the first of which says from where on the
 * second counts: from 90 or from 182.
 *
 * @param {Uint8Array} bytes
 * @returns {string} characters from `!` to `~`, without the quotation mark and the backslash
 */
export function encodeBytes(bytes) {
  let text = "";
  for (const byte of bytes) {
    if (byte < ALONE) {
      text += character(byte);
    } else {
      const beyond = byte - ALONE;
      text += character(ALONE + Math.trunc(beyond / DIGITS)) + character(beyond % DIGITS);
    }
  }
  return text;
}

/** How many bytes have a character to themselves. */
const ALONE = 90;
/** How many characters there are. */
const DIGITS = 92;
const FIRST = "#".charCodeAt(0);

function character(digit) {
  const written = String.fromCharCode(FIRST + digit);
  return written === "\\" ? "!" : written;
}
