import type { PageView } from "quillgate";
import type { DayRange } from "./range.ts";

const HEADER = ["path", "human", "ai", "total"];
const BYTE_ORDER_MARK = "\uFEFF";

/**
 * Page views as CSV: RFC 4180 quoting, CRLF after every line, UTF-8 with a byte order mark so that
 * spreadsheets read accents. A count that the API left out is an empty cell.
 *
 * A path that a spreadsheet would run as a formula (it starts with `=`, `+`, `-`, `@`, a tab or a
 * line break) gets a leading apostrophe. Paths come from visitors' requests, so anyone can choose
 * them.
 */
export function toCsv(rows: readonly PageView[]): string {
  const lines = rows.map((row) => line([row.path, row.human, row.ai, row.total]));
  return BYTE_ORDER_MARK + line(HEADER) + lines.join("");
}

/** `page-views_<project>_<first day>_<last day>.csv`, safe on every file system. */
export function csvFileName(projectId: string, range: DayRange): string {
  const project = projectId.replace(/[^A-Za-z0-9.-]+/g, "-");
  return `page-views_${project}_${range.from}_${range.to}.csv`;
}

/** Whether a spreadsheet would run the text, so that it is written with an apostrophe. */
export function looksLikeFormula(text: string | null): boolean {
  return text !== null && /^[=+\-@\t\r\n]/.test(text);
}

function line(cells: readonly (string | number | null)[]): string {
  return `${cells.map(cell).join(",")}\r\n`;
}

function cell(value: string | number | null): string {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  const inert = looksLikeFormula(value) ? `'${value}` : value;
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}
