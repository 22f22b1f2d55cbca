import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { importSource } from "./source.mjs";

const { filterRows, nextSorting, repeatedPaths, sortRows, visibleSlice } =
  await importSource("analytics/rows.ts");
const { archivePrefix, matchesGlob, parsePathFilter } = await importSource(
  "analytics/path_filter.ts",
);

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

describe("a filter", () => {
  const ROWS = ["/guides", "/guides/start", "/guides/deep/start", "/guides-old", "/API/keys", null];
  const matching = (query) =>
    paths(
      filterRows(
        ROWS.map((path) => row(path, 1)),
        query,
      ),
    );

  test("of words wants every word, in any case", () => {
    assert.deepEqual(matching("api"), ["/API/keys"]);
    assert.deepEqual(matching(" KEYS api "), ["/API/keys"]);
    const rows = [row("/a", 1)];
    assert.equal(filterRows(rows, "  "), rows);
  });

  test("that begins with a slash is the beginning of a path", () => {
    assert.deepEqual(matching("/guides"), [
      "/guides",
      "/guides/start",
      "/guides/deep/start",
      "/guides-old",
    ]);
    assert.deepEqual(matching("/guides/"), ["/guides/start", "/guides/deep/start"]);
    assert.deepEqual(matching("/start"), []);
  });

  test("with a star is a glob of the whole path", () => {
    assert.deepEqual(matching("/guides/*"), ["/guides/start"]);
    assert.deepEqual(matching("/guides/**"), ["/guides/start", "/guides/deep/start"]);
    assert.deepEqual(matching("/guides/**/start"), ["/guides/start", "/guides/deep/start"]);
    assert.deepEqual(matching("*start"), ["/guides/start", "/guides/deep/start"]);
    assert.deepEqual(matching("/guide?"), ["/guides"]);
    assert.equal(parsePathFilter("/a/*").kind, "glob");
  });

  test("of a glob may leave out each of several levels, and begins where a name does", () => {
    const matches = (path, glob) => parsePathFilter(glob).matches(path);
    for (const path of ["/a/b/c", "/a/x/b/c", "/a/b/y/c", "/a/x/b/y/z/c"]) {
      assert.ok(matches(path, "/a/**/b/**/c"), path);
    }
    assert.ok(!matches("/a/x/c", "/a/**/b/**/c"));
    const deep = "/a/x/a/x/a/x/a/x/a/x/a/x/a/x/a/x/end";
    assert.ok(matches(deep, `${"/a/**".repeat(8)}/end`));
    assert.ok(!matches(deep, `${"/a/**".repeat(8)}/other`));
    assert.ok(matches("/guides/start-here", "start*"));
    assert.ok(!matches("/guides/restart", "start*"));
    assert.ok(matches("/readme.md", "*.md"));
  });

  test("of terms looks for words, whatever they have in them", () => {
    const terms = [{ query: "oauth? token" }, { query: "/api *" }, { query: "oauth" }];
    const found = (text) => filterRows(terms, text, "query").map(({ query }) => query);
    assert.deepEqual(found("TOKEN oauth?"), ["oauth? token"]);
    assert.deepEqual(found("/api"), ["/api *"]);
    assert.deepEqual(found("  "), ["oauth? token", "/api *", "oauth"]);
  });

  test("that names a folder is what the archive calls a prefix", () => {
    assert.equal(archivePrefix("/guides/"), "/guides");
    assert.equal(archivePrefix("/guides/deep/**"), "/guides/deep");
    for (const other of ["", "/", "/guides", "guides/", "/gui*/", "two words/"]) {
      assert.equal(archivePrefix(other), null, other);
    }
  });

  test("is quick even for a glob of many stars", () => {
    const text = "/".concat("a".repeat(2000));
    const before = performance.now();
    assert.equal(matchesGlob(text, `/${"*a".repeat(40)}b`), false);
    assert.equal(matchesGlob(text, `${"**a".repeat(40)}b`), false);
    assert.equal(matchesGlob(text, `/${"*a".repeat(40)}`), true);
    const plain = performance.now() - before;
    assert.ok(plain < 2000, `${plain} ms`);
  });
});

test("the rows in the document cover the window and stay within the list", () => {
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

test("a list that is shorter than the window had scrolled by is still shown", () => {
  const { start, end } = visibleSlice({ scrollTop: 50_000, height: 800 }, 34, 10);
  assert.deepEqual({ start, end }, { start: 0, end: 10 });
  const longer = visibleSlice({ scrollTop: 50_000, height: 800 }, 34, 200);
  assert.ok(longer.end === 200 && longer.end - longer.start >= 24);
});

test("repeated paths are counted", () => {
  assert.equal(repeatedPaths([row("/a", 1), row("/b", 1)]), 0);
  assert.equal(repeatedPaths([row("/a", 1), row("/b", 1), row("/a", 2)]), 1);
});
