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

let segmenter: Intl.Segmenter | undefined;

/** Returns the start of a string, at most `max` UTF-16 units, without cutting through a grapheme. */
export function startOf(text: string, max: number): string {
  if (text.length <= max) return text;
  segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  const end = segmenter.segment(text).containing(max)?.index ?? max;
  if (max - end <= MAX_GRAPHEME) return text.slice(0, end);
  return text.slice(0, max).replace(/[\ud800-\udbff]$/, "");
}

/** Replaces halves of surrogate pairs, which are not text: the gateway rejects them. */
export function replaceHalves(text: string): string {
  return text.replace(/\p{Cs}/gu, "\ufffd");
}
