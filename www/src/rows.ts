import type { PageView } from "quillgate";

export type Column = "path" | "human" | "ai" | "total";
export type Direction = "ascending" | "descending";

export interface Sorting {
  column: Column;
  direction: Direction;
}

export const COLUMNS: readonly { id: Column; label: string }[] = [
  { id: "path", label: "Path" },
  { id: "human", label: "Human" },
  { id: "ai", label: "AI" },
  { id: "total", label: "Total" },
];

/** Sorted copy. Rows without a value come last in both directions; ties are in order of path. */
export function sortRows(rows: readonly PageView[], sorting: Sorting): PageView[] {
  const { column } = sorting;
  const sign = sorting.direction === "ascending" ? 1 : -1;
  return [...rows].sort((a, b) => {
    const left = a[column];
    const right = b[column];
    if (left === right) return comparePaths(a, b);
    if (left === null) return 1;
    if (right === null) return -1;
    return left < right ? -sign : sign;
  });
}

/** Rows whose path contains every word of the query, upper and lower case alike. */
export function filterRows(rows: readonly PageView[], query: string): readonly PageView[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return rows;
  return rows.filter((row) => {
    const path = (row.path ?? "").toLowerCase();
    return words.every((word) => path.includes(word));
  });
}

/** What a click on a column's heading leads to: names start at A, counts at the most. */
export function nextSorting(current: Sorting, column: Column): Sorting {
  if (current.column !== column) {
    return { column, direction: column === "path" ? "ascending" : "descending" };
  }
  const direction = current.direction === "ascending" ? "descending" : "ascending";
  return { column, direction };
}

/** Which rows to put in the document, for rows of one height in a scrolling box. */
export function visibleSlice(
  box: { scrollTop: number; height: number },
  rowHeight: number,
  count: number,
): { start: number; end: number } {
  const spare = 12;
  const first = Math.floor(box.scrollTop / rowHeight) - spare;
  const start = Math.max(0, Math.min(first, count - 1));
  const shown = Math.ceil(box.height / rowHeight) + 2 * spare;
  return { start, end: Math.min(count, start + shown) };
}

/** How many rows repeat a path that came before: a sign that the list moved while it was read. */
export function repeatedPaths(rows: readonly PageView[]): number {
  return rows.length - new Set(rows.map((row) => row.path)).size;
}

function comparePaths(a: PageView, b: PageView): number {
  const left = a.path ?? "";
  const right = b.path ?? "";
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
