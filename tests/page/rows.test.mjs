import assert from "node:assert/strict";
import { test } from "node:test";
import { importRows } from "./source.mjs";

const { filterRows, joinSlices, nextSorting, repeatedPaths, sortRows, visibleSlice } =
  await importRows("rows.ts");
const { archivePrefix, matchesGlob, parsePathFilter } = await importRows("path_filter.ts");

const row = (path, total) => ({ path, human: 0, ai: 0, total });
const paths = (rows) => rows.map(({ path }) => path);
const by = (column, direction) => ({ column, direction });

test("rows without a count come last in both directions", () => {
  const rows = [row("/a", 1), row("/none", null), row("/b", 10)];
  assert.deepEqual(paths(sortRows(rows, by("total", "descending"))), ["/b", "/a", "/none"]);
  assert.deepEqual(paths(sortRows(rows, by("total", "ascending"))), ["/a", "/b", "/none"]);
});

test("equal counts are sorted by path, and the input is not mutated", () => {
  const rows = [row("/c", 1), row("/a", 1), row("/b", 1)];
  assert.deepEqual(paths(sortRows(rows, by("total", "descending"))), ["/a", "/b", "/c"]);
  assert.deepEqual(paths(rows), ["/c", "/a", "/b"]);
});

test("times are sorted as instants, whatever their format, and unknown ones come last", () => {
  const rows = [
    "2026-11-27T22:30:00Z",
    null,
    "2026-11-27 22:29:00",
    "2026-11-28T00:31:00+02:00",
  ].map((created) => ({ path: created, created }));
  assert.deepEqual(paths(sortRows(rows, by("created", "descending"))), [
    ...[rows[3].path, rows[0].path, rows[2].path, null],
  ]);
});

test("a chosen column starts in its most useful direction", () => {
  const total = by("total", "descending");
  assert.deepEqual(nextSorting(total, "total"), by("total", "ascending"));
  assert.deepEqual(nextSorting(total, "ai"), by("ai", "descending"));
  assert.deepEqual(nextSorting(total, "path"), by("path", "ascending"));
});

const ROWS = ["/guides", "/guides/start", "/guides/deep/start", "/guides-old", "/API/keys", null];
const matching = (query) =>
  paths(
    filterRows(
      ROWS.map((path) => row(path, 1)),
      query,
    ),
  );

test("a filter of words matches all of them, ignoring case", () => {
  assert.deepEqual(matching("api"), ["/API/keys"]);
  assert.deepEqual(matching(" KEYS api "), ["/API/keys"]);
  const rows = [row("/a", 1)];
  assert.equal(filterRows(rows, "  "), rows);
});

test("a filter finds characters whether they are escaped, decomposed, full-width or capitals", () => {
  const finds = (path, text) => parsePathFilter(text).matches(path);
  for (const [path, text] of [
    ["/zh/%E6%8C%87%E5%8D%97", "指南"],
    ["/caf\u0065\u0301", "café"],
    ["/caf%C3%A9/menu", "/CAF\u0045\u0301/*"],
    ["/ＦＡＱ", "faq"],
    ["/İstanbul", "istanbul"],
    ["/c++", "/c++"],
    ["/100%", "100%"],
    ["/guides/café", "https://docs.example.com/guides/caf%C3%A9?tab=1"],
  ]) {
    assert.ok(finds(path, text), `${path} ${text}`);
  }
  const terms = [{ query: "%41 ＦＡＱ" }, { query: "A" }];
  assert.deepEqual(filterRows(terms, "%41 faq", "query"), terms.slice(0, 1));
});

test("a filter finds a page in any spelling of its path", () => {
  const finds = (path, text) => parsePathFilter(text).matches(path);
  for (const [path, text] of [
    ["/guides//start/", "/guides/start"],
    ["/guides/start", "/guides/start.md"],
    ["/guides/start.html", "https://docs.example.com/guides/start/index"],
    ["/guides//start", "/guides/*"],
    ["//guides/deep//start", "deep/start"],
    ["/readme.md", "*.md"],
  ]) {
    assert.ok(finds(path, text), `${path} ${text}`);
  }
  assert.ok(!finds("/guides/start-here", "/guides/start.md"));
});

