import type { Column, ReportRow } from "./report.ts";
import { countOf, numberOf } from "./rows.ts";

/** Rows as far as they are loaded. */
export interface Loaded {
  rows: readonly ReportRow[];
  isComplete: boolean;
}

/**
 * The rows of now with what they had before, `earlier`, and the difference, `change`. Both are null
 * where the earlier row may be among those that are not loaded. Rows that exist only earlier are
 * there with nothing counted, once it is certain that they are gone.
 */
export function compareRows(
  now: Loaded,
  earlier: Loaded,
  { key, main }: { key: Column; main: Column },
): ReportRow[] {
  const places = new Map(earlier.rows.map((row, place) => [row[key], place]));
  const isHere = new Uint8Array(earlier.rows.length);
  const compared = now.rows.map((row): ReportRow => {
    const place = places.get(row[key]);
    if (place !== undefined) isHere[place] = 1;
    const match = place === undefined ? undefined : earlier.rows[place];
    const count = match ? countOf(match[main]) : earlier.isComplete ? 0 : null;
    const now = countOf(row[main]);
    return withChange(row, count, count === null || now === null ? null : now - count);
  });
  if (!now.isComplete) return compared;
  for (const place of places.values()) {
    const row = earlier.rows[place];
    if (row && isHere[place] === 0) compared.push(goneRow(row, key, main));
  }
  return compared;
}

/** Whether a row was counted only in the earlier period. */
export function isGone(row: ReportRow, main: Column): boolean {
  return row[main] === 0 && typeof row.earlier === "number" && row.earlier > 0;
}

/** To spread a row takes twenty times as long, which shows with thousands of pages. */
function withChange(row: ReportRow, earlier: number | null, change: number | null): ReportRow {
  if (row.path === undefined) return { ...row, earlier, change };
  const { path, human = null, ai = null, total = null, share = null } = row;
  return { path, human, ai, total, share, earlier, change };
}

function goneRow(row: ReportRow, key: Column, main: Column): ReportRow {
  const count = numberOf(row[main]);
  const counts = main === "total" ? { human: 0, ai: 0, share: null } : {};
  return { [key]: row[key] ?? null, ...counts, [main]: 0, earlier: count, change: -count };
}
