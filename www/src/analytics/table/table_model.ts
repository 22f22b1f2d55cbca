import { type ReadonlySignal, type Signal, useComputed } from "@preact/signals";
import { address } from "../../shell/navigation.ts";
import type { Arrangement, Facets } from "../period/address_words.ts";
import { type DayRange, findEarlierRange, rangeOf } from "../period/range.ts";
import { today } from "../period/today.ts";
import {
  arrangementsOf,
  arrangeRows,
  comparedColumn,
  needsComparison,
  usualSorting,
} from "../rows/arrangement.ts";
import { compareRows, type Loaded } from "../rows/comparison.ts";
import { filterByFacets, pickFacets } from "../rows/facets.ts";
import { buildTree, flattenTree } from "../rows/folder_tree.ts";
import type { Line } from "../rows/line.ts";
import type { Listing } from "../rows/listing.ts";
import type { ListingCache } from "../rows/listing_cache.ts";
import {
  CHANGE,
  type Column,
  type ColumnDefinition,
  isComparable,
  PEOPLE_CHANGE,
  type Report,
  type ReportRow,
  TIMES,
} from "../rows/report.ts";
import { filterRows, type Sorting, sortRows } from "../rows/rows.ts";
import { findNeverRead, type Sitemap } from "../rows/sitemap.ts";
import { type Sums, sumRows } from "../rows/sums.ts";
import { groupQuestions, groupTerms } from "../rows/text_groups.ts";

/** The state of a report's table: the rows after arrangement, filter and order. */
export interface TableModel {
  range: DayRange;
  /** Null until the range is opened. */
  listing: Listing | null;
  earlierRange: DayRange | null;
  earlier: Listing | null;
  arrangement: Arrangement;
  /** The column whose changes are shown. */
  compared: Column;
  sorting: Sorting;
  filter: string;
  facets: Facets;
  columns: readonly ColumnDefinition[];
  /** The rows without folders. */
  rows: readonly ReportRow[];
  lines: readonly Line[];
  openFolders: ReadonlySet<string>;
  matches: Sums;
}

/** Returns the days in the address. Presets are relative to today. */
export function wantedRange(): DayRange {
  return rangeOf(address.value.analytics.range, today.value);
}

/**
 * Returns the days of the comparison; null without a comparison. An arrangement by changes is
 * compared with the previous period even if the address asks for no comparison.
 */
export function wantedEarlier(report: Report): DayRange | null {
  if (!isComparable(report)) return null;
  const { comparison } = address.value.analytics;
  const isNeeded = comparison === "none" && needsComparison(wantedArrangement(report));
  const period = address.value.analytics.range;
  return findEarlierRange(period, isNeeded ? "previous-period" : comparison, today.value);
}

/** Returns the arrangement in the address if the report has it. Other reports share the address. */
function wantedArrangement(report: Report): Arrangement {
  const { arrangement } = address.value.analytics;
  return arrangementsOf(report).some(({ id }) => id === arrangement) ? arrangement : "pages";
}

const NO_ROWS: readonly ReportRow[] = [];