test("a filter with a leading slash matches the start of a path", () => {
  assert.deepEqual(matching("/guides"), [
    "/guides",
    "/guides/start",
    "/guides/deep/start",
    "/guides-old",
  ]);
  assert.deepEqual(matching("/guides/"), ["/guides/start", "/guides/deep/start"]);
  assert.deepEqual(matching("/start"), []);
});

test("a filter with a star is a glob of the whole path", () => {
  assert.deepEqual(matching("/guides/*"), ["/guides/start"]);
  assert.deepEqual(matching("/guides/**"), ["/guides/start", "/guides/deep/start"]);
  assert.deepEqual(matching("/guides/**/start"), ["/guides/start", "/guides/deep/start"]);
  assert.deepEqual(matching("*start"), ["/guides/start", "/guides/deep/start"]);
  assert.deepEqual(matching("/guide?"), ["/guides"]);
  assert.equal(parsePathFilter("/a/*").kind, "glob");
});

test("two stars match any number of levels, and a glob starts at a segment", () => {
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

test("a filter of search terms treats special characters as words", () => {
  const terms = [{ query: "oauth? token" }, { query: "/api *" }, { query: "oauth" }];
  const found = (text) => filterRows(terms, text, "query").map(({ query }) => query);
  assert.deepEqual(found("TOKEN oauth?"), ["oauth? token"]);
  assert.deepEqual(found("/api"), ["/api *"]);
  assert.deepEqual(found("  "), ["oauth? token", "/api *", "oauth"]);
});

test("a filter that names a folder becomes a prefix of the archive", () => {
  assert.equal(archivePrefix("/guides/"), "/guides");
  assert.equal(archivePrefix("/guides/deep/**"), "/guides/deep");
  for (const other of ["", "/", "/guides", "guides/", "/gui*/", "two words/"]) {
    assert.equal(archivePrefix(other), null, other);
  }
});

test("a glob of many stars takes less than two seconds of CPU time", () => {
  const text = "/".concat("a".repeat(2000));
  const before = process.cpuUsage();
  assert.equal(matchesGlob(text, `/${"*a".repeat(40)}b`), false);
  assert.equal(matchesGlob(text, `${"**a".repeat(40)}b`), false);
  assert.equal(matchesGlob(text, `/${"*a".repeat(40)}`), true);
  const { user } = process.cpuUsage(before);
  assert.ok(user < 2_000_000, `${user} µs`);
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

test("a list that became shorter than the scroll position still shows rows", () => {
  const { start, end } = visibleSlice({ scrollTop: 50_000, height: 800 }, 34, 10);
  assert.deepEqual({ start, end }, { start: 0, end: 10 });
  const longer = visibleSlice({ scrollTop: 50_000, height: 800 }, 34, 200);
  assert.ok(longer.end === 200 && longer.end - longer.start >= 24);
});

test("repeated paths are counted", () => {
  assert.equal(repeatedPaths([row("/a", 1), row("/b", 1)]), 0);
  assert.equal(repeatedPaths([row("/a", 1), row("/b", 1), row("/a", 2)]), 1);
});

test("the first and the visible rows are one slice only if no row is between them", () => {
  const visible = { start: 40, end: 60 };
  assert.deepEqual(joinSlices({ start: 0, end: 0 }, visible), [visible]);
  assert.deepEqual(joinSlices({ start: 0, end: 30 }, visible), [{ start: 0, end: 30 }, visible]);
  assert.deepEqual(joinSlices({ start: 0, end: 40 }, visible), [{ start: 0, end: 60 }]);
  assert.deepEqual(joinSlices({ start: 0, end: 90 }, visible), [{ start: 0, end: 90 }]);
});
