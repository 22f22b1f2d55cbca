import type { Conversation } from "quillgate";
import type { ReportRow } from "./report.ts";

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

/**
 * Returns the path of a URL, because all pages share the host. Returns an invalid URL unchanged.
 */
function pathIn(url: string): string {
  return URL.canParse(url) ? new URL(url).pathname : url;
}
