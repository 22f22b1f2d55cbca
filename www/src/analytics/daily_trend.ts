import type { Client, GroupedViews } from "quillgate";
import { describeProblem, type Problem } from "../shell/problem.ts";
import { addDays, type DayRange } from "./range.ts";
import { groupOf, type TrendGroup, type TrendPoint, trendPoints } from "./trend.ts";

/** A trend to draw, or the reason for its absence. */
export type Trend =
  | DrawableTrend
  /** The archive has no data for these days. */
  | { state: "nothing held"; range: DayRange }
  /** The range contains no completed day. */
  | { state: "no day yet" }
  | { state: "off"; detail: string }
  | { state: "failed"; problem: Problem };

export interface DrawableTrend {
  state: "drawn";
  range: DayRange;
  subject: TrendSubject;
  group: TrendGroup;
  points: readonly TrendPoint[];
  /** Points of the comparison by position; empty without a comparison. */
  earlier: readonly TrendPoint[];
  /** Whether the period includes today, which is not archived yet. */
  isWithoutToday: boolean;
}

/** A page, the pages of a folder, or, if both are absent, the whole site. */
export interface TrendSubject {
  path?: string;
  prefix?: string;
}

/** The parameters of a trend. */
export interface TrendQuery {
  range: DayRange;
  /** The days to compare with; `null` for no comparison. */
  earlierRange: DayRange | null;
  subject: TrendSubject;
  /** The chosen interval; `null` for the default. */
  interval: TrendGroup | null;
}

/** Exceeds the number of groups in the longest range that the archive accepts. */
const LIMIT = 1000;

/** Reads views by day, week or month from the gateway's archive. Makes no Mintlify requests. */
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
    // Retrying is pointless: a gateway without an archive always answers 501.
    const page = await client.analytics.dailyViews({ ...query, cursor }, { signal, maxRetries: 0 });
    groups.push(...page.views);
    if (page.nextCursor === null || page.nextCursor === cursor) break;
    cursor = page.nextCursor;
  }
  return trendPoints(range, group, groups);
}

/** Returns whether the gateway has no archive. It then answers 501 with setup instructions. */
function isOff(error: unknown): boolean {
  return error instanceof Error && "status" in error && error.status === 501;
}
