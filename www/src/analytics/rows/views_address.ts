import { registerAddressPart } from "../../shell/address.ts";
import type { Route } from "../../shell/route_names.ts";
import {
  type Arrangement,
  type Comparison,
  DEFAULT_PRESET,
  FACET_NAMES,
  type Facets,
  type Interval,
  isArrangement,
  isColumn,
  isComparison,
  isDay,
  isInterval,
  isPresetId,
} from "../period/address_words.ts";
import type { Period } from "../period/range.ts";
import { isPagePath } from "./page_path.ts";
import type { Sorting } from "./rows.ts";

/** The address parameters of report routes. */
export interface ViewsAddress {
  range: Period;
  comparison: Comparison;
  arrangement: Arrangement;
  /** Null for the default order. */
  sorting: Sorting | null;
  filter: string;
  facets: Facets;
  /** The time span of a bar of the chart; `null` for the period's default. */
  interval: Interval | null;
  /** The paths of open folders, each with a trailing slash. */
  openFolders: readonly string[];
  /** The path of the page that is shown; `null` for the report. */
  page: string | null;
  /** Whether the link named an invalid period, so that `range` is the default. */
  hasInvalidDates: boolean;
  /** Whether the link named a page with an invalid path. */
  hasInvalidPage: boolean;
}

declare module "../../shell/address.ts" {
  interface AddressParts {
    analytics: ViewsAddress;
  }
}

/** Limits the length of the address. */
const MAX_OPEN_FOLDERS = 50;
const DEFAULT_COMPARISON: Comparison = "previous-period";

export function parseViewsAddress(query: URLSearchParams): ViewsAddress {
  const range = periodIn(query);
  const show = query.get("show") ?? "";
  const page = query.get("page");
  return {
    range: range ?? DEFAULT_PRESET,
    comparison: comparisonIn(query.get("compare") ?? ""),
    arrangement: isArrangement(show) ? show : "pages",
    sorting: sortingIn(query.get("sort") ?? ""),
    filter: query.get("path") ?? "",
    facets: facetsIn(query),
    interval: intervalIn(query.get("interval") ?? ""),
    openFolders: openFoldersIn(query.get("open") ?? ""),
    page: isPagePath(page) ? page : null,
    hasInvalidDates: range === null,
    hasInvalidPage: page !== null && !isPagePath(page),
  };
}

/**
 * Returns the period, and the other parameters that differ from the defaults. Open folders belong
 * to the arrangement by folders only.
 */
export function formatViewsAddress({
  range,
  comparison,
  arrangement,
  sorting,
  filter,
  facets,
  interval,
  openFolders,
  page,
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
  for (const name of FACET_NAMES) {
    const value = facets[name];
    if (value !== undefined) pairs.push([name, value]);
  }
  if (interval !== null) pairs.push(["interval", interval]);
  if (arrangement === "folders" && openFolders.length > 0) {
    pairs.push(["open", openFolders.slice(0, MAX_OPEN_FOLDERS).map(escapeFolder).join(",")]);
  }
  if (page !== null) pairs.push(["page", page]);
  return pairs;
}

/**
 * Returns the period in the query: the default if absent, `null` if invalid. Future days are valid,
 * because today is unknown until the gateway answers.
 */
function periodIn(query: URLSearchParams): Period | null {
  const from = query.get("from");
  const to = query.get("to");
  if (from !== null || to !== null) {
    if (from === null || to === null || !isDay(from) || !isDay(to)) return null;
    return from <= to ? { from, to } : null;
  }
  const preset = query.get("range") ?? DEFAULT_PRESET;
  return isPresetId(preset) ? preset : null;
}

/** Escapes commas, which separate folders, and percent signs. */
function escapeFolder(path: string): string {
  return path.replace(/[%,]/g, encodeURIComponent);
}

function openFoldersIn(text: string): readonly string[] {
  const paths = text.split(",").map((path) => path.replaceAll("%2C", ",").replaceAll("%25", "%"));
  return paths.filter((path) => /^\/.+\/$/.test(path)).slice(0, MAX_OPEN_FOLDERS);
}

function facetsIn(query: URLSearchParams): Facets {
  const chosen = FACET_NAMES.flatMap((name) => {
    const value = query.get(name);
    return value === null ? [] : [[name, value]];
  });
  return Object.fromEntries(chosen);
}

function intervalIn(text: string): Interval | null {
  return isInterval(text) ? text : null;
}

function comparisonIn(text: string): Comparison {
  return isComparison(text) ? text : DEFAULT_COMPARISON;
}

function sortingIn(text: string): Sorting | null {
  const column = text.replace(/^-/, "");
  if (!isColumn(column)) return null;
  return { column, direction: text.startsWith("-") ? "descending" : "ascending" };
}

/** Returns what a route's filter matches. */
function filteredBy(route: Route): "term" | "question" | "path" {
  if (route === "searches") return "term";
  return route === "conversations" ? "question" : "path";
}

registerAddressPart("analytics", {
  routes: ["views", "visitors", "feedback", "searches", "conversations"],
  parse: parseViewsAddress,
  format: formatViewsAddress,
  onChange: (change, from, to) => ({
    // A filter for paths makes no sense for search terms or questions, and vice versa.
    ...(filteredBy(from) !== filteredBy(to) && { filter: "" }),
    ...(from !== to && { facets: {}, page: null, hasInvalidPage: false }),
    ...(change.range !== undefined && { hasInvalidDates: false }),
    ...(change.page !== undefined && { hasInvalidPage: false }),
  }),
  onOtherProject: () => ({ page: null }),
});
