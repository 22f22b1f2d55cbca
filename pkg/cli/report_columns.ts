/** Derives the table columns of a report from its declaration. */

import type { DeclaredOperation } from "./generated/operations.js";
import { toWords } from "./operations.js";
import type { Output } from "./output.js";
import type { Cell, Column } from "./table.js";

/** The columns to show for reports that have too many for one line. */
const SELECTED: Readonly<Record<string, readonly string[]>> = {
  "analytics.feedback": ["createdAt", "path", "source", "status", "helpful", "comment"],
  "analytics.conversations": ["id", "timestamp", "resolutionStatus", "query"],
  "analytics.conversation": ["createdAt", "role", "content"],
};
/** Column heads that are shorter than the names of the properties. */
const HEADS: Readonly<Record<string, string>> = {
  createdAt: "CREATED",
  ctr: "CLICK RATE",
  lastSearchedAt: "LAST",
  resolutionStatus: "RESOLVED",
  searchQuery: "SEARCH",
  timestamp: "ASKED",
  topClickedPage: "MOST CLICKED",
};

/**
 * Returns the columns of a report's table.
 *
 * @param output formats instants for a terminal; without it, they are unchanged
 */
export function makeColumns(
  { name, columns, percentages }: DeclaredOperation,
  output: Pick<Output, "showTime"> | undefined,
): Column<object>[] {
  return (SELECTED[name] ?? columns).map((path) => ({
    head: HEADS[path] ?? toWords(path).join(" ").toUpperCase(),
    value: (row) => {
      const value = readPath(row, path);
      if (path === "searchQuery" && typeof value === "string") return showBlank(value);
      if (!/(At|timestamp)$/.test(path) || typeof value !== "string") return value;
      return output === undefined ? value : output.showTime(value);
    },
    isWhole: path === "id" || path === "content",
    isPercentage: percentages.includes(path),
  }));
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

/** Returns the value at a path such as `visitors.human`. Lists and records are written as JSON. */
function readPath(row: object, path: string): Cell {
  const value = path
    .split(".")
    .reduce<unknown>((inner, name) => (inner as Record<string, unknown> | null)?.[name], row);
  return typeof value === "object" && value !== null ? JSON.stringify(value) : (value as Cell);
}
