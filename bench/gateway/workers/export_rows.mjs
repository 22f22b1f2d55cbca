/** Rows as text, written the way a Worker in plain JavaScript would. */
const MARK = "\uFEFF";
const COLUMNS = ["path", "human", "ai", "total"];
const TYPES = { csv: "text/csv; charset=utf-8; header=present", ndjson: "application/x-ndjson" };

/** The head of an export's answer. */
export function buildHead(format) {
  return { "content-type": TYPES[format], "cache-control": "private, no-store" };
}

/** The rows of a page; before the first of all stands what a format begins with. */
export function writeRows(format, rows, isFirst) {
  return format === "csv" ? writeCsv(rows, isFirst) : writeLines(rows);
}

function writeLines(rows) {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join("");
}

function writeCsv(rows, isFirst) {
  const records = rows.map((row) => `${COLUMNS.map((name) => writeCell(row[name])).join(",")}\r\n`);
  return (isFirst ? `${MARK}${COLUMNS.join(",")}\r\n` : "") + records.join("");
}

function writeCell(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r\n]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
