import assert from "node:assert/strict";
import { test } from "node:test";
import { importRows } from "./source.mjs";

const { fileName, nameChanges, toCsv, writeRows } = await importRows("rows_text.ts");

const COLUMNS = ["path", "human", "ai", "total"];
const row = (path, human = 2, ai = 1, total = 3) => ({ path, human, ai, total });
const csv = (rows) => toCsv(rows, COLUMNS);
const lineOf = (path) => csv([row(path)]).slice("path,human,ai,total\r\n".length);

test("a CSV starts with the header, and its lines end with CRLF", () => {
  assert.equal(
    csv([row("/a"), row("/b", 0, 7, 7)]),
    "path,human,ai,total\r\n/a,2,1,3\r\n/b,0,7,7\r\n",
  );
  assert.equal(csv([]), "path,human,ai,total\r\n");
});

test("only a CSV file starts with a byte order mark, copied text does not", () => {
  assert.equal(writeRows([], ["path"], "csv"), "\uFEFFpath\r\n");
  assert.equal(toCsv([], ["path"]), "path\r\n");
});

test("a cell with a comma, a semicolon, a quote or a line break is quoted, and its quotes are doubled", () => {
  assert.equal(lineOf("/a,b"), '"/a,b",2,1,3\r\n');
  assert.equal(lineOf('/say "hi"'), '"/say ""hi""",2,1,3\r\n');
  assert.equal(lineOf("/x;1+1;"), '"/x;1+1;",2,1,3\r\n');
  assert.equal(lineOf("/a\nb"), '"/a\nb",2,1,3\r\n');
  assert.equal(lineOf("/a\r\nb"), '"/a\r\nb",2,1,3\r\n');
});

test("a path that a spreadsheet would run as a formula gets an apostrophe", () => {
  for (const first of ["=", "+", "-", "@", "＝", "＋", "－", "＠", "\t"]) {
    assert.equal(lineOf(`${first}1`), `'${first}1,2,1,3\r\n`);
  }
  // After a semicolon or a line end, a spreadsheet can ignore the quotes.
  assert.equal(lineOf("/x;=1\n-a;1"), "\"/x;'=1\n'-a;1\",2,1,3\r\n");
  assert.equal(lineOf("\r=1"), "\"'\r'=1\",2,1,3\r\n");
  assert.equal(lineOf('=HYPERLINK("x","y")'), '"\'=HYPERLINK(""x"",""y"")",2,1,3\r\n');
});

test("an ordinary path is unchanged, with its accents", () => {
  assert.equal(lineOf("/guide/a=b+c"), "/guide/a=b+c,2,1,3\r\n");
  assert.equal(lineOf("/de/übersicht"), "/de/übersicht,2,1,3\r\n");
});

test("a missing value is an empty cell, and a large count keeps all digits", () => {
  const rows = [row(null, null, null, null), row("/", Number.MAX_SAFE_INTEGER, 0, 0)];
  const [, ...lines] = csv(rows).split("\r\n");
  assert.deepEqual(lines, [",,,", "/,9007199254740991,0,0", ""]);
});

test("NDJSON has one line per row, with the shown columns", () => {
  const text = writeRows([row("/a"), row("/b")], ["path", "total", "change"], "ndjson");
  const lines = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.deepEqual(lines[0], { path: "/a", total: 3, change: null });
  assert.equal(lines.length, 2);
});

test("a file names the changes after the column that they compare", () => {
  const rows = [{ ...row("/a"), change: -2 }];
  const named = nameChanges(rows, ["path", "total", "change"], "human");
  const text = writeRows(named.rows, named.columns, "csv");
  assert.equal(text, "\uFEFFpath,total,human_change\r\n/a,3,-2\r\n");
});

test("JSON starts with the report and the project", () => {
  const about = { report: "views", project: "acme" };
  const body = JSON.parse(writeRows([row("/a")], ["path"], "json", about));
  assert.deepEqual(body, { report: "views", project: "acme", rows: [{ path: "/a" }] });
});

test("a file name has the project and the days, and only safe characters", () => {
  const parts = ["page-views", "acme", "2026-11-01", "2026-11-30"];
  assert.equal(fileName(parts, "csv"), "page-views_acme_2026-11-01_2026-11-30.csv");
  assert.equal(fileName(["views", "../a b"], "json"), "views_..-a-b.json");
});
