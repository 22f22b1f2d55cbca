import type { Listing } from "./listing.ts";
import type { ReportRow, Totals } from "./report.ts";
import { countOf } from "./rows.ts";

const NO_VIEWS: Totals = { human: 0, ai: 0, total: 0 };

/** Returns the counts of a page; `null` if its row is not loaded yet. */
export function countsOfPage(listing: Listing | null, path: string): Totals | null {
  const row = listing?.rows.value.find((row) => row.path === path);
  // Mintlify omits pages without views.
  if (row === undefined) return listing?.state.value === "complete" ? NO_VIEWS : null;
  return { human: countOf(row.human), ai: countOf(row.ai), total: countOf(row.total) };
}

/** Returns a row for the prompt of a job. Unknown counts are absent or null. */
export function rowOfPage(path: string, now: Totals | null, earlier: Totals | null): ReportRow {
  if (now === null) return { path };
  const isCompared = now.total !== null && earlier !== null && earlier.total !== null;
  const change = isCompared ? Number(now.total) - Number(earlier.total) : null;
  return { path, human: now.human, ai: now.ai, total: now.total, change };
}
