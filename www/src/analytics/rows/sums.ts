import { isGone } from "./comparison.ts";
import { type Column, type ReportRow, shareOf } from "./report.ts";
import { numberOf } from "./rows.ts";

/** The sums of a list of rows. */
export interface Sums {
  /** The number of rows in the current period. Rows that exist only earlier don't count. */
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

/** The difference between two counts. */
export interface Change {
  difference: number;
  /** The difference relative to the earlier count; null if that is 0. */
  part: number | null;
}

/** Smaller changes are normal variation and get no colour. */
const NOTABLE_PART = 0.1;

/** Returns the `data-tone` of a change from 0 or beyond ±10 %, or else an empty string. */
export function toneOf({ difference, part }: Change): "rise" | "fall" | "" {
  if (difference === 0 || (part !== null && Math.abs(part) <= NOTABLE_PART)) return "";
  return difference > 0 ? "rise" : "fall";
}

export function changeOf(count: number | null, earlier: number | null): Change | null {
  if (count === null || earlier === null) return null;
  const difference = count - earlier;
  return { difference, part: shareOf(difference, earlier) };
}
