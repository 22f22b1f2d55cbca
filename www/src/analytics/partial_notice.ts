import { count, counted } from "../shell/wording.ts";
import type { Arrangement } from "./address_words.ts";
import { needsComparison } from "./arrangement.ts";
import type { CellKind, Report } from "./report.ts";
import type { Sorting } from "./rows.ts";
import type { Remainder } from "./sums.ts";

/** What is shown of a list that is not loaded completely. */
export interface PartialList {
  report: Report;
  loaded: number;
  remainder: Remainder;
  arrangement: Arrangement;
  sorting: Sorting;
  filter: string;
}

const COUNTS: readonly CellKind[] = ["count", "share", "change"];

/** The number of loaded rows of a list that has more. */
export function loadedSentence({ report, loaded }: PartialList): string {
  const { one, many } = report;
  return `${counted(loaded, one, many)} ${loaded === 1 ? "is" : "are"} loaded; there are more.`;
}

/** The maximum number of missing rows: each has at least one of the remaining views. */
export function missingSentence({ report, remainder }: PartialList): string {
  const { many, unit } = report;
  if (remainder.rows === null) return "";
  return `They have ${counted(remainder.rows, ...unit)} together, so there are at most as many ${many}.`;
}

/** What that means for the answer on the screen. */
export function answerSentence({ report, arrangement, sorting, filter }: PartialList): string {
  const { many } = report;
  if (arrangement === "never-read") {
    return `Some of these may have been read: only loaded ${many} are ruled out.`;
  }
  if (filter.trim() !== "") return `Only loaded ${many} are searched.`;
  if (arrangement === "folders") return `The sums are of loaded ${many} only.`;
  const isCount = report.columns.some(
    ({ id, kind }) => id === sorting.column && COUNTS.includes(kind),
  );
  if (sorting.direction === "ascending" && isCount && !needsComparison(arrangement)) {
    return `These are not the lowest of the site: lower ones may not be loaded.`;
  }
  if (arrangement !== "pages") return `Only loaded ${many} are considered.`;
  return `Only loaded ${many} are sorted.`;
}

/** What it means for changes that a part of the earlier period is loaded. */
export function earlierSentence({ one, many }: Report, loaded: number, isAsked: boolean): string {
  const what = isAsked
    ? `Larger changes may be among ${many} whose earlier counts are not loaded.`
    : "Changes are shown where the earlier count is loaded.";
  return `${what} ${counted(loaded, one, many)} of the earlier period ${loaded === 1 ? "is" : "are"}.`;
}

/** What loading costs, for a button: "Load the rest (about 12 requests, at most 40)". */
export function costLabel(what: string, { requests }: Remainder, expected: number | null): string {
  if (requests === null && expected === null) return what;
  if (requests === null) return `${what} (about ${counted(expected ?? 0, "request")})`;
  if (expected === null) return `${what} (at most ${counted(requests, "request")})`;
  return `${what} (about ${counted(expected, "request")}, at most ${count(requests)})`;
}

/** How many requests are likely, where the number of rows is known from another period. */
export function estimateRequests(
  { report, loaded, remainder }: PartialList,
  rows: number | null,
): number | null {
  if (rows === null || rows <= loaded) return null;
  const requests = Math.ceil((rows - loaded) / report.pageSize);
  // An estimate above what is possible at most helps nobody.
  return remainder.requests !== null && requests >= remainder.requests ? null : requests;
}
