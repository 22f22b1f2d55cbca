import type { Cell } from "./report.ts";

/** The values of a row by column. */
export type FileRow<Name extends string> = { readonly [Key in Name]?: Cell };

export type ExportFormat = "csv" | "ndjson" | "json";

export const EXPORT_FORMATS: readonly { id: ExportFormat; label: string; type: string }[] = [
  { id: "csv", label: "CSV", type: "text/csv;charset=utf-8" },
  { id: "ndjson", label: "NDJSON", type: "application/x-ndjson" },
  { id: "json", label: "JSON", type: "application/json" },
];

/** Spreadsheets read the accents of a CSV file only with this mark. */
const BYTE_ORDER_MARK = "\uFEFF";

/**
 * Formats rows as a file. Columns keep their order. Only a JSON file has the properties of `about`.
 */
export function writeRows<Name extends string>(
  rows: readonly FileRow<Name>[],
  columns: readonly Name[],
  format: ExportFormat,
  about: Readonly<Record<string, unknown>> = {},
): string {
  switch (format) {
    case "csv":
      return BYTE_ORDER_MARK + toCsv(rows, columns);
    case "ndjson":
      return rows.map((row) => `${JSON.stringify(pick(row, columns))}\n`).join("");
    case "json": {
      const body = { ...about, rows: rows.map((row) => pick(row, columns)) };
      return `${JSON.stringify(body, null, 2)}\n`;
    }
  }
}

/**
 * Formats rows as CSV: RFC 4180 quoting, and CRLF after every line. Counts missing from the API are
 * empty cells. Cells with a semicolon are quoted, because it separates cells in some locales.
 *
 * Strings that a spreadsheet would run as a formula get a leading apostrophe. They start with `=`,
 * `+`, `-` or `@`, also full-width, with a tab or with a line break. Visitors choose paths, so
 * anyone can put a formula into a cell.
 */
export function toCsv<Name extends string>(
  rows: readonly FileRow<Name>[],
  columns: readonly Name[],
): string {
  const lines = rows.map((row) => line(columns.map((column) => row[column] ?? null)));
  return line(columns) + lines.join("");
}

/** Returns whether a spreadsheet would run a string as a formula. */
export function looksLikeFormula(text: Cell | undefined): boolean {
  return typeof text === "string" && /^[=+\-@＝＋－＠\t\r\n]/.test(text);
}

/**
 * Returns a file name such as `page-views_acme_2026-11-01_2026-11-30.csv`, safe on every system.
 */
export function fileName(parts: readonly string[], format: ExportFormat): string {
  const safe = parts.map((part) => part.replace(/[^A-Za-z0-9.-]+/g, "-"));
  return `${safe.join("_")}.${format}`;
}

function pick<Name extends string>(
  row: FileRow<Name>,
  columns: readonly Name[],
): Record<string, Cell> {
  return Object.fromEntries(columns.map((column) => [column, row[column] ?? null]));
}

/**
 * Names the changes after the compared column, such as `human_change`. A file does not show which
 * one that was.
 */
export function nameChanges<Row extends { readonly change?: Cell }, Name extends string>(
  rows: readonly Row[],
  columns: readonly Name[],
  compared: string,
) {
  const name = `${compared}_change` as const;
  return {
    rows: rows.map((row) => ({ ...row, [name]: row.change ?? null })),
    columns: columns.map((column) => (column === "change" ? name : column)),
  };
}

function line(cells: readonly Cell[]): string {
  return `${cells.map(cell).join(",")}\r\n`;
}

function cell(value: Cell): string {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  const inert = looksLikeFormula(value) ? `'${value}` : value;
  if (!/[",;\r\n]/.test(inert)) return inert;
  // There, a spreadsheet can ignore these quotes, so a formula could start a cell after a semicolon or
  // a line end.
  const guarded = inert.replace(/([;\r\n]["\t]*)(?=[=+\-@＝＋－＠])/g, "$1'");
  return `"${guarded.replaceAll('"', '""')}"`;
}
