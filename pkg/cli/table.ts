/** Formats tables, fields and numbers for people. Replaces control characters in strings. */

import { writeLink } from "./terminal.js";

export type Cell = string | number | boolean | null | undefined;

export interface Column<Row> {
  head: string;
  value(row: Row): Cell;
  /** The URL that the value links to, if the terminal supports hyperlinks. */
  link?(row: Row): string | null;
  /** The text to show instead of a linked URL. */
  label?(row: Row): Cell;
  /** Whether to show values in full even if the line becomes too long. @default false */
  isWhole?: boolean;
  /** Whether numbers are percentages from 0 to 100. @default false */
  isPercentage?: boolean;
}

/** The features of the terminal or file that receives a table. */
export interface TableOptions {
  /** Maximum number of characters per line. @default unlimited */
  width?: number | undefined;
  /** Whether to write hyperlinks. @default false */
  hasLinks?: boolean;
}

/** The minimum width of a truncated column, in characters. */
const MIN_TEXT = 12;
const GAP = "  ";

/** Formats a table. Truncates values that do not fit, except numbers and columns with `isWhole`. */
export function writeTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { width = Number.POSITIVE_INFINITY, hasLinks = false }: TableOptions = {},
): string {
  const values = rows.map((row) =>
    columns.map(({ value, label }) => (hasLinks && label ? label(row) : value(row))),
  );
  const links = rows.map((row) => columns.map(({ link }) => (hasLinks && link?.(row)) || null));
  const cells = values.map((row) =>
    row.map((value, at) =>
      columns[at]?.isPercentage && typeof value === "number"
        ? writePercentage(value)
        : writeCell(value),
    ),
  );
  const heads = columns.map(({ head }) => head);
  const isNumber = columns.map((_, at) => {
    const known = values.map((row) => row[at]).filter((value) => value != null);
    return known.length > 0 && known.every((value) => typeof value === "number");
  });
  const widths = heads.map((head, at) =>
    Math.max(...[head, ...cells.map((row) => row[at] as string)].map(countCharacters)),
  );
  const isWhole = columns.map((column, at) => column.isWhole === true || isNumber[at] === true);
  shrink(widths, isWhole, width);
  const lines = [heads, ...cells].map((row, line) =>
    row
      .map((cell, at) => {
        const text = fit(cell, widths[at] as number, isNumber[at] === true);
        const link = links[line - 1]?.[at] ?? null;
        return link === null ? text : text.replace(cell, (shown) => writeLink(shown, link));
      })
      .join(GAP)
      .trimEnd(),
  );
  return lines.map((line) => `${line}\n`).join("");
}

function sumWidths(widths: readonly number[]): number {
  return widths.reduce((all, one) => all + one, GAP.length * (widths.length - 1));
}

/** Narrows the widest columns until a line fits, or until none can be narrowed further. */
function shrink(widths: number[], isWhole: readonly boolean[], width: number): void {
  for (;;) {
    const sum = sumWidths(widths);
    const texts = widths.filter((_, at) => !isWhole[at]);
    const widest = Math.max(...texts);
    if (sum <= width || texts.length === 0 || widest <= MIN_TEXT) return;
    const at = widths.findIndex((one, index) => one === widest && !isWhole[index]);
    widths[at] = Math.max(MIN_TEXT, widest - (sum - width));
  }
}

function fit(cell: string, width: number, toTheRight: boolean): string {
  const count = countCharacters(cell);
  if (count > width) return `${[...cell].slice(0, width - 1).join("")}…`;
  const space = " ".repeat(width - count);
  return toTheRight ? space + cell : cell + space;
}

function writeCell(value: Cell): string {
  if (value === null || value === undefined) return "-";
  return typeof value === "number" ? writeNumber(value) : toLine(String(value));
}

function countCharacters(text: string): number {
  return [...text].length;
}

/** Formats a percentage with at most one decimal. */
function writePercentage(value: number): string {
  return `${value.toLocaleString("en-US", { maximumFractionDigits: 1 })}%`;
}

/** Formats a number with commas between thousands. */
export function writeNumber(value: number): string {
  return value.toLocaleString("en-US");
}

/**
 * Replaces characters that change the direction of writing, and control characters other than line
 * feeds.
 *
 * Otherwise a terminal would execute escape sequences in a server's strings.
 */
export function replaceControls(text: string, by = "\uFFFD"): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: this replaces them.
  return text.replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, by);
}

/** Escapes characters that `JSON.stringify` leaves unescaped but a terminal interprets. */
export function escapeControls(json: string): string {
  return json.replace(
    /[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Returns a server's string as one line, without control characters. */
export function toLine(text: string): string {
  return replaceControls(text.replaceAll("\n", " "), " ");
}

/** Formats names and values, one pair per line. */
export function writeFields(
  fields: readonly (readonly [string, string | number | null])[],
): string {
  const width = Math.max(...fields.map(([name]) => name.length));
  return fields.map(([name, value]) => `${name.padEnd(width)}  ${showValue(value)}\n`).join("");
}

/** Formats a value for people: `-` for `null`. */
export function showValue(value: string | number | null): string {
  if (value === null) return "-";
  return typeof value === "number" ? writeNumber(value) : toLine(value);
}
