import type { Listing } from "../rows/listing.ts";
import type { ListingCache } from "../rows/listing_cache.ts";
import { estimateRequests, type PartialList } from "../rows/partial_notice.ts";
import { remainderOf, sumRows } from "../rows/sums.ts";
import type { TableModel } from "./table_model.ts";

/** Returns the facts about a partly loaded list and its table. */
export function partialList(listing: Listing, table: TableModel): PartialList {
  const { report } = listing;
  const rows = listing.rows.value;
  const whole = report.isAdditive ? (listing.totals.value?.total ?? null) : null;
  const main = report.main ?? "total";
  const remainder = remainderOf(whole, rows, main, report.pageSize);
  const size = report.pageSize;
  const lastPages = [rows.slice(-2 * size, -size), rows.slice(-size)];
  const lastSums = whole === null ? [] : lastPages.map((page) => sumRows(page, main).total);
  const part = whole ? sumRows(rows, main).total / whole : null;
  const { arrangement, sorting, filter, facets } = table;
  const view = { arrangement, sorting, filter, facets };
  return { report, loaded: rows.length, part, remainder, lastSums, ...view };
}

/** Returns the estimated number of requests for the rows that are not loaded; null if unknown. */
export function expectedRequests(cache: ListingCache, list: PartialList): number | null {
  return estimateRequests(list, cache.estimateRows(list.report));
}

/** Returns the estimated number of requests for all rows; null if unknown. */
export function requestsForAll(
  cache: ListingCache,
  listing: Listing,
  table: TableModel,
): number | null {
  const { pageSize } = listing.report;
  const loaded = Math.ceil(listing.rows.value.length / pageSize);
  if (listing.state.value === "complete") return Math.max(1, loaded);
  const rest = expectedRequests(cache, partialList(listing, table));
  return rest === null ? null : loaded + rest;
}
