/** A part of a prompt to replace, such as `[page]`. */
export interface Blank {
  text: string;
  /** In UTF-16 units. */
  start: number;
  end: number;
}

/**
 * Square brackets around words. Without other characters next to them, because `[link](url)`,
 * `items[index]` and `/docs/[slug]` are not blanks. Nor are `[ ]`, `[x]` and `[1]`.
 */
const BLANK = /(?<![^\s(])\[(?=[^\]\n]*\p{L}\p{L})[^[\]\n]{2,100}\](?![^\s.,;:!?)])/gu;

/** Returns the blanks of a prompt. Ignores quoted lines, quotations and code. */
export function findBlanks(prompt: string): Blank[] {
  const blanks: Blank[] = [];
  let isCode = false;
  let start = 0;
  for (const line of prompt.split("\n")) {
    if (/^\s*(```|~~~)/.test(line)) isCode = !isCode;
    if (!isCode && !line.startsWith(">")) blanks.push(...blanksOfLine(line, start));
    start += line.length + 1;
  }
  return blanks;
}

function blanksOfLine(line: string, lineStart: number): Blank[] {
  return [...line.matchAll(BLANK)].flatMap(({ index, 0: text }) => {
    const before = line.slice(0, index);
    const isQuoted = before.lastIndexOf("“") > before.lastIndexOf("”");
    const isCode = before.split("`").length % 2 === 0;
    if (isQuoted || isCode) return [];
    return [{ text, start: lineStart + index, end: lineStart + index + text.length }];
  });
}

/** Focuses a textarea and selects its first blank, if any. */
export function focusFirstBlank(box: HTMLTextAreaElement | null): void {
  if (box === null) return;
  box.focus();
  const [blank] = findBlanks(box.value);
  if (blank) box.setSelectionRange(blank.start, blank.end);
}

/**
 * Selects the blank after the selection, or the one before it. Returns whether there is one, so that
 * Tab leaves the textarea after the last blank.
 */
export function selectNextBlank(
  box: HTMLTextAreaElement,
  direction: "forward" | "backward",
): boolean {
  const { value, selectionStart, selectionEnd } = box;
  const blanks = findBlanks(value);
  const next =
    direction === "forward"
      ? blanks.find(({ start }) => start >= selectionEnd)
      : blanks.findLast(({ end }) => end <= selectionStart);
  if (next === undefined) return false;
  box.setSelectionRange(next.start, next.end);
  return true;
}
