/** Charts of reports whose rows have a time: feedback and questions. They need no requests. */
import { type Day, dayOf } from "../period/address_words.ts";
import { addDays, type DayRange } from "../period/range.ts";
import {
  alignLine,
  type DrawableTrend,
  endedDays,
  groupOf,
  type Measure,
  type TrendGroup,
  type TrendPoint,
  trendPoints,
} from "./trend.ts";

/** The loaded rows of a period. */
export interface TimedRows {
  /** The whole days of the period. The last one can be before the first one. */
  days: DayRange;
  /** The times of all loaded rows, in the order of the API, in milliseconds since the epoch. */
  loaded: readonly (number | null)[];
  /** The times of the rows to count. */
  counted: readonly (number | null)[];
  isComplete: boolean;
}

interface RowTrendQuery {
  measure: Measure;
  /** The period, also if its last days are not loaded. */
  period: DayRange;
  now: TimedRows;
  earlier: TimedRows | null;
  scope: string;
  interval: TrendGroup | null;
  isWithoutToday: boolean;
}

/** Counts rows by day, week or month. Returns `null` if no day of the period has ended. */
export function rowTrend(
  { period, now, earlier, interval, ...shown }: RowTrendQuery,
  today: Day,
): DrawableTrend | null {
  const over = endedDays(period, today);
  if (over === null) return null;
  const group = groupOf(over, interval);
  const line = earlier && countRows(earlier, alignLine(earlier.days, over, group), group);
  return {
    ...shown,
    range: over,
    group,
    points: countRows(now, over, group),
    earlier: line?.some(({ held }) => held > 0) ? line : [],
    isEarlierPart: earlier?.isComplete === false,
    undated: now.counted.filter((time) => time === null).length,
    gap: now.isComplete ? "No data" : "Not loaded",
  };
}

/** Counts the rows of each interval. Intervals cover only the days whose rows are all loaded. */
function countRows(rows: TimedRows, range: DayRange, group: TrendGroup): TrendPoint[] {
  const first = firstWholeDay(rows);
  const counts = new Map<Day, number>();
  for (const time of rows.counted) {
    if (time === null) continue;
    const day = dayOf(time);
    counts.set(day, (counts.get(day) ?? 0) + 1);
  }
  return trendPoints(range, group, []).map((point) => {
    let [human, held] = [0, 0];
    for (let day = point.from; day <= point.to; day = addDays(day, 1)) {
      if (first === null || day < first || day > rows.days.to) continue;
      human += counts.get(day) ?? 0;
      held += 1;
    }
    return { ...point, human, held };
  });
}

/**
 * Returns the first day whose rows are all loaded; null without one. While rows are missing, this
 * is known only if they arrive newest first, which Mintlify does not promise.
 */
function firstWholeDay({ days, loaded, isComplete }: TimedRows): Day | null {
  if (isComplete) return days.from;
  const times = loaded.filter((time) => time !== null);
  const isNewestFirst = times.every((time, at) => time <= (times[at - 1] ?? time));
  const last = times.at(-1);
  return last === undefined || !isNewestFirst ? null : addDays(dayOf(last), 1);
}
