/** Generates lists with random rows, and a simple implementation of their export. */
import assert from "node:assert/strict";
import { ROWS, LISTS as SCRIPTED } from "./scripted_lists.mjs";
import { queryOf } from "./scripted_server.mjs";

export const FORMATS = ["csv", "ndjson"];
const BYTE_ORDER_MARK = "\uFEFF";
export const SEED = Number(process.env.EXPORT_SEED ?? 7);

const REPORT = { path: "string", human: "count", ai: "count", total: "count" };
/** The type of each column, by list. */
const COLUMNS = {
  views: REPORT,
  visitors: REPORT,
  feedback: {
    ...strings("id", "path", "comment", "createdAt"),
    ...{ source: "source", status: "string", helpful: "boolean" },
    ...strings("contact", "code", "filename", "lang"),
  },
  searches: {
    ...{ searchQuery: "string", hits: "count", ctr: "number" },
    ...strings("topClickedPage", "lastSearchedAt"),
  },
  conversations: {
    ...strings("id", "timestamp", "query", "response", "responseType"),
    sources: "sources",
    ...strings("resolutionStatus", "queryCategory", "pageUrl"),
  },
  jobs: {
    id: "id",
    ...strings("status", "prompt", "createdBy", "createdAt", "prLink", "checkedAt"),
  },
};
export const LISTS = Object.fromEntries(
  Object.entries(SCRIPTED).map(([name, list]) => [name, { ...list, columns: COLUMNS[name] }]),
);

function strings(...names) {
  return Object.fromEntries(names.map((name) => [name, "string"]));
}

export const NAMES = Object.keys(LISTS);

// --- rows in the spellings that JSON allows, and a plain implementation of the export --------------

const STRINGS = [
  "",
  "/guides/start",
  "=1+2",
  "+49",
  "-1",
  "@SUM(A1)",
  "＝1+2",
  "＠x",
  "/x;=1;",
  "\tx",
  "\rx",
  "\nx",
  "'=1",
];
const MORE_STRINGS = [
  'say "x"',
  "a,b",
  "a\r\nb",
  "é/ü",
  "😀",
  "\\",
  "\u0000",
  "\u2028",
  "a;b",
  "]}",
];
const SPACES = ["", "", "", " ", "\n", "\t", "\r\n  "];

function writeString(random, text) {
  const characters = Array.from({ length: text.length }, (_, at) => {
    const unit = text[at];
    const escaped = `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
    return random.chance(0.1) ? escaped : JSON.stringify(unit).slice(1, -1);
  });
  // Surrogates are always escaped, because `JSON.stringify` receives each without its pair.
  return `"${characters.join("")}"`;
}

const anyString = (random) =>
  random.pick([...STRINGS, ...MORE_STRINGS]) + random.pick(["", "", "x,"]);

const VALUES = {
  id: (random) => [writeString(random, anyString(random))],
  string: (random) => [random.chance(0.1) ? "null" : writeString(random, anyString(random))],
  source: (random) => [random.pick(['"contextual"', '"code_snippet"', '"agent"', '"\\u0061"'])],
  boolean: (random) => [random.pick(["true", "false", "null"])],
  count: (random) => [random.pick(["0", "7", "7.0", "9e3", "9007199254740991", "null"])],
  number: (random) => [random.pick(["-0", "0.10", "1E-2", "-1.5", "12", "null"])],
  sources: (random) => {
    if (random.chance(0.2)) return ["null"];
    const source = () => objectOf([["title", VALUES.string(random)]]);
    return listOf(Array.from({ length: random.below(4) }, source));
  },
  unknown: (random) =>
    random.pick([
      () => ["1.50"],
      () => objectOf([["a", ["[", "]"]]]),
      () => listOf([["{", "}"], ['"]"'], ["1"]]),
      () => VALUES.string(random),
    ]),
};

const listOf = (items) => ["[", ...items.flatMap((item, at) => (at ? [",", ...item] : item)), "]"];

function objectOf(properties) {
  const tokens = properties.map(([name, value]) => [JSON.stringify(name), ":", ...value]);
  return ["{", ...listOf(tokens).slice(1, -1), "}"];
}

function makeRow(random, { columns }) {
  const cells = Object.entries(columns).map(([name, type]) => [name, VALUES[type](random)]);
  // A null column may also be absent.
  const present = cells.filter(([, value]) => value[0] !== "null" || random.chance(0.5));
  if (random.chance(0.3)) present.splice(random.below(3), 0, ["more", VALUES.unknown(random)]);
  if (random.chance(0.3)) present.reverse();
  return { tokens: objectOf(present), cells: new Map(cells) };
}

export const EXPECTED = {
  ndjson: (rows) => rows.map(({ tokens }) => `${tokens.join("")}\n`).join(""),
  csv: (rows, { columns }) => {
    const names = Object.keys(columns);
    const records = rows.map(({ cells }) => names.map((name) => cellOf(cells.get(name))));
    const lines = [names, ...records].map((cells) => `${cells.join(",")}\r\n`);
    return BYTE_ORDER_MARK + lines.join("");
  },
};

function cellOf(tokens) {
  const json = tokens.join("");
  if (json === "null") return "";
  let cell = json;
  if (json[0] === '"') {
    cell = JSON.parse(json);
    if (["=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "\n"].includes(cell[0]))
      cell = `'${cell}`;
  }
  const isPlain = ['"', ",", ";", "\r", "\n"].every((mark) => !cell.includes(mark));
  if (isPlain) return cell;
  const guarded = cell.replace(/(?<=[;\r\n]["\t]*)(?=[=+\-@＝＋－＠])/g, "'");
  return `"${guarded.split('"').join('""')}"`;
}

/** Returns a cursor after `at` rows. It is a ULID, as conversations require. */
const cursorOf = (at) => `01ARZ3NDEKTSV4RRFF${String(at).padStart(8, "0")}`;

export function pageOf(list, rows, random) {
  return (received) => {
    const query = queryOf(received);
    const from = Number(query.get("offset") ?? query.get("cursor")?.slice(-8) ?? 0);
    const to = Math.min(rows.length, from + Number(query.get("limit")));
    const tokens = listOf(rows.slice(from, to).map((row) => row.tokens));
    const text = tokens.map((token) => random.pick(SPACES) + token).join("");
    const next = to < rows.length ? `"${cursorOf(to)}"` : "null";
    const more = list.by === "cursor" ? `"nextCursor":${next}` : `"hasMore":${to < rows.length}`;
    const end =
      list.by === "cursor" && list.hasMore ? `${more},"hasMore":${to < rows.length}` : more;
    const totals = list.by === "offset" ? '"totals":{},' : "";
    return { text: `{${totals}"${list.rows}":${text},${end}}` };
  };
}

export function makeRows(random, list, count = ROWS) {
  return Array.from({ length: count }, () => makeRow(random, list));
}

export const decode = (chunks) => Buffer.concat(chunks).toString("utf8");

export async function read(stream) {
  const chunks = [];
  for await (const chunk of stream) {
    assert.ok(chunk instanceof Uint8Array && chunk.length > 0);
    chunks.push(chunk);
  }
  return decode(chunks);
}
