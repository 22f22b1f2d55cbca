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
  /** The folder whose pages are counted; null for the whole site. */
  prefix: string | null;
  group: TrendGroup;
  points: readonly TrendPoint[];
}

/** More groups than a range that the archive takes has. */
const LIMIT = 1000;

/** Reads the views of each day, week or month from the gateway's archive: it costs no budget. */
export async function readTrend(
  client: Client,
  range: DayRange,
  prefix: string | null,
  today: string,
  signal: AbortSignal,
): Promise<Trend> {
  const yesterday = addDays(today, -1);
  const to = range.to < yesterday ? range.to : yesterday;
  if (to < range.from) return { state: "no day yet" };
  const over = { from: range.from, to };
  const group = groupOf(over);
  try {
    const views = await readGroups(client, over, group, prefix, signal);
    if (views.every(({ days }) => days === 0)) return { state: "nothing held", range: over };
    return { state: "drawn", range: over, prefix, group, points: trendPoints(over, group, views) };
  } catch (error) {
    signal.throwIfAborted();
    const problem = describeProblem(error, Date.now());
    return isOff(error)
      ? { state: "off", detail: problem.cause.replace(/ \(\d+\)$/, "") }
      : { state: "failed", problem };
  }
}

async function readGroups(
  client: Client,
  { from, to }: DayRange,
  group: TrendGroup,
  prefix: string | null,
  signal: AbortSignal,
): Promise<GroupedViews[]> {
  const query = { dateFrom: from, dateTo: addDays(to, 1), group, limit: LIMIT };
  const groups: GroupedViews[] = [];
  for (let cursor: string | undefined; ; ) {
    const params = { ...query, prefix: prefix ?? undefined, cursor };
    // A gateway without an archive would say so no differently the next time.
    const page = await client.analytics.dailyViews(params, { signal, maxRetries: 0 });
    groups.push(...page.views);
    if (page.nextCursor === null || page.nextCursor === cursor) return groups;
    cursor = page.nextCursor;
  }
}

/** A gateway without an archive answers 501, and says what to configure. */
function isOff(error: unknown): boolean {
  return error instanceof Error && "status" in error && error.status === 501;
}
