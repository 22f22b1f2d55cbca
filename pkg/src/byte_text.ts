/** Decodes the strings of `scripts/byte_text.mjs`. Its comments describe the format. */

const ALONE = 90;
const DIGITS = 92;
const FIRST = 35;
const BACKSLASH = 92;
const IN_ITS_PLACE = 33;

/** Returns the bytes of an encoded string. */
export function decodeBytes(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length);
  let length = 0;
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const digit = (code === IN_ITS_PLACE ? BACKSLASH : code) - FIRST;
    if (from === 0 && digit >= ALONE) {
      from = ALONE + (digit - ALONE) * DIGITS;
    } else {
      bytes[length++] = from + digit;
      from = 0;
    }
  }
  return bytes.subarray(0, length);
}
