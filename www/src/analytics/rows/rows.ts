import { parseInstant } from "quillgate/values";
import { type PageId, toPageId } from "./page_path.ts";
import { parsePathFilter, parseWords } from "./path_filter.ts";
import type { Cell, Column, ReportRow } from "./report.ts";

export type Direction = "ascending" | "descending";

export interface Sorting {
  column: Column;
  direction: Direction;
}

/**
 * The columns that the first click on their heading sorts ascending. It sorts all others
 * descending.
 */
const TEXTS: readonly Column[] = [
  "path",
  "query",
  "comment",
  "clicked",
  "status",
  "source",
  "category",
  "page",
];

/** The columns with date-times. Their strings can have several formats. */
const TIMES: readonly Column[] = ["created", "searched", "asked"];

/**
 * Returns a sorted copy. Rows without a value come last in both directions. `tieBreak` orders equal
 * rows; with `null`, they keep their order.
 * Sorts indices, and numbers where possible: with thousands of rows, this is twice as fast.
 */
export function sortRows<Row extends ReportRow>(
  rows: readonly Row[],
  { column, direction }: Sorting,
  tieBreak: Column | null = "path",
): Row[] {
  const ranks = tieBreak === null ? null : ranksOf(rows, tieBreak);
  const byRank = (a: number, b: number) =>
    ranks === null ? a - b : (ranks[a] ?? 0) - (ranks[b] ?? 0);
  const sign = direction === "ascending" ? 1 : -1;
  const isTime = TIMES.includes(column);
  const cells = rows.map((row) => {
    const cell = row[column] ?? null;
    return isTime ? parseInstant(textOf(cell)) : cell;
  });
  const places = [...cells.keys()];
  const known = places.filter((place) => cells[place] !== null);
  const unknown = places.filter((place) => cells[place] === null);
  if (column === tieBreak) known.sort((a, b) => sign * byRank(a, b));
  else known.sort((a, b) => sign * compareCells(cells[a], cells[b]) || byRank(a, b));
  return [...known, ...unknown.sort(byRank)].map((place) => rows[place] as Row);
}

const ranked = new WeakMap<readonly ReportRow[], { key: Column; ranks: Uint32Array }>();

/** Returns each row's rank in the order of a column, to break ties. */
function ranksOf(rows: readonly ReportRow[], key: Column): Uint32Array {
  const before = ranked.get(rows);
  if (before?.key === key) return before.ranks;
  const names = rows.map((row) => textOf(row[key]) ?? "");
  const order = [...names.keys()].sort((a, b) => compareCells(names[a], names[b]) || a - b);
  const ranks = new Uint32Array(rows.length);
  for (const [rank, place] of order.entries()) ranks[place] = rank;
  ranked.set(rows, { key, ranks });
  return ranks;
}

/** Returns the matching rows. Queries match by words; other keys use {@link parsePathFilter}. */
export function filterRows<Row extends ReportRow>(
  rows: readonly Row[],
  query: string,
  key: Column = "path",
): readonly Row[] {
  const filter = key === "query" ? parseWords(query) : parsePathFilter(query);
  if (filter.kind === "everything") return rows;
  return rows.filter((row) => filter.matches(textOf(row[key])));
}

/** Returns the order after a click on a column heading. */
export function nextSorting(current: Sorting, column: Column): Sorting {
  if (current.column !== column) {
    return { column, direction: TEXTS.includes(column) ? "ascending" : "descending" };
  }
  const direction = current.direction === "ascending" ? "descending" : "ascending";
  return { column, direction };
}

/** Row indices from `start` (inclusive) to `end` (exclusive). */
export interface Slice {
  start: number;
  end: number;
}

/** Rows to render above the window, and below it. */
export const SPARE_ROWS = 12;

/** Returns the rows to render: those in the window, plus some above and below. */
export function visibleSlice(
  box: { scrollTop: number; height: number },
  rowHeight: number,
  count: number,
): Slice {
  const shown = Math.ceil(box.height / rowHeight) + 2 * SPARE_ROWS;
  const first = Math.floor(box.scrollTop / rowHeight) - SPARE_ROWS;
  // If the list became shorter than the scroll position, show its end.
  const start = Math.max(0, Math.min(first, count - shown));
  return { start, end: Math.min(count, first + shown) };
}

/**
 * Returns two slices in order, or one slice if no row is between them. Leaves out an empty first
 * slice.
 */
export function joinSlices(first: Slice, second: Slice): Slice[] {
  if (first.end >= second.start) {
    return [{ start: first.start, end: Math.max(first.end, second.end) }];
  }
  return first.end > first.start ? [first, second] : [second];
}

/** Returns the number of repeated paths. A repetition means the list changed during loading. */
export function repeatedPaths(rows: readonly ReportRow[]): number {
  return rows.length - new Set(rows.map((row) => row.path)).size;
}

/** Groups rows by a key. Leaves out rows without one. */
export function groupRows<Key>(
  rows: Iterable<ReportRow>,
  keyOf: (row: ReportRow) => Key | null,
): Map<Key, ReportRow[]> {
  const groups = new Map<Key, ReportRow[]>();
  for (const row of rows) {
    const key = keyOf(row);
    if (key === null) continue;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return groups;
}

/** Groups rows by page. Leaves out rows without a path. */
export function groupByPage(rows: Iterable<ReportRow>): Map<PageId, ReportRow[]> {
  return groupRows(rows, ({ path }) => (typeof path === "string" ? toPageId(path) : null));
}

/** Returns the largest absolute value of a column; 0 if it has no numbers. */
export function mostOf(rows: readonly ReportRow[], column: Column): number {
  return rows.reduce((most, row) => Math.max(most, Math.abs(numberOf(row[column]))), 0);
}

export function numberOf(cell: Cell | undefined): number {
  return typeof cell === "number" ? cell : 0;
}

/** Returns a count; null if it is unknown, which differs from zero. */
export function countOf(cell: Cell | undefined): number | null {
  return typeof cell === "number" ? cell : null;
}

export function textOf(cell: Cell | undefined): string | null {
  return typeof cell === "string" ? cell : null;
}

function compareCells(a: Cell | undefined, b: Cell | undefined): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (a === b) return 0;
  return (a ?? "") < (b ?? "") ? -1 : 1;
}
