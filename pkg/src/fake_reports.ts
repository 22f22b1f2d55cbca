/** The analytics reports of the fake gateway. */

import { jsonReply, problemReply, type Reply, upstreamNotFound } from "./fake_response.js";
import type {
  ArchiveStatus,
  CallerStats,
  Conversation,
  ConversationThread,
  Feedback,
  GroupedViews,
  PageFeedback,
  PageView,
  PageVisitors,
  SearchTerm,
} from "./types.js";

/** The validated parameters of a request. */
export type FakeParams = Readonly<Record<string, string | number>>;

/** A result, or a function of the request's parameters that returns it. */
export type Supplied<T> = T | ((params: FakeParams) => T);

/** Rows of a list. Properties that you omit are `null` for the client. */
export type SuppliedRows<Row> = Supplied<readonly Partial<Row>[]>;

/**
 * The data of the reports. Lists without data are empty, except those of the archive. The fake
 * applies `limit`, `offset` and `cursor`. To apply other parameters, such as dates, supply a
 * function.
 */
export interface FakeReports {
  views?: SuppliedRows<PageView> | undefined;
  visitors?: SuppliedRows<PageVisitors> | undefined;
  feedback?: SuppliedRows<Feedback> | undefined;
  feedbackByPage?: SuppliedRows<PageFeedback> | undefined;
  searches?: SuppliedRows<SearchTerm> | undefined;
  conversations?: SuppliedRows<Conversation> | undefined;
  /** The conversations with their messages, by `threadId`. */
  threads?: readonly ConversationThread[] | undefined;
  callerStats?: Supplied<Partial<CallerStats>> | undefined;
  /** The series of the archive. Without it, the request fails with status 501. */
  dailyViews?: SuppliedRows<GroupedViews> | undefined;
  /** The pages of the archive. Without them, the request fails with status 501. */
  archivedViews?: SuppliedRows<PageView> | undefined;
  /** The status of the archive. Without it, the request fails with status 501. */
  archiveStatus?: Supplied<ArchiveStatus> | undefined;
}

type Row = Partial<Record<string, unknown>>;

/** Cursors are valid ULIDs, because the cursors of conversations must be. */
const CURSOR_LENGTH = 26;

/** Returns the reply of a report. */
export function replyWithReport(
  operation: string,
  params: FakeParams,
  reports: FakeReports,
): Reply {
  const name = operation.replace("analytics.", "");
  switch (name) {
    case "views":
    case "visitors":
      return jsonReply(pageByOffset(name, rowsOf(reports[name], params), params));
    case "feedback":
    case "conversations":
      return jsonReply(pageByCursor(name, rowsOf(reports[name], params), params));
    case "searches":
      return jsonReply(searchesPage(rowsOf(reports.searches, params), params));
    case "feedbackByPage":
      return jsonReply(firstRows(rowsOf(reports.feedbackByPage, params), params));
    case "conversation":
      return replyWithThread(reports, params);
    case "callerStats":
      return jsonReply({
        web: 0,
        api: 0,
        other: 0,
        total: 0,
        ...resolve(reports.callerStats, params),
      });
    case "dailyViews":
    case "archivedViews":
    case "archiveStatus":
      return replyFromArchive(name, reports, params);
    default:
      return archiveMissing();
  }
}

function resolve<T>(supplied: Supplied<T> | undefined, params: FakeParams): T | undefined {
  return typeof supplied === "function"
    ? (supplied as (params: FakeParams) => T)(params)
    : supplied;
}

function rowsOf(supplied: SuppliedRows<object> | undefined, params: FakeParams): readonly Row[] {
  return resolve(supplied, params) ?? [];
}

function pageByOffset(name: string, rows: readonly Row[], params: FakeParams): object {
  const from = Number(params.offset);
  const to = from + Number(params.limit);
  return { totals: sumCounts(rows), [name]: rows.slice(from, to), hasMore: to < rows.length };
}

function pageByCursor(name: string, rows: readonly Row[], params: FakeParams): Row {
  const { page, nextCursor } = sliceByCursor(rows, params);
  return { [name]: page, nextCursor, hasMore: nextCursor !== null };
}

function searchesPage(rows: readonly Row[], params: FakeParams): object {
  const { page, nextCursor } = sliceByCursor(rows, params);
  return { searches: page, totalSearches: sum(rows, "hits"), nextCursor };
}

function firstRows(rows: readonly Row[], { limit }: FakeParams): object {
  return { feedback: rows.slice(0, Number(limit)), hasMore: rows.length > Number(limit) };
}

/** Returns the rows after a cursor, and the cursor after them. */
export function sliceByCursor<T>(rows: readonly T[], params: FakeParams) {
  const from = Number(params.cursor ?? 0);
  const to = from + Number(params.limit);
  const nextCursor = to < rows.length ? String(to).padStart(CURSOR_LENGTH, "0") : null;
  return { page: rows.slice(from, to), nextCursor };
}

function sumCounts(rows: readonly Row[]): object {
  return { human: sum(rows, "human"), ai: sum(rows, "ai"), total: sum(rows, "total") };
}

function sum(rows: readonly Row[], column: string): number {
  return rows.reduce((total, row) => total + Number(row[column] ?? 0), 0);
}

function replyWithThread({ threads = [] }: FakeReports, { threadId }: FakeParams): Reply {
  const thread = threads.find((each) => each.threadId === threadId);
  if (thread) return jsonReply(thread);
  return upstreamNotFound("Thread not found", "no thread of the project has this id");
}

function replyFromArchive(
  name: "dailyViews" | "archivedViews" | "archiveStatus",
  reports: FakeReports,
  params: FakeParams,
): Reply {
  if (reports[name] === undefined) return archiveMissing();
  if (name === "archiveStatus") return jsonReply(resolve(reports.archiveStatus, params));
  const rows = rowsOf(reports[name], params);
  const { page, nextCursor } = sliceByCursor(rows, params);
  const totals = name === "archivedViews" && { totals: sumCounts(rows) };
  return jsonReply({ ...totals, views: page, missing: [], nextCursor });
}

function archiveMissing(): Reply {
  return problemReply("archive-not-configured", "the fake gateway has no archive of this project");
}
