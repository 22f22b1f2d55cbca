import type { Client, GroupedViews } from "quillgate";
import { describeProblem, type Problem } from "../shell/problem.ts";
import { addDays, type DayRange } from "./range.ts";
import { groupOf, type TrendGroup, type TrendPoint, trendPoints } from "./trend.ts";

/** What there is to draw. */
export type Trend =
  | DrawableTrend
  /** The archive holds none of the days. */
  | { state: "nothing held"; range: DayRange }
  /** No day of the range is over yet. */
  | { state: "no day yet" }
  | { state: "off"; detail: string }
  | { state: "failed"; problem: Problem };

export interface DrawableTrend {
  state: "drawn";
  range: DayRange;
  subject: TrendSubject;
  group: TrendGroup;
  points: readonly TrendPoint[];
  /** The points of the comparison, by position; empty without one. */
  earlier: readonly TrendPoint[];
  /** Whether the period includes today, which the archive does not have yet. */
  isWithoutToday: boolean;
}

/** A page, the pages of a folder, or the whole site if both are absent. */
export interface TrendSubject {
  path?: string;
  prefix?: string;
}

/** A series to draw. */
export interface TrendQuery {
  range: DayRange;
  /** The days to compare with; `null` for none. */
  earlierRange: DayRange | null;
  subject: TrendSubject;
  /** The chosen interval; `null` for the default. */
  interval: TrendGroup | null;
}

/** More groups than a range that the archive takes has. */
const LIMIT = 1000;

/** Reads the views of each day, week or month from the gateway's archive, without platform requests. */
export async function readTrend(
  client: Client,
  { range, earlierRange, subject, interval }: TrendQuery,
  today: string,
  signal: AbortSignal,
): Promise<Trend> {
  const yesterday = addDays(today, -1);
  const to = range.to < yesterday ? range.to : yesterday;
  if (to < range.from) return { state: "no day yet" };
  const over = { from: range.from, to };
  const group = groupOf(over, interval);
  try {
    const [points, earlier] = await Promise.all([
      readPoints(client, over, group, subject, signal),
      earlierRange === null
        ? []
        : readPoints(client, earlierRange, group, subject, signal).catch(() => []),
    ]);
    if (points.every(({ held }) => held === 0)) return { state: "nothing held", range: over };
    const isCompared = earlier.some(({ held }) => held > 0);
    return {
      state: "drawn",
      range: over,
      subject,
      group,
      points,
      earlier: isCompared ? earlier : [],
      isWithoutToday: range.to >= today,
    };
  } catch (error) {
    signal.throwIfAborted();
    const problem = describeProblem(error, Date.now());
    return isOff(error)
      ? { state: "off", detail: problem.cause.replace(/ \(\d+\)$/, "") }
      : { state: "failed", problem };
  }
}

async function readPoints(
  client: Client,
  range: DayRange,
  group: TrendGroup,
  subject: TrendSubject,
  signal: AbortSignal,
): Promise<TrendPoint[]> {
  const dateTo = addDays(range.to, 1);
  const query = { dateFrom: range.from, dateTo, group, limit: LIMIT, ...subject };
  const groups: GroupedViews[] = [];
  for (let cursor: string | undefined; ; ) {
    // A gateway without an archive would answer the same again.
    const page = await client.analytics.dailyViews({ ...query, cursor }, { signal, maxRetries: 0 });
    groups.push(...page.views);
    if (page.nextCursor === null || page.nextCursor === cursor) break;
    cursor = page.nextCursor;
  }
  return trendPoints(range, group, groups);
}

/** A gateway without an archive answers 501, and says what to configure. */
function isOff(error: unknown): boolean {
  return error instanceof Error && "status" in error && error.status === 501;
}
