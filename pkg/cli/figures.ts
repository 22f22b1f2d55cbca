/** The figures of reports: comparisons with an earlier period, and bars. */

import type { Column } from "./table.js";

/** The columns of a report that counts something. */
export interface Figures {
  /** The column that identifies a row in both periods. */
  key: string;
  names: readonly string[];
  /** The figure that `--graph` shows. */
  main: string;
}

const VIEWS: Figures = { key: "path", names: ["human", "ai", "total"], main: "total" };

const FIGURES: Readonly<Record<string, Figures>> = {
  "analytics.views": VIEWS,
  "analytics.visitors": VIEWS,
  "analytics.archivedViews": VIEWS,
  "analytics.dailyViews": { ...VIEWS, key: "date" },
  "analytics.searches": { key: "searchQuery", names: ["hits", "ctr"], main: "hits" },
  "analytics.feedbackByPage": {
    key: "path",
    names: ["thumbsUp", "thumbsDown", "code", "total"],
    main: "total",
  },
  "analytics.callerStats": { key: "origin", names: ["count"], main: "count" },
};

/** Returns the figures of a report; `undefined` for one that counts nothing, such as feedback. */
export function findFigures(operation: string): Figures | undefined {
  return FIGURES[operation];
}

/** A row, and with `--compare` its figures in the previous period. */
export type Row = Readonly<Record<string, unknown>> & {
  /** `null` if the previous period's rows are incomplete and do not have this one. */
  previous?: Readonly<Record<string, unknown>> | null;
};

/**
 * Adds the previous figures to each row.
 *
 * @param isComplete whether the earlier rows are all rows. Then a row that is not among them is 0.
 */
export function compareRows(
  rows: readonly object[],
  earlier: readonly object[],
  isComplete: boolean,
  { key, names }: Figures,
): Row[] {
  const byKey = new Map((earlier as Row[]).map((row) => [row[key], row]));
  const pick = (row: Row) => Object.fromEntries(names.map((name) => [name, row[name] ?? null]));
  const nothing = Object.fromEntries(names.map((name) => [name, name === "ctr" ? null : 0]));
  return (rows as Row[]).map((row) => {
    const found = byKey.get(row[key]);
    const absent = isComplete ? nothing : null;
    return { ...row, previous: found === undefined ? absent : pick(found) };
  });
}

const MAX_BAR = 30;

/** Returns a column of bars for a figure. The largest value has the longest bar, a third of the line. */
export function makeBars(rows: readonly Row[], name: string, width = 80): Column<Row> {
  const toNumber = (row: Row) => Math.max(0, Number(row[name]) || 0);
  const max = rows.reduce((most, row) => Math.max(most, toNumber(row)), 1);
  const length = Math.min(MAX_BAR, Math.ceil(width / 3));
  const draw = (row: Row) => "█".repeat(Math.ceil((toNumber(row) / max) * length));
  return { head: "", value: draw, isWhole: true, isKey: true };
}
