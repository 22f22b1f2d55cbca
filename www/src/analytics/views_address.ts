import type { Route } from "../shell/route_names.ts";
import {
  type Arrangement,
  type Comparison,
  DEFAULT_PRESET,
  isArrangement,
  isColumn,
  isComparison,
  isDay,
  isPresetId,
} from "./address_words.ts";
import type { Period } from "./range.ts";
import type { Sorting } from "./rows.ts";

/** What the page's address says of the analytics. */
export interface ViewsAddress {
  range: Period;
  comparison: Comparison;
  arrangement: Arrangement;
  /** Null for the usual order of what is shown. */
  sorting: Sorting | null;
  filter: string;
}

const DEFAULT_COMPARISON: Comparison = "previous-period";

export function parseViewsAddress(query: URLSearchParams): ViewsAddress {
  const show = query.get("show") ?? "";
  return {
    range: periodIn(query),
    comparison: comparisonIn(query.get("compare") ?? ""),
    arrangement: isArrangement(show) ? show : "pages",
    sorting: sortingIn(query.get("sort") ?? ""),
    filter: query.get("path") ?? "",
  };
}

/** Names and values for one of the analytics routes: only what is not as usual. */
export function formatViewsAddress(
  { range, comparison, arrangement, sorting, filter }: ViewsAddress,
  _route: Route,
): [string, string][] {
  const pairs: [string, string][] =
    typeof range === "string"
      ? [["range", range]]
      : [
          ["from", range.from],
          ["to", range.to],
        ];
  if (comparison !== DEFAULT_COMPARISON) pairs.push(["compare", comparison]);
  if (arrangement !== "pages") pairs.push(["show", arrangement]);
  if (sorting !== null) {
    const { column, direction } = sorting;
    pairs.push(["sort", direction === "descending" ? `-${column}` : column]);
  }
  if (filter !== "") pairs.push(["path", filter]);
  return pairs;
}

function periodIn(query: URLSearchParams): Period {
  const from = query.get("from") ?? "";
  const to = query.get("to") ?? "";
  if (isDay(from) && isDay(to) && from <= to) return { from, to };
  const preset = query.get("range") ?? "";
  return isPresetId(preset) ? preset : DEFAULT_PRESET;
}

function comparisonIn(text: string): Comparison {
  return isComparison(text) ? text : DEFAULT_COMPARISON;
}

function sortingIn(text: string): Sorting | null {
  const column = text.replace(/^-/, "");
  if (!isColumn(column)) return null;
  return { column, direction: text.startsWith("-") ? "descending" : "ascending" };
}
