/** Reads, compares and formats the date ranges of reports. */

import { parseInstant } from "../instant.js";
import { type DateBounds, lastDays } from "../last_days.js";
import { type Context, readText } from "./command.js";
import { DAY_MS, HOUR_MS, SECOND_MS, toDay } from "./duration.js";
import { UsageError } from "./errors.js";

const MAX_DAYS = 3660;

/** The parameters of a report that limit its dates. `dateFrom` is inclusive, `dateTo` exclusive. */
export type DateRange = Partial<DateBounds>;

/** The period of reports without `--from`, `--to` and `--last`, as on the page. */
const DEFAULT_PERIOD = "28d";

/**
 * Returns the range that the flags select, by default the last 28 days. See {@link lastDays}.
 *
 * @param now in milliseconds since 1970
 * @throws {UsageError} if `--last` is malformed or more than 3660 days, or combined with `--from`
 *   or `--to`
 */
export function readRange(context: Pick<Context, "values">, now: number): DateRange {
  const [from, to, last] = ["from", "to", "last"].map((name) => readText(context, name));
  if (from !== undefined || to !== undefined) {
    if (last !== undefined) throw new UsageError("--last cannot be combined with --from or --to");
    return {
      ...(from === undefined ? {} : { dateFrom: from }),
      ...(to === undefined ? {} : { dateTo: to }),
    };
  }
  const [, count, unit] = /^(\d{1,4})([dw])$/.exec(last ?? DEFAULT_PERIOD) ?? [];
  const days = Number(count) * (unit === "w" ? 7 : 1);
  if (!(days >= 1 && days <= MAX_DAYS)) {
    const hint = /^\d{1,4}$/.test(last ?? "") ? `; did you mean ${last}d?` : "";
    const rule = `must be days or weeks such as 28d or 4w, at most ${MAX_DAYS}d`;
    throw new UsageError(`--last ${rule}${hint}`);
  }
  return lastDays(days, now);
}

/**
 * Returns the whole days that the flags select. By default, they end with yesterday, because the
 * archive does not hold today.
 *
 * @throws {UsageError} as for {@link readRange}, or if `--from` is missing, or if the range would
 *   begin today
 */
export function readArchivedRange(context: Pick<Context, "values">, now: number): DateBounds {
  const { dateFrom, dateTo } = readRange(context, now);
  if (dateFrom === undefined) throw new UsageError("--from is missing: the first day");
  if (readText(context, "to") !== undefined && dateTo !== undefined) return { dateFrom, dateTo };
  const [start, today] = [parseInstant(dateFrom), toDay(now)];
  if (start !== null && toDay(start) >= today) {
    throw new UsageError(
      "the archive ends with yesterday: --last 2d or more, or an earlier --from",
    );
  }
  return { dateFrom, dateTo: today };
}

/**
 * Returns the range of the same number of days before a range. If the range has not ended, the
 * result ends at the same time of day, for more than a week rounded down to an hour, as on the page.
 *
 * @throws {UsageError} if the range has no valid start
 */
export function findPreviousRange({ dateFrom, dateTo }: DateRange, now: number): DateBounds {
  const [start, end] = [parseInstant(dateFrom), dateTo === undefined ? now : parseInstant(dateTo)];
  if (start === null || end === null) throw new UsageError("a comparison needs --from or --last");
  const days = Math.max(1, Math.ceil((end - start) / DAY_MS));
  const move = (time: number, text: string | undefined) => {
    const moved = time - days * DAY_MS;
    if (text !== undefined && DAY.test(text)) return toDay(moved);
    const step = days > 7 ? HOUR_MS : SECOND_MS;
    return `${new Date(Math.floor(moved / step) * step).toISOString().slice(0, 19)}Z`;
  };
  return { dateFrom: move(start, dateFrom), dateTo: move(end, dateTo) };
}

const DAY = /^\d{4}-\d\d-\d\d$/;
const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

/**
 * Formats a range for people, with its last day: `Nov 1 – Nov 28, 2026, UTC`. Without a valid start or
 * end, names only the other.
 */
function showRange({ dateFrom, dateTo }: DateRange): string | null {
  const [start, end] = [parseInstant(dateFrom), parseInstant(dateTo)];
  // The end is exclusive, so it does not belong to a day that it starts.
  const last = end === null ? null : end - 1;
  if (start === null) return last === null ? null : `until ${showDate(last)}, UTC`;
  if (last === null) return `since ${showDate(start)}, UTC`;
  if (toDay(start) === toDay(last)) return `${showDate(start)}, UTC`;
  const first = showDate(start);
  const isSameYear = first.slice(-4) === showDate(last).slice(-4);
  return `${isSameYear ? first.slice(0, -6) : first} – ${showDate(last)}, UTC`;
}

/** Formats a range and the one that it is compared with, if any. */
export function showRanges(range: DateRange, previous: DateRange | undefined): string | null {
  const shown = showRange(range);
  return previous === undefined ? shown : `${shown}, compared with ${showRange(previous)}`;
}

/** Formats the UTC day of an instant: `Nov 28, 2026`. */
function showDate(ms: number): string {
  const date = new Date(ms);
  return `${MONTHS[date.getUTCMonth()]} ${date.getUTCDate()}, ${date.getUTCFullYear()}`;
}
