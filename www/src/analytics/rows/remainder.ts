import { count, counted } from "../../shell/wording.ts";
import type { Listing } from "./listing.ts";
import type { ReportRow } from "./report.ts";
import { numberOf } from "./rows.ts";
import { sumRows } from "./sums.ts";

/** Bounds of the number of requests for the rows that are not loaded. */
export interface Expected {
  least: number;
  most: number;
}

/**
 * Bounds the requests for the rest of a list; null if nothing is known about it. Mintlify does not
 * send the number of rows. Each missing row has at least one of the missing views, and at most as
 * many as the last loaded row, so the bounds come closer while rows load.
 *
 * @param knownRows the number of rows of another period, or of pages in the sitemap
 */
export function expectRequests(
  { report, rows, totals }: Pick<Listing, "report" | "rows" | "totals">,
  knownRows: number | null,
): Expected | null {
  const loaded = rows.value;
  const requests = (missing: number) => Math.max(1, Math.ceil(missing / report.pageSize));
  const isKnown = knownRows !== null && knownRows > loaded.length;
  const known = isKnown ? requests(knownRows - loaded.length) : null;
  const whole = report.isAdditive ? (totals.value?.total ?? null) : null;
  if (whole === null) return known === null ? null : { least: 1, most: known };
  const main = report.main ?? "total";
  const left = Math.max(0, whole - sumRows(loaded, main).total);
  const most = Math.min(requests(left), known ?? Number.POSITIVE_INFINITY);
  const counts = loaded.map((row: ReportRow) => numberOf(row[main]));
  const isSorted = counts.every((count, at) => at === 0 || count <= (counts[at - 1] ?? 0));
  const largest = isSorted ? Math.max(1, counts.at(-1) ?? left) : left;
  return { least: Math.min(most, requests(left / Math.max(1, largest))), most };
}

/** Returns "12 requests", "at most 12 requests" or "5 to 12 requests". */
export function requestRange({ least, most }: Expected): string {
  const requests = counted(most, "request");
  if (least === most) return requests;
  return least === 1 ? `at most ${requests}` : `${count(least)} to ${requests}`;
}