export function useTableModel(
  cache: ListingCache,
  report: Report,
  sitemap: Signal<Sitemap | null>,
): TableModel {
  const { key } = report;
  const main: Column = report.main ?? key;
  const listing = useComputed(() => cache.find(report, wantedRange()));
  const earlier = useComputed(() => {
    const days = wantedEarlier(report);
    return days === null || listing.value === null ? null : cache.findEarlier(listing.value, days);
  });
  const isCompared = useComputed(
    () => report.main !== null && (earlier.value?.requests.value ?? 0) > 0,
  );
  /** The column of changes appears before the changes load, so that no other column moves later. */
  const hasChanges = useComputed(() => {
    if (isCompared.value) return true;
    if (report.main === null || wantedEarlier(report) === null) return false;
    return earlier.value === null
      ? cache.limit.value?.left !== 0
      : earlier.value.problem.value === null;
  });
  const arrangement = useComputed(() => wantedArrangement(report));
  const compared = useComputed(() => comparedColumn(arrangement.value, main));
  const columns = useComputed<readonly ColumnDefinition[]>(() => {
    if (arrangement.value === "never-read") return report.columns.slice(0, 1);
    const [name, ...others] = report.columns;
    const hasTimes = arrangement.value === "grouped" && report.name === "conversations";
    const own = name && hasTimes ? [name, TIMES, ...others] : report.columns;
    const change = compared.value === main ? CHANGE : PEOPLE_CHANGE;
    return hasChanges.value ? [...own, change] : own;
  });
  const sorting = useSorting(report, arrangement, columns);
  const withChanges = useComputed(() => {
    const rows = listing.value?.rows.value ?? NO_ROWS;
    if (listing.value === null || earlier.value === null || !isCompared.value) return rows;
    const [now, before] = [loadedPart(listing.value), loadedPart(earlier.value)];
    return compareRows(now, before, { key, compared: compared.value });
  });
  const facets = useComputed(() => pickFacets(report.name, address.value.analytics.facets));
  const source = useComputed(() => {
    if (arrangement.value === "grouped") {
      const chosen = filterByFacets(withChanges.value, facets.value);
      return report.name === "searches" ? groupTerms(chosen) : groupQuestions(chosen);
    }
    if (arrangement.value !== "never-read") return withChanges.value;
    const { paths } = sitemap.value ?? {};
    return paths ? findNeverRead(paths, listing.value?.rows.value ?? NO_ROWS) : NO_ROWS;
  });
  const filter = useComputed(() => address.value.analytics.filter);
  // Sorts before it selects, so that another selection in the same order needs no sorting.
  const sorted = useComputed(() => sortRows(source.value, sorting.value, report.tieBreak));
  const arranged = useComputed(() => arrangeRows(sorted.value, arrangement.value, main));
  const rows = useComputed(() =>
    filterRows(filterByFacets(arranged.value, facets.value), filter.value, key),
  );
  const matches = useComputed(() => sumRows(rows.value, main));
  const isTree = useComputed(() => arrangement.value === "folders");
  const openPaths = useComputed(() => address.value.analytics.openFolders);
  const openFolders = useComputed(() => new Set(openPaths.value));
  const tree = useComputed(() => (isTree.value ? buildTree(rows.value) : null));
  const lines = useComputed<readonly Line[]>(() =>
    tree.value ? flattenTree(tree.value, openFolders.value, sorting.value) : rows.value,
  );
  return {
    range: wantedRange(),
    listing: listing.value,
    earlierRange: wantedEarlier(report),
    earlier: earlier.value,
    arrangement: arrangement.value,
    compared: compared.value,
    sorting: sorting.value,
    filter: filter.value,
    facets: facets.value,
    columns: columns.value,
    rows: rows.value,
    lines: lines.value,
    openFolders: openFolders.value,
    matches: matches.value,
  };
}

/** A list that Mintlify cuts off lacks rows, too. */
function loadedPart({ rows, state, isCut }: Listing): Loaded {
  return { rows: rows.value, isComplete: state.value === "complete" && !isCut.value };
}

/**
 * Returns the order in the address if its column exists, else the default order. The result stays
 * the same object until the order changes, so that other changes of the address sort nothing.
 */
function useSorting(
  report: Report,
  arrangement: ReadonlySignal<Arrangement>,
  columns: ReadonlySignal<readonly ColumnDefinition[]>,
): ReadonlySignal<Sorting> {
  const chosen = useComputed(() => {
    const wanted = address.value.analytics.sorting;
    const has = (column: Column) => columns.value.some(({ id }) => id === column);
    if (wanted !== null && has(wanted.column)) return wanted;
    return usualSorting(arrangement.value, report);
  });
  const column = useComputed(() => chosen.value.column);
  const direction = useComputed(() => chosen.value.direction);
  return useComputed(() => ({ column: column.value, direction: direction.value }));
}
