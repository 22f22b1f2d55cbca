import type { Client, ListOptions, ListPosition } from "quillgate";
import { toTurnRow } from "./conversation_rows.ts";
import { toPageRows } from "./feedback_rows.ts";
import {
  REPORTS,
  type ReportName,
  type ReportRow,
  type Totals,
  toCountRow,
  toFeedbackRow,
  toSearchRow,
} from "./report.ts";

/** Where to start or resume a report. */
export type ReportPosition = { dateFrom: string; dateTo: string } | { resumeFrom: unknown };

export interface PageOfReport {
  rows: readonly ReportRow[];
  totals: Totals | null;
  /** Null after the last page. */
  next: ReportPosition | null;
  /** Whether more rows exist that Mintlify does not list. */
  isCut: boolean;
}

/** Yields all pages of a report from a position. */
export async function* readReport(
  client: Client,
  name: ReportName,
  position: ReportPosition,
  options: ListOptions,
): AsyncGenerator<PageOfReport, void, void> {
  const { analytics } = client;
  switch (name) {
    case "views":
      for await (const page of analytics.views(paramsOf(position), options).pages()) {
        yield pageOf(page.views.map(toCountRow), page.totals, page.nextPosition);
      }
      return;
    case "visitors":
      for await (const page of analytics.visitors(paramsOf(position), options).pages()) {
        yield pageOf(page.visitors.map(toCountRow), page.totals, page.nextPosition);
      }
      return;
    case "feedback":
      for await (const page of analytics.feedback(paramsOf(position), options).pages()) {
        yield pageOf(page.feedback.map(toFeedbackRow), null, page.nextPosition);
      }
      return;
    case "feedbackByPage": {
      const params = { ...datesOf(position), limit: REPORTS.feedbackByPage.pageSize };
      const { feedback, hasMore } = await analytics.feedbackByPage(params, options);
      yield { ...pageOf(toPageRows(feedback), null, null), isCut: hasMore === true };
      return;
    }
    case "searches":
      for await (const page of analytics.searches(paramsOf(position), options).pages()) {
        const totals = { human: null, ai: null, total: page.totalSearches };
        yield pageOf(page.searches.map(toSearchRow), totals, page.nextPosition);
      }
      return;
    case "conversations":
      for await (const page of analytics.conversations(paramsOf(position), options).pages()) {
        yield pageOf(page.conversations.map(toTurnRow), null, page.nextPosition);
      }
  }
}

/** Feedback by page has a single page, so its loaded rows are exported instead. */
export type ExportedReport = Exclude<ReportName, "feedbackByPage">;

/** Opens a byte stream of the whole report, or of the rest after the position `resumeFrom`. */
export function exportReport(
  client: Client,
  name: ExportedReport,
  bounds: { dateFrom: string; dateTo: string },
  options: { format: "csv" | "ndjson"; resumeFrom: unknown; signal: AbortSignal },
) {
  const { analytics } = client;
  const { format, signal, resumeFrom } = options;
  const own = {
    format,
    signal,
    ...(resumeFrom == null ? {} : { resumeFrom: resumeFrom as never }),
  };
  switch (name) {
    case "views":
      return analytics.views(bounds).export(own);
    case "visitors":
      return analytics.visitors(bounds).export(own);
    case "feedback":
      return analytics.feedback(bounds).export(own);
    case "searches":
      return analytics.searches(bounds).export(own);
    case "conversations":
      return analytics.conversations(bounds).export(own);
  }
}

/**
 * Returns the dates of a report without further pages. Throws a `TypeError` for the position of a
 * further page.
 */
function datesOf(position: ReportPosition): { dateFrom: string; dateTo: string } {
  if ("resumeFrom" in position) throw new TypeError("feedback by page has no further pages");
  return position;
}

function pageOf(rows: readonly ReportRow[], totals: Totals | null, next: unknown): PageOfReport {
  return { rows, totals, next: next === null ? null : { resumeFrom: next }, isCut: false };
}

/** The cast is safe: a position is only used with the report that it came from. */
function paramsOf<Name extends "analytics.views">(
  position: ReportPosition,
): { dateFrom: string; dateTo: string } | { resumeFrom: ListPosition<Name> & never } {
  return position as { dateFrom: string; dateTo: string } | { resumeFrom: never };
}
