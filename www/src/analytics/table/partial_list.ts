import type { Listing } from "../rows/listing.ts";
import type { ListingCache } from "../rows/listing_cache.ts";
import type { PartialList } from "../rows/partial_notice.ts";
import { type Expected, expectRequests } from "../rows/remainder.ts";
import { sumRows } from "../rows/sums.ts";
import type { TableModel } from "./table_model.ts";

/** Returns the facts about a partly loaded list and its table. */
export function partialList(listing: Listing, table: TableModel): PartialList {
  const { report } = listing;
  const rows = listing.rows.value;
  const whole = report.isAdditive ? (listing.totals.value?.total ?? null) : null;
  const part = whole ? sumRows(rows, report.main ?? "total").total / whole : null;
  const { arrangement, sorting, filter, facets } = table;
  return { report, loaded: rows.length, part, arrangement, sorting, filter, facets };
}

/** Bounds the number of requests for all rows; null if unknown. */
export function requestsForAll(cache: ListingCache, listing: Listing): Expected | null {
  const { pageSize } = listing.report;
  const loaded = Math.ceil(listing.rows.value.length / pageSize);
  if (listing.state.value === "complete") {
    const requests = Math.max(1, loaded);
    return { least: requests, most: requests };
  }
  const rest = expectRequests(listing, cache.knownRows(listing.report));
  return rest && { least: loaded + rest.least, most: loaded + rest.most };
}
