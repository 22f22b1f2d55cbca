import { toPageId } from "./page_path.ts";
import type { Column, ReportRow } from "./report.ts";
import { countOf, groupByPage, numberOf } from "./rows.ts";

/** The rows loaded so far. */
export interface Loaded {
  rows: readonly ReportRow[];
  isComplete: boolean;
}

/** The column that identifies a row, and the one whose counts are compared. */
interface ComparedColumns {
  key: Column;
  compared: Column;
}

/**
 * Adds the earlier count (`earlier`) and the difference (`change`) to current rows. Both are null
 * while the earlier row may not be loaded yet. An unknown count also makes the difference null.
 * Rows that exist only in the earlier period are added with zero counts once all current rows are
 * loaded.
 */
export function compareRows(
  now: Loaded,
  earlier: Loaded,
  { key, compared: column }: ComparedColumns,
): ReportRow[] {
  const { matches, gone } = pairRows(now.rows, earlier.rows, key);
  const rows = now.rows.map((row, at): ReportRow => {
    const match = matches[at];
    const count = match ? countOf(match[column]) : earlier.isComplete ? 0 : null;
    const now = countOf(row[column]);
    return withChange(row, count, count === null || now === null ? null : now - count);
  });
  if (!now.isComplete) return rows;
  for (const row of gone) rows.push(goneRow(row, key, column));
  return rows;
}
interface Pairs {
  /** The earlier row of each current row. */
  matches: (ReportRow | undefined)[];
  /** The other earlier rows. */
  gone: Set<ReportRow>;
}

function pairRows(now: readonly ReportRow[], earlier: readonly ReportRow[], key: Column): Pairs {
  const byKey = new Map(earlier.map((row) => [row[key], row]));
  const matches = now.map((row) => byKey.get(row[key]));
  const gone = new Set(byKey.values());
  for (const match of matches) if (match !== undefined) gone.delete(match);
  if (key === "path") pairSpellings(now, { matches, gone });
  return { matches, gone };
}

/** Pairs the other rows by page: a site may add or drop the final slash of all its paths. */
function pairSpellings(now: readonly ReportRow[], { matches, gone }: Pairs): void {
  const others = groupByPage(gone);
  if (others.size === 0) return;
  for (const [at, { path }] of now.entries()) {
    if (matches[at] !== undefined || typeof path !== "string") continue;
    const match = others.get(toPageId(path))?.shift();
    if (match === undefined) continue;
    matches[at] = match;
    gone.delete(match);
  }
}

/** Returns whether a row has counts in the earlier period only. */
export function isGone(row: ReportRow, main: Column): boolean {
  return row[main] === 0 && typeof row.earlier === "number" && row.earlier > 0;
}

/**
 * Copies the properties of a row of views or visitors one by one: spreading is 20 times slower,
 * which is noticeable with thousands of pages. Other rows are spread.
 */
function withChange(row: ReportRow, earlier: number | null, change: number | null): ReportRow {
  if (row.human === undefined) return { ...row, earlier, change };
  const { path = null, human = null, ai = null, total = null, share = null } = row;
  return { path, human, ai, total, share, earlier, change };
}

function goneRow(row: ReportRow, key: Column, column: Column): ReportRow {
  const count = numberOf(row[column]);
  const ratings = row.up === undefined ? { human: 0, ai: 0 } : { up: 0, down: 0, code: 0 };
  const counts = key === "path" ? { ...ratings, total: 0, share: null } : { [column]: 0 };
  return { [key]: row[key] ?? null, ...counts, earlier: count, change: 0 - count };
}
