/** Formats tables, fields and numbers for people. Replaces control characters in strings. */

import { measureWidth, truncate } from "./display_width.js";
import { writeLink } from "./terminal.js";

export type Cell = string | number | boolean | null | undefined;

export interface Column<Row> {
  head: string;
  value(row: Row): Cell;
  /** The URL that the value links to, if the terminal supports hyperlinks. */
  link?(row: Row): string | null;
  /** Whether to show values in full even if the line becomes too long. @default false */
  isWhole?: boolean;
  /** Whether to keep the column in a narrow terminal. @default false */
  isKey?: boolean;
  /** Whether the column explains the one before it, and is dropped with it. @default false */
  isPaired?: boolean;
  /** Whether numbers are percentages from 0 to 100. @default false */
  isPercentage?: boolean;
}

/** The features of the terminal or file that receives a table. */
export interface TableOptions {
  /** Maximum number of terminal columns per line. @default unlimited */
  width?: number | undefined;
  /** Whether to write hyperlinks. @default false */
  hasLinks?: boolean;
}

/** The minimum width of a truncated column, and the one when no column is left to drop. */
const [MIN_TEXT, MIN_KEY] = [12, 4];
const GAP = "  ";

/** A column of a table and its formatted cells. */
interface Strip<Row> {
  column: Column<Row>;
  /** The head, then a cell per row. */
  cells: string[];
  isNumber: boolean;
  isWhole: boolean;
  width: number;
}

/**
 * Formats a table. See {@link layOut}.
 *
 * @public
 */
export function writeTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  options: TableOptions = {},
): string {
  return layOut(rows, columns, options).text;
}

/**
 * Formats a table. Truncates values that do not fit, except numbers and columns with `isWhole`. If
 * the lines are still too long, drops columns from the right, those with `isKey` excepted.
 *
 * @returns the table, and the heads of the dropped columns
 */
export function layOut<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { width = Number.POSITIVE_INFINITY, hasLinks = false }: TableOptions = {},
): { text: string; dropped: string[] } {
  const all = columns.map((column) => makeStrip(rows, column));
  const strips = dropUntilFit(all, width);
  shrink(strips, width, MIN_TEXT);
  shrink(strips, width, MIN_KEY);
  const lines = Array.from({ length: rows.length + 1 }, (_, line) =>
    strips
      .map(({ column, cells, isNumber, width: own }) => {
        const shown = truncate(cells[line] as string, own);
        const row = rows[line - 1];
        const link = hasLinks && row !== undefined ? (column.link?.(row) ?? null) : null;
        const space = " ".repeat(own - measureWidth(shown));
        const linked = link === null ? shown : writeLink(shown, link);
        return isNumber ? space + linked : linked + space;
      })
      .join(GAP)
      .trimEnd(),
  );
  const dropped = all
    .filter((strip) => !strips.includes(strip) && strip.column.isPaired !== true)
    .map(({ column }) => column.head);
  return { text: lines.map((line) => `${line}\n`).join(""), dropped };
}

function makeStrip<Row>(rows: readonly Row[], column: Column<Row>): Strip<Row> {
  const values = rows.map((row) => column.value(row));
  const known = values.filter((value) => value != null);
  const isNumber = known.length > 0 && known.every((value) => typeof value === "number");
  const write = (value: Cell) =>
    column.isPercentage && typeof value === "number" ? writePercentage(value) : writeCell(value);
  const cells = [column.head, ...values.map(write)];
  const width = cells.reduce((most, cell) => Math.max(most, measureWidth(cell)), 0);
  return { column, cells, isNumber, isWhole: column.isWhole === true || isNumber, width };
}

function sumWidths(widths: readonly number[]): number {
  return widths.reduce((all, one) => all + one, GAP.length * (widths.length - 1));
}

/** Drops columns until the others fit with truncated values. A long text that is whole must wrap. */
function dropUntilFit<Row>(all: readonly Strip<Row>[], width: number): Strip<Row>[] {
  const left = [...all];
  const narrow = (strip: Strip<Row>) =>
    strip.isWhole ? strip.width : Math.min(strip.width, MIN_TEXT);
  if (left.some((strip) => strip.isWhole && strip.width > width)) return left;
  while (sumWidths(left.map(narrow)) > width) {
    const at = left.map(({ column }) => column.isKey !== true).lastIndexOf(true);
    if (at === -1 || left.length === 1) break;
    const isPaired = left[at]?.column.isPaired === true;
    left.splice(isPaired ? at - 1 : at, isPaired ? 2 : 1);
  }
  return left;
}

/** Narrows the widest columns until a line fits, or until none can be narrowed further. */
function shrink<Row>(strips: readonly Strip<Row>[], width: number, min: number): void {
  for (;;) {
    const sum = sumWidths(strips.map((strip) => strip.width));
    const texts = strips.filter(({ isWhole }) => !isWhole);
    const widest = texts.reduce<Strip<Row> | undefined>(
      (most, strip) => (strip.width > (most?.width ?? 0) ? strip : most),
      undefined,
    );
    if (sum <= width || widest === undefined || widest.width <= min) return;
    widest.width = Math.max(min, widest.width - (sum - width));
  }
}

function writeCell(value: Cell): string {
  if (value === null || value === undefined) return "-";
  return typeof value === "number" ? writeNumber(value) : toLine(String(value));
}

/** Rounds a percentage. Only 0 is shown as 0%, and nothing closer to 0 than 100% as 100%. */
export function writePercentage(value: number, decimals = 1): string {
  const [size, step] = [Math.abs(value), 10 ** -decimals];
  const isTiny = size > 0 && size < step / 2;
  const shown = size < 100 ? Math.min(size, 100 - step) : size;
  const format = { maximumFractionDigits: decimals };
  const digits = (isTiny ? step : shown).toLocaleString("en-US", format);
  return `${value < 0 ? "-" : ""}${isTiny ? "<" : ""}${digits}%`;
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
