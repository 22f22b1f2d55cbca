import type { Conversation } from "quillgate";
import type { ReportRow } from "./report.ts";

export interface Category {
  /** Empty for questions without a category. */
  name: string;
  count: number;
}

export function toTurnRow(turn: Conversation): ReportRow {
  return {
    query: turn.query,
    answer: turn.resolutionStatus === null ? null : String(turn.resolutionStatus),
    category: turn.queryCategory,
    page: turn.pageUrl === null ? null : pathIn(turn.pageUrl),
    asked: turn.timestamp,
    turn,
  };
}

export function countUnanswered(rows: readonly ReportRow[]): number {
  return rows.filter(({ answer }) => answer === "unanswered").length;
}

/** Returns the rows of a category; all rows for `null`. */
export function inCategory(
  rows: readonly ReportRow[],
  category: string | null,
): readonly ReportRow[] {
  return category === null ? rows : rows.filter((row) => categoryOf(row) === category);
}

/** Returns the categories of some rows with their counts, most frequent first. */
export function categoriesOf(rows: readonly ReportRow[]): Category[] {
  const counts = new Map<string, number>();
  for (const row of rows) counts.set(categoryOf(row), (counts.get(categoryOf(row)) ?? 0) + 1);
  const categories = [...counts].map(([name, count]) => ({ name, count }));
  return categories.sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1));
}

export function categoryLabel(name: string): string {
  return name === "" ? "No category" : name;
}

/** Returns an HTTP or HTTPS URL; `null` for other schemes. */
export function safeLink(url: string | null): string | null {
  const parsed = url !== null && URL.canParse(url) ? new URL(url) : null;
  return parsed !== null && /^https?:$/.test(parsed.protocol) ? parsed.href : null;
}

function categoryOf({ category }: ReportRow): string {
  return String(category ?? "").trim();
}

/** Returns the path of a URL. Omits the host, because all pages share it. */
function pathIn(url: string): string {
  return URL.canParse(url) ? new URL(url).pathname : url;
}
