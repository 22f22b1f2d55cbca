import { registerAddressPart } from "../shell/address.ts";
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

declare module "../shell/address.ts" {
  interface AddressParts {
    analytics: ViewsAddress;
  }
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

/** Returns the names and values that differ from the defaults. */
export function formatViewsAddress({
  range,
  comparison,
  arrangement,
  sorting,
  filter,
}: ViewsAddress): [string, string][] {
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

registerAddressPart("analytics", {
  routes: ["views", "visitors", "feedback", "searches"],
  parse: parseViewsAddress,
  format: formatViewsAddress,
  // A filter of paths matches no search terms, and the reverse.
  onRoute: (from, to) => ((from === "searches") !== (to === "searches") ? { filter: "" } : {}),
});
