/** Formats rows as CSV and NDJSON. */

import { TABLES, type Table } from "./generated/tables.js";
import { compact, readElements, readMembers, readString } from "./json_text.js";

const BYTE_ORDER_MARK = "\uFEFF";

/** Returns the first line of a CSV file. Its byte order mark lets spreadsheets detect UTF-8. */
export function writeHeader(list: string): string {
  return BYTE_ORDER_MARK + writeRecord(tableOf(list).columns);
}

/**
 * Returns the rows of a page, formatted. `body` is the JSON of the page, and `omitted` contains the
 * indices of rows to omit.
 */
export function writeRows(
  list: string,
  format: "csv" | "ndjson",
  body: string,
  omitted: readonly number[],
): string {
  const { rows: member, columns } = tableOf(list);
  const all = readElements(readMembers(compact(body)).get(member) as string);
  const rows = all.filter((_, at) => !omitted.includes(at));
  if (format === "ndjson") return rows.map((row) => `${row}\n`).join("");
  const paths = columns.map((column) => column.split("."));
  return rows
    .map((row) => {
      const members = readMembers(row);
      return writeRecord(paths.map((path) => writeValue(findValue(members, path))));
    })
    .join("");
}

function tableOf(list: string): Table {
  return TABLES[list] as Table;
}

/** Returns the JSON of the value at a path; `undefined` if the path does not exist. */
function findValue(
  members: Map<string, string>,
  [name, ...rest]: readonly string[],
): string | undefined {
  const value = members.get(name as string);
  if (rest.length === 0 || value === undefined) return value;
  return value.startsWith("{") ? findValue(readMembers(value), rest) : undefined;
}

/** Returns the cell of a value: empty for `null`, the content of a string, otherwise JSON. */
function writeValue(json: string | undefined): string {
  if (json === undefined || json === "null") return "";
  if (!json.startsWith('"')) return json;
  const text = readString(json);
  // The apostrophe stops spreadsheets from running a formula. Some accept full-width operators.
  return /^[=+\-@＝＋－＠\t\r\n]/.test(text) ? `'${text}` : text;
}

/** Returns a record (RFC 4180). Quotes semicolons too, because they separate cells in some locales. */
function writeRecord(cells: readonly string[]): string {
  return `${cells.map(quote).join(",")}\r\n`;
}

function quote(cell: string): string {
  if (!/[",;\r\n]/.test(cell)) return cell;
  // There, a spreadsheet can ignore these quotes, so a formula could start a cell after a semicolon or
  // a line end.
  const guarded = cell.replace(/([;\r\n]["\t]*)(?=[=+\-@＝＋－＠])/g, "$1'");
  return `"${guarded.replaceAll('"', '""')}"`;
}
