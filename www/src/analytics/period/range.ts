import { DAY_MS, HOUR_MS } from "../../shell/durations.ts";
import { utcAxisDay, utcClock, utcDay, utcDays } from "../../shell/wording.ts";
import {
  type Comparison,
  type Day,
  dayOf,
  isDay,
  type PresetId,
  startOf,
} from "./address_words.ts";

/** A range of whole days, both ends included. */
export interface DayRange {
  from: Day;
  to: Day;
}

/** The range in the API's notation. `dateTo` is exclusive. */
export interface Bounds {
  dateFrom: string;
  dateTo: string;
  /**
   * The instant at which a running range is cut off, in milliseconds since the epoch; null for
   * other ranges.
   */
  frozenAt: number | null;
}

/** The period in the address. A preset moves with the calendar. */
export type Period = PresetId | DayRange;

export const PRESETS: readonly { id: PresetId; label: string; key: string }[] = [
  { id: "today", label: "Today", key: "d" },
  { id: "yesterday", label: "Yesterday", key: "e" },
  { id: "last-7-days", label: "Last 7 days", key: "w" },
  { id: "last-28-days", label: "Last 28 days", key: "f" },
  { id: "last-30-days", label: "Last 30 days", key: "t" },
  { id: "last-90-days", label: "Last 90 days", key: "q" },
  { id: "this-month", label: "This month", key: "m" },
  { id: "last-month", label: "Last month", key: "p" },
  { id: "last-12-months", label: "Last 12 months", key: "y" },
];

export const COMPARISONS: readonly { id: Comparison; label: string }[] = [
  { id: "none", label: "No comparison" },
  { id: "previous-period", label: "Previous period" },
  { id: "previous-year", label: "Previous year" },
];

const SECOND_MS = 1000;
const WEEK = 7;
/** 52 weeks, so that weekdays match. */
const WEEKS_OF_A_YEAR = 364;
/** The gateway's default cache lifetime for running ranges. */
export const DEFAULT_FRESHNESS_MS = 300_000;

export function addDays(day: Day, count: number): Day {
  return dayOf(startOf(day) + count * DAY_MS);
}

export function countDays({ from, to }: DayRange): number {
  return Math.round((startOf(to) - startOf(from)) / DAY_MS) + 1;
}

/** Returns the days of a preset. They end with `today` unless the preset says otherwise. */
export function presetRange(id: PresetId, today: Day): DayRange {
  const lastDays = (count: number) => ({ from: addDays(today, 1 - count), to: today });
  switch (id) {
    case "today":
      return lastDays(1);
    case "yesterday":
      return { from: addDays(today, -1), to: addDays(today, -1) };
    case "last-7-days":
      return lastDays(7);
    case "last-28-days":
      return lastDays(28);
    case "last-30-days":
      return lastDays(30);
    case "last-90-days":
      return lastDays(90);
    case "this-month":
      return { from: firstOfMonth(today), to: today };
    case "last-month":
      return monthOf(addDays(firstOfMonth(today), -1));
    case "last-12-months":
      return { from: addDays(addMonths(today, -12), 1), to: today };
  }
}

/** Returns the days of a period, without days in the future. */
export function rangeOf(period: Period, today: Day): DayRange {
  if (typeof period === "string") return presetRange(period, today);
  const { from, to } = period;
  return { from: from < today ? from : today, to: to < today ? to : today };
}

/**
 * Returns the preset with the same days, or else the days. On some days, this month equals a
 * preset such as the last 28 days. `before` decides between the two.
 */
export function periodOf(range: DayRange, today: Day, before: Period): Period {
  const same = PRESETS.filter(({ id }) => isSameRange(presetRange(id, today), range));
  const isMonthBefore = isMonth(before, today);
  const preset = same.find(({ id }) => isMonth(id, today) === isMonthBefore) ?? same[0];
  return preset?.id ?? { from: range.from, to: range.to };
}

export function isSameRange(a: DayRange, b: DayRange): boolean {
  return a.from === b.from && a.to === b.to;
}

/**
 * Returns the next or previous month if the period is a month, or else the next or previous range
 * of the same length. Returns null if that range would start after today or before 1970.
 */
export function stepRange(period: Period, step: -1 | 1, today: Day): DayRange | null {
  const range = rangeOf(period, today);
  const next = isMonth(period, today)
    ? monthOf(addMonths(range.from, step))
    : moveRange(range, step * countDays(range));
  if (next.from > today || !isDay(next.from)) return null;
  if (next.to <= today) return next;
  // The current month starts on the 1st. Other ranges keep their length.
  return isMonth(period, today) ? { from: next.from, to: today } : endAt(next, today);
}

/** Returns the range of the comparison; null for no comparison. */
export function findEarlierRange(
  period: Period,
  comparison: Comparison,
  today: Day,
): DayRange | null {
  const range = rangeOf(period, today);
  const count = countDays(range);
  switch (comparison) {
    case "none":
      return null;
    case "previous-period":
      if (isMonth(period, today)) return earlierMonth(range, -1, today);
      // Sites have fewer visitors on weekends, so weekdays must match.
      return moveRange(range, count === 1 ? -WEEK : -count);
    case "previous-year":
      if (isMonth(period, today)) return earlierMonth(range, -12, today);
      return moveRange(range, -Math.max(WEEKS_OF_A_YEAR, count));
  }
}

