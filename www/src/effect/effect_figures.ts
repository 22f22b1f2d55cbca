/** The figures of a page in one period. */
import type { Signal } from "@preact/signals";
import type { Client } from "quillgate";
import { addDays, type DayRange } from "../analytics/period/range.ts";
import { toPageId } from "../analytics/rows/page_path.ts";
import { REPORTS } from "../analytics/rows/report.ts";
import { type Limit, noteLimit } from "../shell/rate_limit.ts";

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
  ratings: { helpful: number; all: number; isPart: boolean } | null;
  /** Searches whose most clicked page it was. */
  searches: number;
  /** Whether Mintlify has more search terms than the first request returned. */
  isPart: boolean;
}

/** Requests to Mintlify for {@link readReactions} of both periods. */
export const REACTION_REQUESTS = 4;

const ROWS_PER_REQUEST = 1000;

/**
 * Reads the views of all spellings of a page from the archive, which costs no request to Mintlify.
 * The archive can filter only by one spelling.
 */
export async function readViews(
  client: Client,
  path: string,
  { from, to }: DayRange,
  signal: AbortSignal,
): Promise<Views> {
  const query = { dateFrom: from, dateTo: addDays(to, 1), limit: ROWS_PER_REQUEST };
  const list = client.analytics.archivedViews(query, { signal, maxRetries: 0 });
  const isThis = isPage(path);
  const sums = { human: 0, ai: 0, missing: 0 };
  for await (const { views, missing } of list.pages()) {
    for (const row of views.filter((row) => isThis(row.path))) {
      sums.human += row.human ?? 0;
      sums.ai += row.ai ?? 0;
    }
    sums.missing = missing.length;
  }
  return sums;
}

function isPage(path: string): (other: string | null) => boolean {
  const page = toPageId(path);
  return (other) => other !== null && toPageId(other) === page;
}

/** Reads a page's ratings and searches with two requests to Mintlify, which `limit` notes. */
export async function readReactions(
  client: Client,
  limit: Signal<Limit | null>,
  path: string,
  { from, to }: DayRange,
  signal: AbortSignal,
): Promise<Reactions> {
  const { analytics } = client.withOptions({
    onResponse: ({ headers }) => noteLimit(limit, headers),
  });
  const dates = { dateFrom: from, dateTo: addDays(to, 1) };
  const options = { signal, maxRetries: 0 };
  const [ratings, terms] = await Promise.all([
    analytics.feedbackByPage({ ...dates, limit: REPORTS.feedbackByPage.pageSize }, options),
    analytics.searches(dates, options),
  ]);
  const isThis = isPage(path);
  const rated = ratings.feedback.filter((row) => isThis(row.path));
  const found = terms.searches.filter((term) => isThis(term.topClickedPage));
  const up = rated.reduce((sum, { thumbsUp }) => sum + (thumbsUp ?? 0), 0);
  const down = rated.reduce((sum, { thumbsDown }) => sum + (thumbsDown ?? 0), 0);
  // Other spellings of the page can be among the pages that Mintlify does not list.
  const isPart = ratings.hasMore === true;
  return {
    ratings: isPart && rated.length === 0 ? null : { helpful: up, all: up + down, isPart },
    searches: found.reduce((sum, { hits }) => sum + (hits ?? 0), 0),
    isPart: terms.nextPosition !== null,
  };
}
