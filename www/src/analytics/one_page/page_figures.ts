import type { Listing } from "../rows/listing.ts";
import { type PageId, toPageId } from "../rows/page_path.ts";
import type { Column, ReportRow, Totals } from "../rows/report.ts";
import { countOf, groupByPage, textOf } from "../rows/rows.ts";

const NO_VIEWS: Totals = { human: 0, ai: 0, total: 0 };

/** Returns the counts of a page; `null` if its row is not loaded yet. */
export function countsOfPage(listing: Listing | null, path: string): Totals | null {
  if (listing === null) return null;
  const rows = rowsByPage(listing.rows.value).get(toPageId(path)) ?? [];
  // Mintlify omits pages without views.
  if (rows.length === 0) return listing.state.value === "complete" ? NO_VIEWS : null;
  const { isAdditive } = listing.report;
  const count = (column: Column) =>
    combine(
      rows.map((row) => countOf(row[column])),
      isAdditive,
    );
  return { human: count("human"), ai: count("ai"), total: count("total") };
}

/**
 * Combines the counts of the spellings of a page. A visitor can have used several spellings, so
 * that only the largest count of visitors is certain. An unknown count makes the result unknown.
 */
function combine(counts: readonly (number | null)[], isAdditive: boolean): number | null {
  const known = counts.filter((count) => count !== null);
  if (known.length < counts.length) return null;
  return isAdditive ? known.reduce((sum, count) => sum + count, 0) : Math.max(...known);
}

/**
 * Returns the counts of a page to compare with; null if the loaded rows of the two periods may be
 * of different spellings.
 */
export function earlierCountsOfPage(
  now: Listing | null,
  earlier: Listing | null,
  path: string,
): Totals | null {
  const areComplete = [now, earlier].every((listing) => listing?.state.value === "complete");
  const [current, before] = [spellingsIn(now, path), spellingsIn(earlier, path)];
  const areSame = current.length === before.length && current.every((one) => before.includes(one));
  return areComplete || areSame ? countsOfPage(earlier, path) : null;
}

/** Returns the spellings of a page in the loaded rows. */
export function spellingsIn(listing: Listing | null, path: string): string[] {
  const rows = rowsByPage(listing?.rows.value ?? []).get(toPageId(path)) ?? [];
  return [...new Set(rows.map((row) => textOf(row.path) ?? path))];
}

const grouped = new WeakMap<readonly ReportRow[], Map<PageId, ReportRow[]>>();

/** Keeps the groups of a list, because the route of a page renders often. */
function rowsByPage(rows: readonly ReportRow[]): Map<PageId, ReportRow[]> {
  const pages = grouped.get(rows) ?? groupByPage(rows);
  grouped.set(rows, pages);
  return pages;
}

/** Returns a row for the prompt of a job, with the change of one column. Skips unknown counts. */
export function rowOfPage(
  path: string,
  now: Totals | null,
  earlier: Totals | null,
  compared: keyof Totals = "total",
): ReportRow {
  if (now === null) return { path };
  const [count, before] = [now[compared], earlier?.[compared] ?? null];
  const change = count === null || before === null ? null : count - before;
  return { path, human: now.human, ai: now.ai, total: now.total, change };
}
