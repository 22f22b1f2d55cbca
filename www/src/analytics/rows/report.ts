import type { Conversation, Feedback, PageView, PageVisitors, SearchTerm } from "quillgate";
import type { Scope } from "../../session/claims.ts";
import type { SortableColumn } from "../period/address_words.ts";
import { toPagePath } from "./page_path.ts";

/** Reports. All but `feedbackByPage`, a view of `feedback`, have a route. */
export type ReportName =
  | "views"
  | "visitors"
  | "feedback"
  | "feedbackByPage"
  | "searches"
  | "conversations";

export type Column = SortableColumn | "earlier";

export type Cell = string | number | null;

/** A row of any report: cells by column. Columns that the report lacks are absent. */
export type ReportRow = { readonly [Name in Column]?: Cell } & {
  /** The id of an entry of feedback. */
  readonly id?: string | null;
  /** The question and its answer in full, in the report on conversations. */
  readonly turn?: Conversation;
  /** The different texts of a group, most frequent first. */
  readonly spellings?: readonly string[];
};

export interface Totals {
  human: number | null;
  ai: number | null;
  total: number | null;
}

export type CellKind =
  | "name"
  | "text"
  | "word"
  | "count"
  /** A part from 0 to 1. */
  | "share"
  /** A percentage from 0 to 100. */
  | "percentage"
  | "change"
  | "time";

export interface ColumnDefinition {
  id: Column;
  label: string;
  kind: CellKind;
}

export interface Report {
  name: ReportName;
  scope: Scope;
  /** The noun for a row: "page" in "1 page". */
  one: string;
  many: string;
  /** The noun for a count, singular and plural: "view", "views". */
  unit: readonly [string, string];
  /** The column that names a row, and that the filter searches. */
  key: Column;
  /** The column that breaks ties; null to keep the order of the API. */
  tieBreak: Column | null;
  /** The column whose counts are compared row by row; null for reports without counts. */
  main: Column | null;
  /** The column with the time of each row, in reports whose rows are counted by day. */
  time?: Column;
  columns: readonly ColumnDefinition[];
  /** Rows per request. */
  pageSize: number;
  /** Whether counts can be added up. A visitor of two pages is one visitor, not two. */
  isAdditive: boolean;
  filterLabel: string;
}

const COUNTS: readonly ColumnDefinition[] = [
  { id: "human", label: "People", kind: "count" },
  { id: "ai", label: "AI", kind: "count" },
  { id: "total", label: "Total", kind: "count" },
  { id: "share", label: "AI share", kind: "share" },
];

/** The number of times that readers asked the questions of a group. */
export const TIMES: ColumnDefinition = { id: "times", label: "Times", kind: "count" };
export const CHANGE: ColumnDefinition = { id: "change", label: "Change", kind: "change" };
export const PEOPLE_CHANGE: ColumnDefinition = { ...CHANGE, label: "People change" };

const PATH: ColumnDefinition = { id: "path", label: "Path", kind: "name" };

const LIST = {
  scope: "analytics:read",
  key: "path",
  tieBreak: "path",
  main: null,
  pageSize: 100,
  isAdditive: false,
  filterLabel: "Filter by path",
} as const satisfies Partial<Report>;

const PAGES = {
  ...LIST,
  one: "page",
  many: "pages",
  main: "total",
  columns: [PATH, ...COUNTS],
  pageSize: 250,
} as const satisfies Partial<Report>;

export const REPORTS: Readonly<Record<ReportName, Report>> = {
  views: { ...PAGES, name: "views", unit: ["view", "views"], isAdditive: true },
  visitors: { ...PAGES, name: "visitors", unit: ["visitor", "visitors"] },
  feedback: {
    ...LIST,
    name: "feedback",
    one: "entry",
    many: "entries",
    unit: ["entry", "entries"],
    time: "created",
    columns: [
      PATH,
      { id: "comment", label: "Comment", kind: "text" },
      { id: "helpful", label: "Helpful", kind: "text" },
      { id: "status", label: "Status", kind: "word" },
      { id: "source", label: "Source", kind: "word" },
      { id: "created", label: "Submitted (UTC)", kind: "time" },
    ],
  },
  feedbackByPage: {
    ...LIST,
    name: "feedbackByPage",
    one: "page",
    many: "pages",
    unit: ["entry", "entries"],
    main: "total",
    columns: [
      PATH,
      { id: "up", label: "Helpful", kind: "count" },
      { id: "down", label: "Not helpful", kind: "count" },
      { id: "share", label: "Helpful share", kind: "share" },
      { id: "code", label: "Code", kind: "count" },
      { id: "total", label: "Entries", kind: "count" },
    ],
  },
  searches: {
    ...LIST,
    name: "searches",
    one: "term",
    many: "terms",
    unit: ["search", "searches"],
    key: "query",
    tieBreak: "query",
    main: "hits",
    columns: [
      { id: "query", label: "Search term", kind: "name" },
      { id: "hits", label: "Searches", kind: "count" },
      { id: "ctr", label: "Click rate", kind: "percentage" },
      { id: "clicked", label: "Most clicked page", kind: "text" },
      { id: "searched", label: "Last searched (UTC)", kind: "time" },
    ],
    isAdditive: true,
    filterLabel: "Filter by term",
  },
  conversations: {
    ...LIST,
    name: "conversations",
    scope: "analytics:conversations",
    one: "question",
    many: "questions",
    unit: ["question", "questions"],
    key: "query",
    tieBreak: null,
    time: "asked",
    columns: [
      { id: "query", label: "Question", kind: "name" },
      { id: "answer", label: "Answer", kind: "word" },
      { id: "category", label: "Category", kind: "text" },
      { id: "page", label: "Asked from", kind: "text" },
      { id: "asked", label: "Asked (UTC)", kind: "time" },
    ],
    pageSize: 1000,
    filterLabel: "Filter by question",
  },
};

/** Returns whether a report can be compared with an earlier period. */
export function isComparable({ main, time }: Report): boolean {
  return main !== null || time !== undefined;
}

/** The kinds of cells that contain a number. */
export const NUMBERS: readonly CellKind[] = ["count", "share", "percentage", "change"];

/** Returns a share; null if either count is unknown or the whole is 0. */
export function shareOf(part: number | null, whole: number | null): number | null {
  return part === null || whole === null || whole === 0 ? null : part / whole;
}

export function toCountRow({ path, human, ai, total }: PageView | PageVisitors): ReportRow {
  // Copies a path unchanged: each query string can have a row of its own.
  const page = path === null || path.startsWith("/") ? path : toPagePath(path);
  return { path: page, human, ai, total, share: shareOf(ai, total) };
}

export function toSearchRow(term: SearchTerm): ReportRow {
  return {
    query: term.searchQuery,
    hits: term.hits,
    ctr: term.ctr,
    clicked: term.topClickedPage === null ? null : toPagePath(term.topClickedPage),
    searched: term.lastSearchedAt,
  };
}

export function toFeedbackRow(entry: Feedback): ReportRow {
  const helpful = "helpful" in entry ? entry.helpful : null;
  return {
    id: entry.id,
    path: entry.path === null ? null : toPagePath(entry.path),
    comment: entry.comment,
    helpful: helpful === null ? null : helpful ? "Yes" : "No",
    status: entry.status,
    source: String(entry.source),
    created: entry.createdAt,
  };
}
