import { isGone } from "./comparison.ts";
import { type Column, type ReportRow, shareOf } from "./report.ts";
import { numberOf } from "./rows.ts";

/** What rows have together. */
export interface Sums {
  /** Those that were counted now: what is gone since the earlier period is none of them. */
  rows: number;
  human: number;
  ai: number;
  total: number;
}

export function sumRows(rows: readonly ReportRow[], main: Column): Sums {
  let [human, ai, total, gone] = [0, 0, 0, 0];
  for (const row of rows) {
    if (isGone(row, main)) gone += 1;
    human += numberOf(row.human);
    ai += numberOf(row.ai);
    total += numberOf(row[main]);
  }
  return { rows: rows.length - gone, human, ai, total };
}

/** What a list can still have beyond the rows that are loaded. */
export interface Remainder {
  /** The most rows that can be missing; null when nothing is known of them. */
  rows: number | null;
  /** The most requests that these take. */
  requests: number | null;
}

/**
 * Every row has at least one view, so that there are no more rows left than views. The platform
 * says nothing of how many rows there are.
 */
export function remainderOf(
  whole: number | null,
  rows: readonly ReportRow[],
  main: Column,
  pageSize: number,
): Remainder {
  if (whole === null) return { rows: null, requests: null };
  const left = Math.max(0, whole - sumRows(rows, main).total);
  // Counts may have changed since the total was read: what goes on has one request at least.
  return { rows: left, requests: Math.max(1, Math.ceil(left / pageSize)) };
}

/** How two counts differ. */
export interface Change {
  difference: number;
  /** As a part of the earlier count; null when that was zero. */
  part: number | null;
}

/** Smaller changes are ordinary variation and have no colour. */
const NOTABLE_PART = 0.1;

/** Returns a CSS class for a change beyond ±10 %, or an empty string. */
export function toneOf({ difference, part }: Change): "rise" | "fall" | "" {
  if (difference === 0 || (part !== null && Math.abs(part) <= NOTABLE_PART)) return "";
  return difference > 0 ? "rise" : "fall";
}

export function changeOf(count: number | null, earlier: number | null): Change | null {
  if (count === null || earlier === null) return null;
  const difference = count - earlier;
  return { difference, part: shareOf(difference, earlier) };
}
