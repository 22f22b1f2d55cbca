import type { Conversation } from "quillgate";
import { toPagePath } from "./page_path.ts";
import type { ReportRow } from "./report.ts";

export function toTurnRow(turn: Conversation): ReportRow {
  return {
    query: turn.query,
    answer: turn.resolutionStatus === null ? null : String(turn.resolutionStatus),
    category: turn.queryCategory,
    page: turn.pageUrl === null ? null : toPagePath(turn.pageUrl),
    asked: turn.timestamp,
    turn,
  };
}

export function countUnanswered(rows: readonly ReportRow[]): number {
  return rows.filter(({ answer }) => answer === "unanswered").length;
}
