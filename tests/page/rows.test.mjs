import assert from "node:assert/strict";
import { test } from "node:test";
import { importSource } from "./source.mjs";

const { filterRows, nextSorting, repeatedPaths, sortRows, visibleSlice } =
  await importSource("rows.ts");

const row = (path, total) => ({ path, human: 0, ai: 0, total });
const paths = (rows) => rows.map(({ path }) => path);
const by = (column, direction) => ({ column, direction });

test("rows without a count come last in both directions", () => {
  const rows = [row("/a", 1), row("/none", null), row("/b", 10)];
  assert.deepEqual(paths(sortRows(rows, by("total", "descending"))), ["/b", "/a", "/none"]);
  assert.deepEqual(paths(sortRows(rows, by("total", "ascending"))), ["/a", "/b", "/none"]);
});

test("equal counts are in order of path, and the given rows stay as they are", () => {
  const rows = [row("/c", 1), row("/a", 1), row("/b", 1)];
  assert.deepEqual(paths(sortRows(rows, by("total", "descending"))), ["/a", "/b", "/c"]);
  assert.deepEqual(paths(rows), ["/c", "/a", "/b"]);
});

test("a column that is chosen begins with what is looked for most", () => {
  const total = by("total", "descending");
  assert.deepEqual(nextSorting(total, "total"), by("total", "ascending"));
  assert.deepEqual(nextSorting(total, "ai"), by("ai", "descending"));
  assert.deepEqual(nextSorting(total, "path"), by("path", "ascending"));
});

test("a filter wants every word, in any case", () => {
  const rows = [row("/API/keys", 1), row("/api/jobs", 1), row(null, 1)];
  assert.deepEqual(paths(filterRows(rows, "api")), ["/API/keys", "/api/jobs"]);
  assert.deepEqual(paths(filterRows(rows, " KEYS api ")), ["/API/keys"]);
  assert.equal(filterRows(rows, "  "), rows);
});

test("the rows in the document cover the box and stay within the list", () => {
  const box = (scrollTop) => ({ scrollTop, height: 400 });
  for (const scrollTop of [0, 39, 40, 5000, 159_600, 999_999]) {
    const { start, end } = visibleSlice(box(scrollTop), 40, 4000);
    assert.ok(start >= 0 && end <= 4000 && start < end);
    assert.ok(end - start < 60);
    if (scrollTop <= 159_600) {
      assert.ok(start * 40 <= scrollTop && end * 40 >= Math.min(scrollTop + 400, 160_000));
    }
  }
  assert.deepEqual(visibleSlice(box(0), 40, 0), { start: 0, end: 0 });
});

test("repeated paths are counted", () => {
  assert.equal(repeatedPaths([row("/a", 1), row("/b", 1)]), 0);
  assert.equal(repeatedPaths([row("/a", 1), row("/b", 1), row("/a", 2)]), 1);
});
