/** Sentences and button labels about partly loaded lists. */
import { type Limit, reserveOf } from "../../shell/rate_limit.ts";
import { clockTime, counted, wholePercent } from "../../shell/wording.ts";
import type { Arrangement, Facets } from "../period/address_words.ts";
import { needsComparison } from "./arrangement.ts";
import { hasFacets } from "./facets.ts";
import { type Expected, requestRange } from "./remainder.ts";
import { NUMBERS, type Report } from "./report.ts";
import type { Sorting } from "./rows.ts";

/** The loaded part of a list. */
export interface PartialList {
  report: Report;
  loaded: number;
  /**
   * The loaded part of the site's total, from 0 to 1; `null` if counts do not add up, or if the
   * total is unknown or 0.
   */
  part: number | null;
  arrangement: Arrangement;
  sorting: Sorting;
  filter: string;
  facets?: Facets;
}

/** Returns "Showing the top 1,000 pages (85% of views)." */
export function loadedSentence({ report, loaded, part }: PartialList): string {
  const { one, many, unit, main } = report;
  const which = main === null ? "first" : "top";
  const share = part === null ? "" : ` (${wholePercent(part)} of ${unit[1]})`;
  return `Showing the ${which} ${counted(loaded, one, many)}${share}.`;
}

/**
 * Returns how the current selection and order depend on rows that are not loaded; empty if they do
 * not.
 */
export function answerSentence(list: PartialList): string {
  const { report, arrangement, sorting, filter, facets = {} } = list;
  const { many, unit } = report;
  if (arrangement === "never-read") return `Pages that haven’t been loaded may have views.`;
  if (filter.trim() !== "" || hasFacets(facets)) return `The filter covers only these ${many}.`;
  if (arrangement === "folders") return `Folder totals cover only these ${many}.`;
  if (needsComparison(arrangement)) return `Other ${many} may have bigger changes.`;
  if (report.name === "conversations") return "Older questions haven’t been loaded.";
  const isCount = report.columns.some(
    ({ id, kind }) => id === sorting.column && NUMBERS.includes(kind),
  );
  if (sorting.direction === "ascending" && isCount) {
    return `${capitalize(many)} with fewer ${unit[1]} haven’t been loaded yet.`;
  }
  return "";
}

/** Returns what is known while the previous period is only partly loaded. */
export function earlierSentence(
  { one, many, main }: Report,
  loaded: number,
  isAsked: boolean,
): string {
  const rows = counted(loaded, one, many);
  if (main === null) return `Only ${rows} of the previous period are loaded.`;
  if (!isAsked) return `Changes cover the top ${rows} of the previous period.`;
  return `Bigger changes may be missing: only ${rows} of the previous period are loaded.`;
}

/**
 * Returns the cost of loading the rest, and the requests left; empty if both are unknown. If no
 * request is left, returns when one becomes free.
 */
export function costSentence(expected: Expected | null, limit: Limit | null, now: number): string {
  if (limit === null) {
    return expected === null ? "" : `Loading the rest uses ${requestRange(expected)}.`;
  }
  const left = requestsLeft(limit, now);
  if (left === 0) return `No requests left. Continue at ${clockTime(limit.freesAt ?? now)}.`;
  if (left <= reserveOf(limit)) {
    return `Only ${counted(left, "request")} left this hour, kept for others in your organization.`;
  }
  const rest = `${counted(left, "request")} left this hour`;
  if (expected === null) return `${rest}.`;
  const known =
    expected.most > left
      ? `at least ${counted(expected.least, "request")}`
      : requestRange(expected);
  return `Loading the rest uses ${known}; ${rest}.`;
}

/** Returns the requests left. When none is left, one becomes free at `freesAt`. */
export function requestsLeft({ left, freesAt }: Limit, now: number): number {
  return left === 0 && freesAt !== null && freesAt <= now ? 1 : left;
}

/** Returns the label of the button that loads the rest. */
export function loadLabel(report: Report, limit: Limit | null, now: number): string {
  const left = limit === null ? null : requestsLeft(limit, now);
  if (limit === null || left === null || left === 0 || left > reserveOf(limit)) {
    return `Load all ${report.many}`;
  }
  return `Use the last ${counted(left, "request")}`;
}

/** Returns a label such as "Load the previous period (at most 12 requests)". */
export function costLabel(what: string, expected: Expected | null): string {
  return expected === null ? what : `${what} (${requestRange(expected)})`;
}

export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
