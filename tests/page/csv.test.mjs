import assert from "node:assert/strict";
import { test } from "node:test";
import { importSource } from "./source.mjs";

const { csvFileName, toCsv } = await importSource("csv.ts");

const row = (path, human = 2, ai = 1, total = 3) => ({ path, human, ai, total });
const lineOf = (path) => toCsv([row(path)]).slice("\uFEFFpath,human,ai,total\r\n".length);

test("a file begins with a byte order mark and the header, and every line ends with CRLF", () => {
  assert.equal(
    toCsv([row("/a"), row("/b", 0, 7, 7)]),
    "\uFEFFpath,human,ai,total\r\n/a,2,1,3\r\n/b,0,7,7\r\n",
  );
  assert.equal(toCsv([]), "\uFEFFpath,human,ai,total\r\n");
});

test("a cell with a comma, a quote or a line break is quoted, and its quotes are doubled", () => {
  assert.equal(lineOf("/a,b"), '"/a,b",2,1,3\r\n');
  assert.equal(lineOf('/say "hi"'), '"/say ""hi""",2,1,3\r\n');
  assert.equal(lineOf("/a\nb"), '"/a\nb",2,1,3\r\n');
  assert.equal(lineOf("/a\r\nb"), '"/a\r\nb",2,1,3\r\n');
});

test("a path that a spreadsheet would run gets an apostrophe", () => {
  for (const first of ["=", "+", "-", "@", "\t"]) {
    assert.equal(lineOf(`${first}1`), `'${first}1,2,1,3\r\n`);
  }
  assert.equal(lineOf("\r=1"), '"\'\r=1",2,1,3\r\n');
  assert.equal(lineOf('=HYPERLINK("x","y")'), '"\'=HYPERLINK(""x"",""y"")",2,1,3\r\n');
});

test("an ordinary path stays as it is, accents and all", () => {
  assert.equal(lineOf("/guide/a=b+c"), "/guide/a=b+c,2,1,3\r\n");
  assert.equal(lineOf("/de/übersicht"), "/de/übersicht,2,1,3\r\n");
});

test("what the API left out is an empty cell, and large counts keep all digits", () => {
  const rows = [row(null, null, null, null), row("/", Number.MAX_SAFE_INTEGER, 0, 0)];
  const [, ...lines] = toCsv(rows).split("\r\n");
  assert.deepEqual(lines, [",,,", "/,9007199254740991,0,0", ""]);
});

test("a file's name says the project and the days, without what a file system refuses", () => {
  const range = { from: "2026-11-01", to: "2026-11-30" };
  assert.equal(csvFileName("acme", range), "page-views_acme_2026-11-01_2026-11-30.csv");
  assert.equal(csvFileName("../a b", range), "page-views_..-a-b_2026-11-01_2026-11-30.csv");
});
