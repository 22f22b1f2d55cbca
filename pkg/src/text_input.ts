/** Decodes text that people write, such as prompts and settings. */

/** The decoded text, or a phrase that completes a sentence such as `prompt.md …`. */
export type DecodedText = { text: string } | { fault: string };

/**
 * Decodes UTF-8, or UTF-16 with a byte order mark. Removes the mark.
 *
 * Rejects other encodings, because a lossy decoder would replace their letters, and NUL characters.
 */
export function decodeText(bytes: Uint8Array): DecodedText {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return decodeUtf16(bytes, true);
  if (first === 0xfe && second === 0xff) return decodeUtf16(bytes, false);
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  const invalid = findInvalidByte(bytes, new TextEncoder().encode(text));
  const nul = bytes.indexOf(0);
  if (nul >= 0 && (invalid === undefined || nul < invalid)) {
    return { fault: `contains a NUL byte at offset ${nul}: save it as UTF-8` };
  }
  if (invalid !== undefined) return { fault: describeInvalidByte("UTF-8", invalid) };
  return { text: text.replace(/^\ufeff/, "") };
}

/** Compares the bytes with those of the decoded text, where U+FFFD replaces invalid bytes. */
function findInvalidByte(bytes: Uint8Array, again: Uint8Array): number | undefined {
  let at = again.findIndex((byte, index) => byte !== bytes[index]);
  if (at < 0) return undefined;
  // The difference can be in the middle of U+FFFD, which starts like other characters.
  while (((again[at] ?? 0) & 0xc0) === 0x80) at -= 1;
  return at;
}

function decodeUtf16(bytes: Uint8Array, isLittleEndian: boolean): DecodedText {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let text = "";
  for (let at = 2; at + 1 < bytes.length; at += 2) {
    text += String.fromCharCode(view.getUint16(at, isLittleEndian));
  }
  const invalid = text.search(/[\0\p{Surrogate}]/u);
  if (invalid >= 0) return { fault: describeInvalidByte("UTF-16", 2 + 2 * invalid) };
  if (bytes.length % 2 === 1) return { fault: describeInvalidByte("UTF-16", bytes.length - 1) };
  return { text };
}

function describeInvalidByte(encoding: string, offset: number): string {
  return `is not text in ${encoding}: the byte at offset ${offset} is invalid. Save it as UTF-8`;
}
