/** Parses and formats durations and date ranges. */

import { parseInstant } from "../instant.js";
import { type DateBounds, lastDays } from "../last_days.js";
import { type Context, readText } from "./command.js";
import { UsageError } from "./errors.js";

const UNITS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 };
const [DAY_MS, HOUR_MS, SECOND_MS] = [86_400_000, 3_600_000, 1000];
const MAX_DAYS = 3660;
/** The maximum delay of `setTimeout`: 2³¹ − 1 ms, or about 24.8 days. */
const MAX_DURATION_MS = 2_147_483_647;

/**
 * Parses a duration such as `90s`, `10m` or `1h`.
 *
 * @param flag the flag to name in an error
 * @param max in milliseconds
 * @returns milliseconds
 * @throws {UsageError} if the duration is malformed or exceeds the maximum
 */
export function readDuration(text: string, flag: string, max = MAX_DURATION_MS): number {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const ms = Number(count) * (UNITS[unit ?? ""] ?? Number.NaN) * 1000;
  if (!(ms >= 0)) throw new UsageError(`${flag} must be a duration such as 90s, 10m or 1h`);
  if (ms > max) throw new UsageError(`${flag} is at most ${showDuration(max)}`);
  return ms;
}

/**
 * Parses a number of rows, from 1 to 999,999,999.
 *
 * @throws {UsageError} if the number is malformed or out of range
 */
export function readCount(text: string, flag: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) {
    throw new UsageError(`${flag} must be a whole number of at least 1`);
  }
  return Number(text);
}

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
 * @throws {UsageError} as for {@link readRange}, or if `--from` is missing
 */
export function readArchivedRange(context: Pick<Context, "values">, now: number): DateBounds {
  const { dateFrom, dateTo } = readRange(context, now);
  if (dateFrom === undefined) throw new UsageError("--from is missing: the first day");
  const isTyped = readText(context, "to") !== undefined;
  return { dateFrom, dateTo: isTyped && dateTo !== undefined ? dateTo : toDay(now) };
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

/** Formats the UTC day of an instant as `YYYY-MM-DD`. */
function toDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** Formats a waiting time, rounded up: `90 s`, `50 min`, `3 h`. */
export function showWait(seconds: number): string {
  if (seconds < 120) return `${Math.ceil(seconds)} s`;
  return seconds < 7200 ? `${Math.ceil(seconds / 60)} min` : `${Math.ceil(seconds / 3600)} h`;
}

/** The units of a relative time in milliseconds, largest first. */
const RELATIVE_UNITS = [
  ["day", DAY_MS],
  ["hour", HOUR_MS],
  ["minute", 60_000],
  ["second", SECOND_MS],
] as const;
/** Instants at least this far away are formatted as dates. */
const MAX_RELATIVE_MS = 30 * DAY_MS;

/**
 * Formats an instant relative to now, such as `5 minutes ago`, or as a UTC date if it is at least
 * 30 days away.
 *
 * @param time an ISO 8601 date-time; another string is returned unchanged
 * @param now in milliseconds since 1970
 */
export function showRelativeTime(time: string, now: number): string {
  const instant = parseInstant(time);
  if (instant === null) return time;
  const passed = now - instant;
  if (Math.abs(passed) >= MAX_RELATIVE_MS) return toDay(instant);
  const [unit, length] =
    RELATIVE_UNITS.find(([, ms]) => Math.abs(passed) >= ms) ?? (["second", 1000] as const);
  const format = new Intl.RelativeTimeFormat("en");
  return format.format(-Math.trunc(passed / length), unit);
}

/** Formats a duration in milliseconds, rounded up to seconds: `0:42`, `12:03`, `1:00:00`. */
export function showDuration(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const shown = parts[0] === 0 ? parts.slice(1) : parts;
  return shown
    .map((part, at) => (at === 0 ? String(part) : String(part).padStart(2, "0")))
    .join(":");
}
