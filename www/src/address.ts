import { type DayRange, DEFAULT_PRESET, isDay, isPresetId, type PresetId } from "./range.ts";
import { COLUMNS, type Column, type Sorting } from "./rows.ts";

export type Route = "jobs" | "views";

/** What the page's address says. Never a token: addresses end up in histories and logs. */
export interface Address {
  view: Route;
  range: PresetId | DayRange;
  sorting: Sorting;
  filter: string;
}

const DEFAULT_SORTING: Sorting = { column: "total", direction: "descending" };

export function parseAddress(search: string): Address {
  const query = new URLSearchParams(search);
  return {
    view: query.get("view") === "views" ? "views" : "jobs",
    range: rangeOf(query),
    sorting: sortingOf(query.get("sort") ?? ""),
    filter: query.get("path") ?? "",
  };
}

export function formatAddress(address: Address): string {
  const query = new URLSearchParams({ view: address.view });
  if (address.view === "views") {
    if (typeof address.range === "string") {
      query.set("range", address.range);
    } else {
      query.set("from", address.range.from);
      query.set("to", address.range.to);
    }
    const { column, direction } = address.sorting;
    query.set("sort", direction === "descending" ? `-${column}` : column);
    if (address.filter !== "") query.set("path", address.filter);
  }
  return `?${query}`;
}

function rangeOf(query: URLSearchParams): PresetId | DayRange {
  const from = query.get("from") ?? "";
  const to = query.get("to") ?? "";
  if (isDay(from) && isDay(to) && from <= to) return { from, to };
  const preset = query.get("range") ?? "";
  return isPresetId(preset) ? preset : DEFAULT_PRESET;
}

function sortingOf(text: string): Sorting {
  const column = text.replace(/^-/, "");
  if (!COLUMNS.some(({ id }) => id === column)) return DEFAULT_SORTING;
  const direction = text.startsWith("-") ? "descending" : "ascending";
  return { column: column as Column, direction };
}
