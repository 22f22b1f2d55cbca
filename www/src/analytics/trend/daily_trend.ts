import type { Client, GroupedViews } from "quillgate";
import { currentTime } from "../../shell/clock_skew.ts";
import { describeProblem, type Problem } from "../../shell/problem.ts";
import { addDays, type DayRange } from "../period/range.ts";
import {
  alignLine,
  type DrawableTrend,
  endedDays,
  groupOf,
  MEASURES,
  type TrendGroup,
  type TrendSubject,
  trendPoints,
} from "./trend.ts";

/** A trend to draw, or the reason for its absence. */
export type Trend =
  | ({ state: "drawn" } & DrawableTrend)
  /** The archive has no data for these days. */
  | { state: "nothing held" }
  | { state: "off"; detail: string }
  | { state: "failed"; problem: Problem };

export interface TrendQuery {
  range: DayRange;
  /** The days to compare with; `null` for no comparison. */
  earlierRange: DayRange | null;
  subject: TrendSubject;
  /** The chosen interval; `null` for the default. */
  interval: TrendGroup | null;
}

/** The page size of a series. It exceeds the number of bars, so that one request is enough. */
const LIMIT = 1000;

/**
 * Reads views by day, week or month from the gateway's archive. Makes no Mintlify requests. If the
 * comparison cannot be read, leaves it out. Rejects only if `signal` is aborted.
 */
export async function readTrend(
  client: Client,
  { range, earlierRange, subject, interval }: TrendQuery,
  today: string,
  signal: AbortSignal,
): Promise<Trend> {
  const over = endedDays(range, today);
  if (over === null) return { state: "nothing held" };
  const group = groupOf(over, interval);
  const read = (days: DayRange) => readViews(client, days, group, subject, signal);
  try {
    const [views, earlierViews] = await Promise.all([
      read(over),
      earlierRange === null ? [] : read(earlierRange).catch(() => []),
    ]);
    const points = trendPoints(over, group, views);
    const line = earlierRange && alignLine(earlierRange, over, group);
    const earlier = line === null ? [] : trendPoints(line, group, earlierViews);
    if (points.every(({ held }) => held === 0)) return { state: "nothing held" };
    const isCompared = earlier.some(({ held }) => held > 0);
    return {
      state: "drawn",
      measure: MEASURES.views,
      range: over,
      scope: subject.prefix === undefined ? "" : ` in ${subject.prefix}`,
      group,
      points,
      earlier: isCompared ? earlier : [],
      gap: "No data",
      isWithoutToday: range.to >= today,
    };
  } catch (error) {
    signal.throwIfAborted();
    const problem = describeProblem(error, currentTime());
    return isOff(error)
      ? { state: "off", detail: problem.cause.replace(/ \(\d+\)$/, "") }
      : { state: "failed", problem };
  }
}

/** Reads the views of each spelling of a page, or of a folder or the site. */
async function readViews(
  client: Client,
  range: DayRange,
  group: TrendGroup,
  { paths, ...rest }: TrendSubject,
  signal: AbortSignal,
): Promise<GroupedViews[]> {
  const dateTo = addDays(range.to, 1);
  const query = { dateFrom: range.from, dateTo, group, limit: LIMIT, ...rest };
  const queries = paths?.map((path) => ({ ...query, path })) ?? [query];
  // Retrying is pointless: without an archive of the project, the gateway always answers 501.
  const options = { signal, maxRetries: 0 };
  const read = queries.map((one) => client.analytics.dailyViews(one, options));
  return (await Promise.all(read)).flatMap(({ views }) => views);
}

/**
 * Returns whether the gateway has no archive of the project. The gateway then answers 501 with
 * setup instructions.
 */
function isOff(error: unknown): boolean {
  return error instanceof Error && "status" in error && error.status === 501;
}
