/** The table columns of each report. */

import type { Feedback, PageView, PageVisitors, SearchTerm } from "../index.js";
import type { Column } from "./table.js";

export type ReportName = "views" | "visitors" | "feedback" | "searches";

interface Report {
  columns: readonly Column<object>[];
  /** The maximum number of rows per page. */
  limit: number;
}

const COUNTS: readonly Column<PageView | PageVisitors>[] = [
  { head: "PATH", value: ({ path }) => path },
  { head: "HUMAN", value: ({ human }) => human },
  { head: "AI", value: ({ ai }) => ai },
  { head: "TOTAL", value: ({ total }) => total },
];
const FEEDBACK: readonly Column<Feedback>[] = [
  { head: "CREATED", value: ({ createdAt }) => createdAt },
  { head: "PATH", value: ({ path }) => path },
  { head: "SOURCE", value: ({ source }) => String(source) },
  { head: "STATUS", value: ({ status }) => status },
  { head: "HELPFUL", value: (row) => ("helpful" in row ? row.helpful : null) },
  { head: "COMMENT", value: ({ comment }) => comment },
];
const SEARCHES: readonly Column<SearchTerm>[] = [
  { head: "SEARCH", value: ({ searchQuery }) => searchQuery },
  { head: "HITS", value: ({ hits }) => hits },
  { head: "CTR", value: ({ ctr }) => ctr },
  { head: "MOST CLICKED", value: ({ topClickedPage }) => topClickedPage },
  { head: "LAST", value: ({ lastSearchedAt }) => lastSearchedAt },
];

/**
 * Every report, by command. The casts are safe: a report's columns only receive its own rows, which
 * the client has validated.
 */
export const REPORTS: Readonly<Record<ReportName, Report>> = {
  views: { columns: COUNTS as readonly Column<object>[], limit: 250 },
  visitors: { columns: COUNTS as readonly Column<object>[], limit: 250 },
  feedback: { columns: FEEDBACK as readonly Column<object>[], limit: 100 },
  searches: { columns: SEARCHES as readonly Column<object>[], limit: 100 },
};
