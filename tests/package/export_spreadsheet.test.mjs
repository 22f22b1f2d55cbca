/** A CSV of the package in a spreadsheet: as many rows, and text that stays text. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { openInSpreadsheet } from "../harness/spreadsheet.mjs";
import { against } from "./behaviour/fixtures.mjs";

/** Paths as visitors choose them. */
const PATHS = [
  ...["/guides/start", "=1+2", '=HYPERLINK("http://x.example","y")', "+49", "-2+3", "@SUM(1)"],
  ...["\t=1", "\n=1", "a,b", 'say "x"', "two\nlines", "é/ü/😀", "'=1", " =1", "a;b", ""],
];

const ROWS = Array.from({ length: 600 }, (_, at) => ({
  path: PATHS[at % PATHS.length] && `${PATHS[at % PATHS.length]}${at < PATHS.length ? "" : at}`,
  human: at * 3,
  ai: at % 5 === 0 ? null : at,
  total: at === 7 ? Number.MAX_SAFE_INTEGER : at * 4,
}));

function answer({ path }) {
  const query = new URL(path, "http://x").searchParams;
  const [from, limit] = ["offset", "limit"].map((name) => Number(query.get(name)));
  const views = ROWS.slice(from, from + limit);
  return { json: { totals: {}, views, hasMore: from + limit < ROWS.length } };
}

test("a spreadsheet shows every row, text as text and counts as numbers", () =>
  against(answer, async ({ analytics }) => {
    const csv = new Response(analytics.views().export({ format: "csv" }));
    const [header, ...rows] = await openInSpreadsheet(new Uint8Array(await csv.arrayBuffer()));
    assert.deepEqual(
      header.map(({ text }) => text),
      ["path", "human", "ai", "total"],
    );
    assert.equal(rows.length, ROWS.length);
    for (const [at, { path, ...counts }] of ROWS.entries()) {
      const [cell, ...numbers] = rows[at];
      // A cell that would be a formula shows the apostrophe that keeps it from being one.
      const isRisky = /^[=+\-@\t\r\n]/.test(path);
      assert.equal(cell.text, isRisky ? `'${path}` : path);
      assert.equal(cell.type, path === "" ? "" : "string");
      assert.equal(cell.formula, undefined);
      assert.deepEqual(
        numbers.map(({ type, text }) => [type, text]),
        Object.values(counts).map((count) =>
          count === null ? ["", ""] : ["float", String(count)],
        ),
      );
    }
  }));

test("it would run what has no apostrophe", async () => {
  const [[cell]] = await openInSpreadsheet("\uFEFF=1+2\r\n");
  assert.deepEqual([cell.type, cell.text], ["float", "3"]);
});
