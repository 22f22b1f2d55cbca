/** Derives the table columns of a report from its declaration. */

import { type Figures, findFigures, makeBars, type Row } from "./figures.js";
import type { DeclaredOperation } from "./generated/operations.js";
import { toWords } from "./operations.js";
import type { Output } from "./output.js";
import type { Cell, Column } from "./table.js";

/** The columns to show for reports that have too many for one line. */
const SELECTED: Readonly<Record<string, readonly string[]>> = {
  "analytics.feedback": ["createdAt", "path", "source", "status", "helpful", "comment"],
  "analytics.conversations": ["id", "timestamp", "resolutionStatus", "query"],
  "analytics.dailyViews": ["date", "human", "ai", "total", "visitors.total", "days", "missing"],
  "analytics.conversation": ["createdAt", "role", "content"],
};
/** The columns to keep in a narrow terminal, unless `figures.ts` names them. */
const KEYS = ["path", "comment", "content", "id", "query"];
/** Column heads that are shorter than the names of the properties. */
const HEADS: Readonly<Record<string, string>> = {
  createdAt: "CREATED",
  ctr: "CLICK RATE",
  lastSearchedAt: "LAST",
  resolutionStatus: "RESOLVED",
  searchQuery: "SEARCH",
  timestamp: "ASKED",
  topClickedPage: "MOST CLICKED",
  "visitors.total": "VISITORS",
};

/**
 * Returns the columns of a report's table. Rows with previous figures have a column for each.
 *
 * @param output formats instants for a terminal; without it, they are unchanged
 * @param hasGraph whether to show only the main figure, with bars
 */
export function makeColumns(
  operation: Pick<DeclaredOperation, "name" | "columns" | "percentages">,
  rows: readonly Row[],
  output: Pick<Output, "showTime" | "columns"> | undefined,
  { hasGraph }: { hasGraph: boolean },
): Column<Row>[] {
  const figures = findFigures(operation.name);
  const isCompared = rows.some(({ previous }) => previous !== undefined);
  const all = SELECTED[operation.name] ?? operation.columns;
  const shown =
    hasGraph && figures !== undefined
      ? all.filter((path) => [figures.key, figures.main].includes(path))
      : all;
  const columns = shown.flatMap((path) => {
    const column = makeColumn(operation, path, figures, output);
    if (!isCompared || !figures?.names.includes(path)) return [column];
    const value = ({ previous }: Row) => readPath(previous ?? {}, path);
    return [column, { ...column, head: "BEFORE", value, isPaired: true }];
  });
  if (!hasGraph || figures === undefined) return columns;
  return [...columns, makeBars(rows, figures.main, output?.columns)];
}

function makeColumn(
  { percentages }: Pick<DeclaredOperation, "percentages">,
  path: string,
  figures: Figures | undefined,
  output: Pick<Output, "showTime"> | undefined,
): Column<Row> {
  return {
    head: HEADS[path] ?? toWords(path).join(" ").toUpperCase(),
    value: (row) => {
      const value = readPath(row, path);
      if (path === "searchQuery" && typeof value === "string") return showBlank(value);
      if (!/(At|timestamp)$/.test(path) || typeof value !== "string") return value;
      return output === undefined ? value : output.showTime(value);
    },
    isWhole: path === "id" || path === "content",
    isKey: figures === undefined ? KEYS.includes(path) : [figures.key, figures.main].includes(path),
    isPercentage: percentages.includes(path),
  };
}

/** Whitespace, and characters that most terminals show as nothing. */
const BLANK = /^[\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\u2800]*$/u;

/** Quotes a blank string, so that its cell is visible, and escapes its characters other than spaces. */
function showBlank(text: string): string {
  if (!BLANK.test(text)) return text;
  const escaped = text.replace(/[^ ]/gu, (character) => {
    const point = character.codePointAt(0) ?? 0;
    return `\\u{${point.toString(16)}}`;
  });
  return `"${escaped}"`;
}

/** Returns the value at a path such as `visitors.human`. A list is its length, a record is JSON. */
function readPath(row: object, path: string): Cell {
  const value = path
    .split(".")
    .reduce<unknown>((inner, name) => (inner as Record<string, unknown> | null)?.[name], row);
  if (Array.isArray(value)) return value.length;
  return typeof value === "object" && value !== null ? JSON.stringify(value) : (value as Cell);
}
