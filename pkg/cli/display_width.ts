/** Measures strings in the columns of a terminal. */

/** Characters that take two columns: East Asian wide and full-width ones. */
const WIDE =
  /^[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}]/u;
/** Emoji, also those that a variation selector or a second regional indicator makes one. */
const EMOJI = /^\p{Emoji_Presentation}|\ufe0f|^\p{Regional_Indicator}{2}/u;
/** Characters without a width, such as a combining mark after a line break. */
const ZERO = /^[\p{M}\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}]+$/u;
const PRINTABLE_ASCII = /^[ -~]*$/;

let segmenter: Intl.Segmenter | undefined;

/** Splits a string into the characters that a reader sees. */
function split(text: string): string[] {
  segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

function measureCharacter(character: string): number {
  if (ZERO.test(character)) return 0;
  const width = WIDE.test(character) || EMOJI.test(character) ? 2 : 1;
  // The half-width voiced marks take a column, although they combine with the character before.
  return width + (character.slice(1).match(/[\uff9e\uff9f]/g)?.length ?? 0);
}

/** Returns the number of columns that a line takes. */
export function measureWidth(line: string): number {
  if (PRINTABLE_ASCII.test(line)) return line.length;
  return split(line).reduce((sum, character) => sum + measureCharacter(character), 0);
}

/** Returns the start of a line that takes at most `width` columns, with `end` if it is shorter. */
export function truncate(line: string, width: number, end = "…"): string {
  if (measureWidth(line) <= width) return line;
  let left = width - measureWidth(end);
  let start = "";
  for (const character of split(line)) {
    left -= measureCharacter(character);
    if (left < 0) break;
    start += character;
  }
  return start + end;
}
