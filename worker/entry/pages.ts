/** Upstream's pages of 250 rows, and the answers that are cut from them. */

/** The rows of a page: the most that the upstream gives. */
export const PAGE_ROWS = 250;

/** A page as the upstream has given it, and its time. */
export interface Page {
  /** All of it: members that are not known are passed on too. */
  json: Record<string, unknown>;
  rows: unknown[];
  hasMore: boolean;
  /** In milliseconds since the Unix epoch. */
  fetched: number;
  freshUntil: number;
}

/** Rows of a page, counted from its first. */
export interface Piece {
  page: Page;
  from: number;
  to: number;
}

/** Reads a page; nothing when it is not one (SPEC 2.3). */
export function readPage(
  json: Record<string, unknown>,
  fetched: number,
  freshFor: number,
): Page | undefined {
  const { views, hasMore, totals } = json;
  const isPage = Array.isArray(views) && views.length <= PAGE_ROWS;
  const hasTotals = typeof totals === "object" && totals !== null;
  if (!isPage || !hasTotals || typeof hasMore !== "boolean") return undefined;
  return { json, rows: views, hasMore, fetched, freshUntil: fetched + freshFor };
}

/**
 * Cuts an answer from the pages that its rows are on, at least one. There is more when the
 * last page has more rows than were asked for, or is not the last of the list.
 */
export function cutFrom(pieces: readonly Piece[]): string {
  const last = pieces.at(-1) as Piece;
  return JSON.stringify({
    ...last.page.json,
    views: pieces.flatMap(({ page, from, to }) => page.rows.slice(from, to)),
    hasMore: last.page.hasMore || last.page.rows.length > last.to,
  });
}
