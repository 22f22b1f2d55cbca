import assert from "node:assert/strict";
import { PROJECT } from "./recorded_gateway.mjs";

const READ = "analytics:read";

export const LISTS = {
  views: { rows: "views", maxRows: 250, columns: ["path", "human", "ai", "total"], scope: READ },
  visitors: {
    rows: "visitors",
    maxRows: 250,
    columns: ["path", "human", "ai", "total"],
    scope: READ,
  },
  feedback: {
    rows: "feedback",
    maxRows: 100,
    columns: [
      ...["id", "path", "comment", "createdAt", "source", "status"],
      ...["helpful", "contact", "code", "filename", "lang"],
    ],
    scope: READ,
  },
  searches: {
    rows: "searches",
    maxRows: 100,
    columns: ["searchQuery", "hits", "ctr", "topClickedPage", "lastSearchedAt"],
    scope: READ,
  },
  assistant: {
    rows: "conversations",
    maxRows: 1000,
    columns: [
      ...["id", "timestamp", "query", "response", "responseType", "sources"],
      ...["resolutionStatus", "queryCategory", "pageUrl"],
    ],
    scope: "analytics:conversations",
  },
};

export const FORMATS = ["csv", "ndjson"];
const BYTE_ORDER_MARK = "\uFEFF";

export const exportOf = (report, { project = PROJECT, ...query }) =>
  `/v1/analytics/${project}/${report}/export?${new URLSearchParams(query)}`;

const DAY_MS = 86_400_000;
const dateOf = (number) => new Date(Date.UTC(2016, 0, 1) + number * DAY_MS).toISOString();
let ranges = 0;

/** Returns a past range of `days` days that no test has requested yet. */
export function newRange(days = 60) {
  ranges += 1;
  const [dateFrom, dateTo] = [ranges, ranges + days].map((number) => dateOf(number).slice(0, 10));
  return { dateFrom, dateTo };
}

export function formatRows(report, format, lines, { header = true } = {}) {
  if (format === "ndjson") return lines;
  const { columns } = LISTS[report];
  const records = splitLines(lines).map((line) => columns.map((column) => cellOf(line, column)));
  const table = header ? [columns, ...records] : records;
  return (header ? BYTE_ORDER_MARK : "") + table.map((cells) => `${cells.join(",")}\r\n`).join("");
}

export const splitLines = (text) => text.split("\n").slice(0, -1);

function cellOf(line, column) {
  const value = JSON.parse(line)[column] ?? "";
  if (typeof value === "number") {
    // Keep the number as written: 1.0 must not become 1.
    return new RegExp(`"${column}":(-?[0-9.eE+-]+)`).exec(line)[1];
  }
  if (typeof value === "string")
    return quote(/^[=+\-@＝＋－＠\t\r\n]/.test(value) ? `'${value}` : value);
  return quote(typeof value === "boolean" ? String(value) : JSON.stringify(value));
}

const quote = (text) => {
  if (!/[",;\r\n]/.test(text)) return text;
  const guarded = text.replace(/(?<=[;\r\n]["\t]*)(?=[=+\-@＝＋－＠])/g, "'");
  return `"${guarded.replaceAll('"', '""')}"`;
};

/** Returns the simulator's own rows of a report within a range, as one line of JSON per row. */
export const rowsUpstream = (gate, report, range) => gate.upstream.rows({ report, ...range });

export const pagesOf = (report, lines) =>
  Math.max(1, Math.ceil(splitLines(lines).length / LISTS[report].maxRows));

/** Returns the complete records of a truncated export, and the number of rows among them. */
export function keepWholeRecords(bytes, format, header) {
  let [end, records, quoted] = [0, 0, false];
  for (let at = 0; at < bytes.length; at += 1) {
    if (format === "csv" && bytes[at] === 0x22) quoted = !quoted;
    if (bytes[at] !== 0x0a || quoted) continue;
    if (format === "csv" && bytes[at - 1] !== 0x0d) continue;
    [end, records] = [at + 1, records + 1];
  }
  const rows = format === "csv" && header ? Math.max(0, records - 1) : records;
  return { whole: bytes.subarray(0, end), rows };
}

export function readIncomplete(text, format) {
  const newline = format === "csv" ? "\r\n" : "\n";
  assert.ok(text.endsWith(newline), `ends with a complete record: ${text.slice(-200)}`);
  const records = text.slice(0, -newline.length).split(newline);
  const start = text.length - newline.length - records.at(-1).length;
  const [before, record] = [text.slice(0, start), text.slice(start, -newline.length)];
  if (format === "ndjson") {
    const { incomplete, ...others } = JSON.parse(record);
    assert.ok(incomplete, `the last record marks the export as incomplete: ${record}`);
    assert.deepEqual(others, {});
    return { before, incomplete };
  }
  const [name, ...cells] = record.split(",");
  assert.equal(name, "#incomplete", record);
  const fields = Object.fromEntries(cells.filter(Boolean).map((cell) => cell.split(/=(.*)/s, 2)));
  const { retryAfter, ...incomplete } = fields;
  if (retryAfter !== undefined) incomplete.retryAfter = Number(retryAfter);
  return { before, incomplete, cells: cells.length + 1 };
}

/** Returns whether an export ends with the record that marks the export as incomplete. */
export const isIncomplete = (text, format) =>
  format === "csv"
    ? /\r\n#incomplete,[^\n]*\r\n$|^#incomplete,/.test(text)
    : /(^|\n)\{"incomplete":/.test(text);