/**
 * Returns the days to draw below those of `range`: the days of `earlier`, moved by at most three
 * days, so that weekdays match.
 */
export function alignWeekdays(earlier: DayRange, range: DayRange): DayRange {
  const rest = (countDays({ from: earlier.from, to: range.from }) - 1) % WEEK;
  const from = addDays(earlier.from, rest > WEEK / 2 ? rest - WEEK : rest);
  return { from, to: addDays(from, countDays(range) - 1) };
}

/** Returns whether a period is a whole month or the elapsed part of the current one. */
function isMonth(period: Period, today: Day): boolean {
  if (typeof period === "string") return period === "this-month" || period === "last-month";
  const { from, to } = rangeOf(period, today);
  const month = monthOf(from);
  // The first of a month is a day, not a month.
  if (from === to) return false;
  return from === month.from && (to === month.to || (to === today && today < month.to));
}

/** Returns an earlier month. For an unfinished month, returns at most the same number of days. */
function earlierMonth({ from, to }: DayRange, months: number, today: Day): DayRange {
  const month = monthOf(addMonths(from, months));
  if (to < today && to === monthOf(from).to) return month;
  const end = addDays(month.from, countDays({ from, to }) - 1);
  return { from: month.from, to: end < month.to ? end : month.to };
}

function moveRange({ from, to }: DayRange, days: number): DayRange {
  return { from: addDays(from, days), to: addDays(to, days) };
}

function endAt(range: DayRange, to: Day): DayRange {
  return { from: addDays(to, 1 - countDays(range)), to };
}

function firstOfMonth(day: Day): Day {
  return `${day.slice(0, 8)}01`;
}

function monthOf(day: Day): DayRange {
  const from = firstOfMonth(day);
  return { from, to: addDays(addMonths(from, 1), -1) };
}

/** Returns the same day of another month, or the last day of a shorter month. */
function addMonths(day: Day, months: number): Day {
  const [year = 0, month = 1, date = 1] = day.split("-").map(Number);
  const last = new Date(Date.UTC(year, month + months, 0)).getUTCDate();
  return dayOf(Date.UTC(year, month - 1 + months, Math.min(date, last)));
}

/**
 * Returns the bounds to request. A running range ends at `now`, rounded down to a multiple of the
 * gateway's cache lifetime. All callers within that time request the same bounds, so only the first
 * request reaches Mintlify.
 */
export function boundsOf(range: DayRange, now: number, freshness = DEFAULT_FRESHNESS_MS): Bounds {
  const end = addDays(range.to, 1);
  const lastDay = startOf(range.to);
  const running = lastDay <= now && now < startOf(end);
  if (!running) return { dateFrom: range.from, dateTo: end, frozenAt: null };
  // Rounding down to the start of the day would leave the day out.
  const frozenAt = Math.max(floorTo(now, freshness), lastDay + SECOND_MS);
  return { dateFrom: range.from, dateTo: instantOf(frozenAt), frozenAt };
}

/** Returns the bounds of an earlier range, with as much time cut off its end as off `range`. */
export function findEarlierBounds(earlier: DayRange, range: DayRange, bounds: Bounds): Bounds {
  const whole = { dateFrom: earlier.from, dateTo: addDays(earlier.to, 1), frozenAt: null };
  // A shorter month has no day that corresponds to the running one.
  if (bounds.frozenAt === null || countDays(earlier) < countDays(range)) return whole;
  const left = startOf(addDays(range.to, 1)) - bounds.frozenAt;
  // Beyond seven days, a difference of less than an hour is not worth another request.
  const step = countDays(range) > 7 ? HOUR_MS : 1;
  const end = floorTo(startOf(whole.dateTo) - left, step);
  // `earlier` already excludes days that `range` has not reached.
  if (left > DAY_MS || end <= startOf(earlier.from)) return whole;
  return { ...whole, dateTo: instantOf(end) };
}

function floorTo(time: number, step: number): number {
  return Math.floor(time / step) * step;
}

function instantOf(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19)}Z`;
}

export function shortDay(day: Day): string {
  return utcDay(startOf(day));
}

/** Formats a day without its year, for the axis. */
export function axisDay(day: Day): string {
  return utcAxisDay(startOf(day));
}

/** Returns "Oct 26 – Nov 22, 2026". */
export function rangeLabel({ from, to }: DayRange): string {
  return from === to ? shortDay(from) : utcDays(startOf(from), startOf(to));
}

/**
 * Returns "Oct 28 – Nov 24, 2026 UTC · updated 5:30 PM UTC". Only a running range has an update time.
 */
export function rangeSentence(range: DayRange, frozenAt: number | null): string {
  const days = `${rangeLabel(range)} UTC`;
  if (frozenAt === null) return days;
  return `${days} · updated ${utcClock(frozenAt)} UTC`;
}
