import type { GroupedViews } from "quillgate";
import type { Day, Interval } from "../period/address_words.ts";
import { addDays, alignWeekdays, countDays, type DayRange } from "../period/range.ts";

export type TrendGroup = Interval;

/** The counts of a day, week or month. */
export interface TrendPoint {
  /** Its first day within the range. */
  from: Day;
  /** Its last day within the range. */
  to: Day;
  /** The count for people. Without parts, the whole count. */
  human: number;
  ai: number;
  /** The number of days with data. The counts cover only these. */
  held: number;
  /** The number of its days within the range. */
  days: number;
  /** The number of days in the full day, week or month. */
  span: number;
}

/** The kind of count that a chart shows. */
export interface Measure {
  /** The first word of the title. */
  title: "Views" | "Visitors" | "Searches" | "Feedback" | "Questions";
  /** Whether people and AI are counted separately. */
  hasParts: boolean;
  /** Whether the counts of several bars can be added. One person may visit on two days. */
  isAdditive: boolean;
  /** The maximum number of bars if each takes a request; see `groupsFor`. */
  maxBars?: number;
}

/** Below the 100 requests that an organization has per hour by default. */
const MAX_COUNTED_BARS = 92;

export const MEASURES = {
  views: { title: "Views", hasParts: true, isAdditive: true },
  visitors: { title: "Visitors", hasParts: true, isAdditive: false, maxBars: MAX_COUNTED_BARS },
  searches: { title: "Searches", hasParts: false, isAdditive: true, maxBars: MAX_COUNTED_BARS },
  feedback: { title: "Feedback", hasParts: false, isAdditive: true },
  conversations: { title: "Questions", hasParts: false, isAdditive: true },
} as const satisfies Record<string, Measure>;

/** A page, the pages of a folder, or, if both are absent, the whole site. */
export interface TrendSubject {
  /** The spellings of the page's path in the archive. */
  paths?: readonly string[];
  prefix?: string;
}

export interface DrawableTrend {
  measure: Measure;
  range: DayRange;
  /** The end of the title, such as " in /guides"; empty for the whole site. */
  scope: string;
  group: TrendGroup;
  points: readonly TrendPoint[];
  /** Points of the comparison by position; empty without a comparison. */
  earlier: readonly TrendPoint[];
  /** Whether rows of the comparison are not loaded yet. */
  isEarlierPart?: boolean;
  /** The number of rows without a time, which no bar counts. */
  undated?: number;
  /** The reason for empty bars. */
  gap: "No data" | "Not loaded";
  /** Whether the period includes today. The chart excludes it. */
  isWithoutToday: boolean;
}

/** The maximum number of days of a range with bars per day by default. */
const MAX_DAYS_BY_DAY = 92;
/** The maximum number of days of a range with bars per week by default. */
const MAX_DAYS_BY_WEEK = 400;
/** The maximum number of bars by default. It leaves room for a year by day. */
const MAX_BARS = 400;
/** The minimum number of days in a full bar. */
const MIN_SPANS: Record<TrendGroup, number> = { day: 1, week: 7, month: 28 };
/** Moving the line of a shorter range would lose too much of it. */
const MIN_ALIGNED_DAYS = 14;

export const TREND_GROUPS: readonly TrendGroup[] = ["day", "week", "month"];

/** Returns the intervals that a chart of a range can show with at most `maxBars` bars. */
export function groupsFor(range: DayRange, maxBars = MAX_BARS): readonly TrendGroup[] {
  const days = countDays(range);
  const hasSeveral = { day: true, week: days > 7, month: days > 31 };
  // The first bar can have a single day.
  const fits = (span: number) => days <= (maxBars - 1) * span + 1;
  return TREND_GROUPS.filter((group) => hasSeveral[group] && fits(MIN_SPANS[group]));
}

/**
 * Returns the chosen interval if `groupsFor` has it, or the default one. `maxBars` is at least the
 * 92 days that the default can show.
 */
export function groupOf(
  range: DayRange,
  chosen: TrendGroup | null = null,
  maxBars = MAX_BARS,
): TrendGroup {
  if (chosen !== null && groupsFor(range, maxBars).includes(chosen)) return chosen;
  const days = countDays(range);
  if (days <= MAX_DAYS_BY_DAY) return "day";
  return days <= MAX_DAYS_BY_WEEK ? "week" : "month";
}

/** Returns the days of a comparison to draw: by day, those with the weekdays of the bars. */
export function alignLine(earlier: DayRange, range: DayRange, group: TrendGroup): DayRange {
  const isAligned = group === "day" && countDays(range) >= MIN_ALIGNED_DAYS;
  return isAligned ? alignWeekdays(earlier, range) : earlier;
}

/** Returns the days of a range that have ended; null if none has. */
export function endedDays({ from, to }: DayRange, today: Day): DayRange | null {
  const yesterday = addDays(today, -1);
  const last = to < yesterday ? to : yesterday;
  return last < from ? null : { from, to: last };
}

/** Returns the days that a chart on request can show; null if fewer than two have ended. */
export function chartDays(range: DayRange, today: Day): DayRange | null {
  const ended = endedDays(range, today);
  return ended === null || ended.from === ended.to ? null : ended;
}

/**
 * Returns every interval of a range, including those without data. Adds up the groups of an
 * interval, one for each spelling of a page.
 */
export function trendPoints(
  range: DayRange,
  group: TrendGroup,
  groups: readonly GroupedViews[],
): TrendPoint[] {
  const points: TrendPoint[] = [];
  for (let from = range.from; from <= range.to; ) {
    const begin = beginOf(from, group);
    const end = addDays(nextOf(begin, group), -1);
    const span = countDays({ from: begin, to: end });
    const to = end < range.to ? end : range.to;
    const views = groups.filter(({ date }) => date === begin);
    const human = views.reduce((sum, { human }) => sum + (human ?? 0), 0);
    const ai = views.reduce((sum, { ai }) => sum + (ai ?? 0), 0);
    const held = views[0]?.days ?? 0;
    points.push({ from, to, human, ai, held, days: countDays({ from, to }), span });
    from = addDays(to, 1);
  }
  return points;
}

/** Returns the first day of the week (a Monday) or month. */
function beginOf(day: Day, group: TrendGroup): Day {
  if (group === "day") return day;
  if (group === "month") return `${day.slice(0, 8)}01`;
  const weekday = new Date(`${day}T00:00:00Z`).getUTCDay();
  return addDays(day, -((weekday + 6) % 7));
}

function nextOf(begin: Day, group: TrendGroup): Day {
  if (group === "day") return addDays(begin, 1);
  if (group === "week") return addDays(begin, 7);
  return `${addDays(begin, 32).slice(0, 8)}01`;
}
