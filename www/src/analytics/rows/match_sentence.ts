import { count, counted } from "../../shell/wording.ts";
import type { Arrangement, Facets } from "../period/address_words.ts";
import { hasFacets } from "./facets.ts";
import type { Report } from "./report.ts";
import type { Sums } from "./sums.ts";

interface Matching {
  report: Report;
  isComplete: boolean;
  arrangement: Arrangement;
  filter: string;
  facets?: Facets;
  matches: Sums;
}

/**
 * Returns a sentence such as "62 pages · 1,234 views (1,000 people, 234 AI)". Except for unread
 * pages, returns an empty string if nothing limits the rows or no row matches.
 */
export function matchSentence(shown: Matching): string {
  const { report, isComplete, arrangement, filter, facets = {}, matches } = shown;
  const { one, many, unit, isAdditive, name } = report;
  const rows = counted(matches.rows, one, many);
  if (arrangement === "never-read") {
    return `${rows} without views${isComplete ? "" : " so far"}`;
  }
  const isEverything = ["pages", "folders", "by-page", "grouped"].includes(arrangement);
  if (isEverything && filter.trim() === "" && !hasFacets(facets)) return "";
  // The empty state already shows this.
  if (matches.rows === 0) return "";
  if (!isAdditive) return rows;
  const sum = `${rows} · ${counted(matches.total, ...unit)}`;
  if (name !== "views") return sum;
  return `${sum} (${count(matches.human)} people, ${count(matches.ai)} AI)`;
}
