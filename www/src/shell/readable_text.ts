/** Whitespace, and characters that most fonts draw as nothing. */
const BLANK = /^[\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\u2800]*$/u;
/** The longest grapheme to keep whole, in UTF-16 units. Stacked marks can make longer ones. */
const MAX_GRAPHEME = 64;

/** Returns whether a string has no visible character. */
export function isBlank(text: string): boolean {
  return BLANK.test(text);
}

/**
 * Returns a name for a string that readers typed. A blank one is named by its characters:
 * "(blank)", or "(blank: U+0020)" for a space.
 */
export function nameOfText(text: string): string {
  if (!isBlank(text)) return text;
  const points = Array.from(text, (character) => character.codePointAt(0) ?? 0);
  if (points.length === 0) return "(blank)";
  const names = points
    .slice(0, 3)
    .map((point) => `U+${point.toString(16).toUpperCase().padStart(4, "0")}`);
  return `(blank: ${names.join(" ")}${points.length > 3 ? " …" : ""})`;
}

/**
 * Returns the same string for texts that a search should not tell apart: composed and decomposed
 * characters, full-width ones, and capitals.
 */
export function foldText(text: string): string {
  // Most paths and terms are ASCII, and a report can have thousands.
  if (/^[\x20-\x7e]*$/.test(text)) return text.toLowerCase();
  // "İ" in lower case is "i" with a dot above.
  return text.normalize("NFKC").toLowerCase().replaceAll("i\u0307", "i").normalize("NFKC");
}

/** An approximation of a grapheme, for browsers without `Intl.Segmenter`. */
const GRAPHEME =
  /\r\n|\p{RI}{2}|.(?:[\p{M}\p{Emoji_Modifier}\u{e0020}-\u{e007f}]|\u200d(?:\p{Extended_Pictographic}|$))*/gsu;

/** Returns the start of a string, at most `max` UTF-16 units, without cutting through a grapheme. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text;
  const end = lastBoundary(text, max);
  if (max - end <= MAX_GRAPHEME) return text.slice(0, end);
  return text.slice(0, max).replace(/[\ud800-\udbff]$/, "");
}

/** Returns the last position up to `max` that is between two graphemes. */
function lastBoundary(text: string, max: number): number {
  // `Intl.Segmenter` can be absent although its type is not optional.
  const { Segmenter } = Intl as Partial<typeof Intl>;
  if (Segmenter !== undefined) {
    const segments = new Segmenter("en", { granularity: "grapheme" }).segment(text);
    return segments.containing(max)?.index ?? max;
  }
  let end = 0;
  for (const { index, 0: grapheme } of text.slice(0, max + MAX_GRAPHEME).matchAll(GRAPHEME)) {
    if (index + grapheme.length > max) break;
    end = index + grapheme.length;
  }
  return end;
}

/** Replaces halves of surrogate pairs, which are not text: the gateway rejects them. */
export function replaceHalves(text: string): string {
  return text.replace(/\p{Cs}/gu, "\ufffd");
}
