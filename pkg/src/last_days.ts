const DAY_MS = 86_400_000;
const SECOND_MS = 1000;
/** The gateway's default cache lifetime for ranges that have not ended. */
const FRESHNESS_MS = 300_000;

/** A range in the notation of reports: `dateFrom` is inclusive, `dateTo` exclusive. */
export interface DateBounds {
  dateFrom: string;
  dateTo: string;
}

/**
 * Returns the last days in UTC, as the page and the command line do. Today is one of them.
 *
 * The range ends at `now`, rounded down to five minutes, the gateway's cache lifetime, so that
 * equal requests of different callers share one response. In the first five minutes of a day, it
 * ends one second after midnight.
 *
 * @param count the number of days, at least 1
 * @param now in milliseconds since 1970
 *
 * @example
 * ```ts
 * import { lastDays } from "quillgate/values";
 *
 * lastDays(28, Date.parse("2026-11-28T20:47:11Z"));
 * // { dateFrom: "2026-11-01", dateTo: "2026-11-28T20:45:00Z" }
 * ```
 */
export function lastDays(count: number, now: number = Date.now()): DateBounds {
  const today = floorTo(now, DAY_MS);
  // Rounding down to the start of the day would leave today out.
  const end = Math.max(floorTo(now, FRESHNESS_MS), today + SECOND_MS);
  const dateFrom = toText(today - (count - 1) * DAY_MS).slice(0, 10);
  return { dateFrom, dateTo: `${toText(end).slice(0, 19)}Z` };
}

function floorTo(time: number, step: number): number {
  return Math.floor(time / step) * step;
}

function toText(time: number): string {
  return new Date(time).toISOString();
}
