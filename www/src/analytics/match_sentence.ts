import { count, counted } from "../shell/wording.ts";
import type { Arrangement } from "./address_words.ts";
import type { Report } from "./report.ts";
import type { Sums } from "./sums.ts";

interface Matching {
  report: Report;
  isComplete: boolean;
  arrangement: Arrangement;
  filter: string;
  matches: Sums;
}

/** "62 pages match, with 1,234 views: 1,000 by people, 234 by AI."; empty when nothing is left out. */
export function matchSentence(shown: Matching): string {
  const { report, isComplete, arrangement, filter, matches } = shown;
  const { one, many, unit, isAdditive, name } = report;
  const rows = counted(matches.rows, one, many);
  if (arrangement === "never-read") {
    const verb = matches.rows === 1 ? "was" : "were";
    return isComplete
      ? `${rows} ${verb} never read.`
      : `${rows} ${verb} not read, as far as loaded.`;
  }
  const isEverything = arrangement === "pages" || arrangement === "folders";
  if (isEverything && filter.trim() === "") return "";
  const verb = matches.rows === 1 ? "matches" : "match";
  const found = isComplete ? `${rows} ${verb}` : `${rows} of those loaded ${verb}`;
  if (!isAdditive) return `${found}.`;
  const sum = `${found}, with ${counted(matches.total, ...unit)}`;
  if (name !== "views") return `${sum}.`;
  return `${sum}: ${count(matches.human)} by people, ${count(matches.ai)} by AI.`;
}
