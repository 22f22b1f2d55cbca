/** The figures of a page in one period. */
import type { Signal } from "@preact/signals";
import type { Client } from "quillgate";
import { addDays, type DayRange } from "../analytics/period/range.ts";
import { toPageId, usualSpellings } from "../analytics/rows/page_path.ts";
import { REPORTS } from "../analytics/rows/report.ts";
import { type Limit, noteLimit } from "../shell/rate_limit.ts";
import type { Periods } from "./effect_days.ts";

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

/**
 * Reads the views of both periods from the archive, which costs no request to Mintlify. Adds up the
 * usual spellings of the page, each of which needs a request.
 */
export async function readViews(
  client: Client,
  path: string,
  { before, after }: Periods,
  signal: AbortSignal,
): Promise<{ before: Views; after: Views }> {
  const days = { dateFrom: before.from, dateTo: addDays(after.to, 1) };
  const options = { signal, maxRetries: 0 };
  const series = await Promise.all(
    usualSpellings(path).map((path) => client.analytics.dailyViews({ ...days, path }, options)),
  );
  const rows = series.flatMap(({ views }) => views);
  const missing = [...new Set(series.flatMap(({ missing }) => missing))];
  const sum = ({ from, to }: DayRange): Views => {
    const isWithin = (day: string) => from <= day && day <= to;
    const own = rows.filter(({ date }) => isWithin(date));
    return {
      human: own.reduce((sum, { human }) => sum + (human ?? 0), 0),
      ai: own.reduce((sum, { ai }) => sum + (ai ?? 0), 0),
      missing: missing.filter(isWithin).length,
    };
  };
  return { before: sum(before), after: sum(after) };
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
