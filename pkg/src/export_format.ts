/** The two formats of an export. */

import { TABLES, type Table } from "./generated/tables.js";
import { compact, readElements, readMembers, readString } from "./json_text.js";

const BYTE_ORDER_MARK = "\uFEFF";

/** What a CSV begins with: a byte order mark, by which a spreadsheet knows UTF-8, and the header. */
export function writeHeader(list: string): string {
  return BYTE_ORDER_MARK + writeRecord(tableOf(list).columns);
}

/** The rows of a page, whose body is this JSON. */
export function writeRows(list: string, format: "csv" | "ndjson", body: string): string {
  const { rows: member, columns } = tableOf(list);
  const rows = readElements(readMembers(compact(body)).get(member) as string);
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

/** The value at the end of a path, as JSON; `undefined` where there is none. */
function findValue(
  members: Map<string, string>,
  [name, ...rest]: readonly string[],
): string | undefined {
  const value = members.get(name as string);
  if (rest.length === 0 || value === undefined) return value;
  return value.startsWith("{") ? findValue(readMembers(value), rest) : undefined;
}

/** A value as a cell: nothing for `null`, what a string says, anything else as JSON. */
function writeValue(json: string | undefined): string {
  if (json === undefined || json === "null") return "";
  if (!json.startsWith('"')) return json;
  const text = readString(json);
  // A spreadsheet would run it as a formula. Full-width signs count in some locales.
  return /^[=+\-@＝＋－＠\t\r\n]/.test(text) ? `'${text}` : text;
}

/** A record by RFC 4180. A semicolon is quoted too, because it separates cells in some locales. */
function writeRecord(cells: readonly string[]): string {
  return `${cells.map(quote).join(",")}\r\n`;
}

function quote(cell: string): string {
  return /[",;\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
