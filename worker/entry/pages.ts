/** Upstream's pages of 250 rows, and the answers that are cut from them. */

/** The rows of a page: the most that the upstream gives. */
export const PAGE_ROWS = 250;

/** A page as the upstream has given it, and its time. */
export interface Page {
  /** Its very text: members that are not known are passed on too. */
  text: string;
  /** A short hash of the text. */
  tag: string;
  rows: number;
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

/** What of a page's JSON counts. */
interface Shape {
  views: unknown[];
  hasMore: boolean;
}

/** Whether JSON is a page (SPEC 2.3). */
export function isPage(json: Record<string, unknown>): json is Record<string, unknown> & Shape {
  const { views, hasMore, totals } = json;
  const hasTotals = typeof totals === "object" && totals !== null;
  const hasRows = Array.isArray(views) && views.length <= PAGE_ROWS;
  return hasRows && hasTotals && typeof hasMore === "boolean";
}

/** The hash by which a page's text is known: 132 bits of SHA-256, which is plenty. */
export async function tagOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  const base64 = btoa(String.fromCharCode(...new Uint8Array(digest, 0, 17)));
  return base64.replaceAll("+", "-").replaceAll("/", "_").slice(0, 22);
}

/**
 * The validator of an answer (RFC 9110, section 8.8.3): which rows of which pages it has. Of
 * one and the same text, one and the same.
 */
export function etagOf(pieces: readonly Piece[]): string {
  const parts = pieces.map((piece) => {
    const { page, from, to } = piece;
    return isWhole(piece) ? page.tag : `${page.tag}.${from}.${to}`;
  });
  return `"${parts.join("+")}"`;
}

/**
 * Cuts an answer from the pages that its rows are on, at least one. There is more when the
 * last page has more rows than were asked for, or is not the last of the list.
 */
export function cutFrom(pieces: readonly Piece[]): string {
  const last = pieces.at(-1) as Piece;
  if (pieces.length === 1 && isWhole(last)) return last.page.text;
  const parsed = pieces.map(({ page }) => JSON.parse(page.text) as Shape);
  return JSON.stringify({
    ...parsed.at(-1),
    views: pieces.flatMap(({ from, to }, at) => parsed[at]?.views.slice(from, to)),
    hasMore: last.page.hasMore || last.page.rows > last.to,
  });
}

function isWhole({ from, to }: Piece): boolean {
  return from === 0 && to === PAGE_ROWS;
}
