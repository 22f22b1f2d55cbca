/** The figures of a page in one period. */
import type { Client } from "quillgate";
import { addDays, type DayRange } from "../analytics/period/range.ts";
import { toPageId } from "../analytics/rows/page_path.ts";
import { REPORTS } from "../analytics/rows/report.ts";

/** The figures of a page from the gateway's archive. */
export interface Views {
  human: number;
  ai: number;
  /** The number of days without data. The counts leave them out. */
  missing: number;
}

/** The figures of a page that cost requests to Mintlify. */
export interface Reactions {
  /** Null if the page is not among the pages that Mintlify lists. */
  ratings: { helpful: number; all: number } | null;
  /** Searches whose most clicked page it was. */
  searches: number;
  /** Whether Mintlify has more search terms than the first request returned. */
  isPart: boolean;
}

/** Requests to Mintlify for {@link readReactions} of both periods. */
export const REACTION_REQUESTS = 4;

/** Reads a page's views from the archive, which costs no request to Mintlify. */
export async function readViews(
  client: Client,
  path: string,
  { from, to }: DayRange,
  signal: AbortSignal,
): Promise<Views> {
  const query = { path, dateFrom: from, dateTo: addDays(to, 1) };
  const page = await client.analytics.dailyViews(query, { signal, maxRetries: 0 });
  const sum = (name: "human" | "ai") =>
    page.views.reduce((total, views) => total + (views[name] ?? 0), 0);
  return { human: sum("human"), ai: sum("ai"), missing: page.missing.length };
}

/** Reads a page's ratings and searches with two requests to Mintlify. */
export async function readReactions(
  client: Client,
  path: string,
  { from, to }: DayRange,
  signal: AbortSignal,
): Promise<Reactions> {
  const dates = { dateFrom: from, dateTo: addDays(to, 1) };
  const options = { signal, maxRetries: 0 };
  const limit = REPORTS.feedbackByPage.pageSize;
  const [ratings, terms] = await Promise.all([
    client.analytics.feedbackByPage({ ...dates, limit }, options),
    client.analytics.searches(dates, options),
  ]);
  const page = toPageId(path);
  const isThis = (other: string | null) => other !== null && toPageId(other) === page;
  const rated = ratings.feedback.filter((row) => isThis(row.path));
  const found = terms.searches.filter((term) => isThis(term.topClickedPage));
  const up = rated.reduce((sum, { thumbsUp }) => sum + (thumbsUp ?? 0), 0);
  const down = rated.reduce((sum, { thumbsDown }) => sum + (thumbsDown ?? 0), 0);
  const isUnknown = rated.length === 0 && ratings.hasMore === true;
  return {
    ratings: isUnknown ? null : { helpful: up, all: up + down },
    searches: found.reduce((sum, { hits }) => sum + (hits ?? 0), 0),
    isPart: terms.nextPosition !== null,
  };
}
