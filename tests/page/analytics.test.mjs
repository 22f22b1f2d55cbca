import assert from "node:assert/strict";
import { test } from "node:test";
import { lastDays } from "quillgate/values";
import { column, columns } from "./columns.mjs";
import { row } from "./count_rows.mjs";
import { importRows, importSource } from "./source.mjs";

const { compareRows } = await importRows("comparison.ts");
const { changeOf, sumRows, toneOf } = await importRows("sums.ts");
const { changeInWords, changeText } = await importRows("change_words.ts");
const { buildTree, flattenTree } = await importRows("folder_tree.ts");
const { arrangeRows, arrangementsOf, usualSorting } = await importRows("arrangement.ts");
const { REPORTS, toFeedbackRow } = await importRows("report.ts");
const { matchSentence } = await importRows("match_sentence.ts");

const { boundsOf, presetRange } = await importSource("analytics/period/range.ts");

test("the last 28 days are the same on the page as in the package and the command line", () => {
  for (const time of ["2026-11-28T20:47:11Z", "2026-03-01T00:00:00Z", "2026-03-01T00:03:09Z"]) {
    const now = Date.parse(time);
    for (const [id, days] of [
      ["last-28-days", 28],
      ["today", 1],
    ]) {
      const { dateFrom, dateTo } = boundsOf(presetRange(id, time.slice(0, 10)), now);
      assert.deepEqual(lastDays(days, now), { dateFrom, dateTo });
    }
  }
});

test("the first minutes of a day count as a day", () => {
  const ends = ["2026-11-30T00:00:00.400Z", "2026-11-30T00:00:01Z", "2026-11-30T00:05:02Z"].map(
    (time) => lastDays(14, Date.parse(time)).dateTo,
  );
  assert.deepEqual(ends, ["2026-11-30T00:00:01Z", "2026-11-30T00:00:01Z", "2026-11-30T00:05:00Z"]);
});

const KEYS = { key: "path", compared: "total" };
const VIEWS = REPORTS.views;

const whole = (...rows) => ({ rows, isComplete: true });
const part = (...rows) => ({ rows, isComplete: false });
const EARLIER = [row("/a", 10, 0), row("/gone", 7, 0)];
const NOW = [row("/a", 15, 0), row("/new", 3, 0)];
const compare = (now, earlier) =>
  columns(compareRows(now, earlier, KEYS), "path", "earlier", "change");
const pathsOf = (rows, arrangement) => column(arrangeRows(rows, arrangement, "total"), "path");

test("comparing complete lists yields every change, also for pages that are gone", () => {
  assert.deepEqual(compare(whole(...NOW), whole(...EARLIER)), [
    ["/a", 10, 5],
    ["/new", 0, 3],
    ["/gone", 7, -7],
  ]);
});

test("comparing incomplete lists does not treat missing rows as zero", () => {
  assert.deepEqual(compare(whole(...NOW), part(...EARLIER)), [
    ["/a", 10, 5],
    ["/new", null, null],
    ["/gone", 7, -7],
  ]);
  assert.deepEqual(compare(part(...NOW), whole(...EARLIER)), [
    ["/a", 10, 5],
    ["/new", 0, 3],
  ]);
  const rows = compareRows(part(...NOW), part(...EARLIER), KEYS);
  assert.deepEqual(column(rows, "change"), [5, null]);
});

test("a page that changed its spelling is compared with itself", () => {
  const compared = compareRows(
    whole(row("/a/", 5, 0), row("/caf%C3%A9", 3, 0), row("/b", 2, 0)),
    whole(row("/a", 4, 0), row("/café", 9, 0), row("/b", 1, 0), row("/b/", 7, 0)),
    KEYS,
  );
  assert.deepEqual(columns(compared, "path", "change"), [
    ["/a/", 1],
    ["/caf%C3%A9", -6],
    ["/b", 1],
    ["/b/", -7],
  ]);
});

test("a row has no change if either count is unknown", () => {
  const unknown = { path: "/a", human: null, ai: null, total: null };
  const change = (now, before) => compareRows(whole(now), whole(before), KEYS)[0].change;
  assert.equal(change(row("/a", 3, 0), unknown), null);
  assert.equal(change(unknown, row("/a", 3, 0)), null);
});

test("changes of people leave out AI, also for pages that are gone", () => {
  const rows = compareRows(
    whole(row("/a", 3, 90), row("/new", 2, 0)),
    whole(row("/a", 5, 1), row("/gone", 4, 7), row("/ai", 0, 9)),
    { key: "path", compared: "human" },
  );
  assert.deepEqual(columns(rows, "path", "earlier", "change", "total"), [
    ["/a", 5, -2, 93],
    ["/new", 0, 2, 2],
    ["/gone", 4, -4, 0],
    ["/ai", 0, 0, 0],
  ]);
  assert.deepEqual(pathsOf(rows, "people-rises"), ["/new"]);
  assert.deepEqual(pathsOf(rows, "people-falls"), ["/a", "/gone"]);
});

test("pages that are gone count neither in sums nor as least read", () => {
  const rows = compareRows(whole(...NOW), whole(...EARLIER), KEYS);
  assert.equal(sumRows(rows, "total").rows, 2);
  assert.deepEqual(pathsOf(rows, "least-read"), ["/a", "/new"]);
  assert.deepEqual(pathsOf(rows, "falls"), ["/gone"]);
});

test("search terms are compared by their term", () => {
  const [now, before] = [9, 4].map((hits) => whole({ query: "auth", hits }));
  const [term] = compareRows(now, before, { key: "query", compared: "hits" });
  assert.deepEqual([term.earlier, term.change], [4, 5]);
});

test("a change is a fraction of the earlier count, which is null for zero", () => {
  assert.deepEqual(changeOf(120, 100), { difference: 20, part: 0.2 });
  assert.deepEqual(changeOf(5, 0), { difference: 5, part: null });
  assert.equal(changeOf(null, 3), null);
});

test("only changes beyond ±10 % have a colour", () => {
  assert.equal(toneOf(changeOf(111, 100)), "rise");
  assert.equal(toneOf(changeOf(89, 100)), "fall");
  assert.equal(toneOf(changeOf(110, 100)), "");
  assert.equal(toneOf(changeOf(84_181, 84_648)), "");
  assert.equal(toneOf(changeOf(5, 0)), "rise");
  assert.equal(toneOf(changeOf(0, 0)), "");
});

test("the wording of a change names the earlier count", () => {
  assert.equal(changeText(changeOf(120, 100)), "20%");
  assert.equal(changeInWords(changeOf(120, 100)), "Up 20% from 100");
  assert.equal(changeInWords(changeOf(975, 1000)), "Down 2.5% from 1,000");
  assert.equal(changeText(changeOf(5, 0)), "New");
  assert.equal(changeText(changeOf(5, 5)), "No change");
});

const matches = { rows: 2, human: 30, ai: 12, total: 42 };
const sentence = (changes) =>
  matchSentence({
    report: VIEWS,
    isComplete: true,
    arrangement: "pages",
    filter: "/guides/",
    matches,
    ...changes,
  });

test("the match sentence has the count and the sums", () => {
  assert.equal(sentence(), "2 pages · 42 views (30 people, 12 AI)");
  assert.equal(sentence({ matches: { rows: 0, human: 0, ai: 0, total: 0 } }), "");
  assert.equal(sentence({ filter: "" }), "");
  assert.equal(sentence({ arrangement: "never-read" }), "2 pages without views");
});

test("the match sentence has no sum of visitors, who may be in several rows", () => {
  assert.equal(sentence({ report: REPORTS.visitors }), "2 pages");
});

test("unknown counts add nothing to the sums", () => {
  const sums = sumRows([row("/a", 1, 2), row("/b", 3, null)], "total");
  assert.deepEqual(sums, { rows: 2, human: 4, ai: 2, total: 6 });
});

const PAGES = [
  row("/guides/start", 10, 5),
  row("/guides/deep/one", 2, 2),
  row("/guides", 1, 0),
  row("/", 4, 0),
  row("/api/keys", 1, 8),
];
const byTotal = { column: "total", direction: "descending" };
const foldersShown = (open) =>
  flattenTree(buildTree(PAGES), new Set(open), byTotal).map(
    ({ name, level, pages, row: { total } }) => [name, level, pages, total],
  );

test("folders have the sums of everything below them", () => {
  assert.deepEqual(foldersShown([]), [
    ["guides/", 1, 2, 19],
    ["api/", 1, 1, 9],
    ["/", 1, 0, 4],
    ["guides", 1, 0, 1],
  ]);
});

test("an open folder shows its content in the same order", () => {
  assert.deepEqual(foldersShown(["/guides/", "/guides/deep/"]).slice(0, 4), [
    ["guides/", 1, 2, 19],
    ["start", 2, 0, 15],
    ["deep/", 2, 1, 4],
    ["one", 3, 0, 4],
  ]);
});

test("folders have no sum if every count is unknown", () => {
  const unknown = { path: "/guides/new", human: null, ai: null, total: null, change: null };
  const known = { ...row("/guides/start", 3, 1), earlier: 1, change: 3 };
  const sumsOf = (...given) => buildTree(given)[0].row;
  assert.equal(sumsOf(unknown).total, null);
  const { total, change } = sumsOf(unknown, known);
  assert.deepEqual([total, change], [4, null]);
});

test("folders stop at 64 levels and accept a path without a leading slash", () => {
  const depth = 20_000;
  const deep = [row(`/${"a/".repeat(depth)}end`, 1, 0), { ...row("/", 2, 0), path: "no/slash" }];
  const tree = buildTree(deep);
  const open = new Set(Array.from({ length: 100 }, (_, level) => `/${"a/".repeat(level + 1)}`));
  const lines = flattenTree(tree, open, byTotal);
  assert.deepEqual([lines[0].name, lines[0].level], ["no/", 1]);
  assert.equal(lines.at(-1).name, `${"a/".repeat(depth - 64)}end`);
  assert.equal(lines.length, 2 + 64);
});

test("all spellings of a folder are one folder", () => {
  const spelled = [
    "/caf%C3%A9/a",
    "/cafe\u0301/b",
    "//café//c/",
    "/café/a?tab=/x",
    "/café/index.md",
  ];
  const tree = buildTree(spelled.map((path, at) => row(path, 9 - at, 0)));
  const lines = flattenTree(tree, new Set(["/café/"]), byTotal);
  assert.deepEqual(columns(lines, "name", "pages", "path"), [
    ["café/", 4, "/café/"],
    ["a", 0, "/caf%C3%A9/a"],
    ["b", 0, "/cafe\u0301/b"],
    ["c", 0, "//café//c/"],
    ["a?tab=/x", 0, "/café/a?tab=/x"],
    ["café/index.md", 0, "/café/index.md"],
  ]);
});

test("the spellings of a page have different names in its folder", () => {
  const namesOf = (paths, open) =>
    flattenTree(buildTree(paths.map((path) => row(path, 1, 0))), new Set(open), byTotal)
      .filter(({ pages }) => pages === 0)
      .map(({ path, name }) => [path, name]);
  assert.deepEqual(namesOf(["/guides/a", "/guides/a.md", "/guides/a/"], ["/guides/"]), [
    ["/guides/a", "a"],
    ["/guides/a.md", "a.md"],
    ["/guides/a/", "a/"],
  ]);
  assert.deepEqual(namesOf(["/guides", "/guides/", "/guides/index", "/", "/index.md"], []), [
    ["/", "/"],
    ["/guides", "guides"],
    ["/guides/", "guides/"],
    ["/guides/index", "guides/index"],
    ["/index.md", "index.md"],
  ]);
});

test("folders have an AI share, and a change if every page has one", () => {
  const compared = PAGES.map((one) => ({ ...one, earlier: 1, change: one.total - 1 }));
  const [guides] = flattenTree(buildTree(compared), new Set(), byTotal);
  assert.equal(guides.row.share, 7 / 19);
  assert.equal(guides.row.change, 17);
  const [unknown] = flattenTree(buildTree(PAGES), new Set(), byTotal);
  assert.equal(unknown.row.change, null);
});

const READERS = [row("/ai", 1, 9), row("/people", 9, 1), row("/even", 5, 5)];
const shown = (arrangement, of = READERS) => arrangeRows(of, arrangement).map(({ path }) => path);

test("arrangements by reader keep pages with more than half of their views", () => {
  assert.deepEqual(shown("mostly-ai"), ["/ai"]);
  assert.deepEqual(shown("mostly-people"), ["/people"]);
  assert.deepEqual(shown("pages"), ["/ai", "/people", "/even"]);
});

test("rises and falls leave out unchanged and unknown rows", () => {
  const changed = [
    { path: "/up", change: 3 },
    { path: "/down", change: -3 },
    { path: "/same", change: 0 },
    { path: "/unknown", change: null },
  ];
  assert.deepEqual(shown("rises", changed), ["/up"]);
  assert.deepEqual(shown("falls", changed), ["/down"]);
});

test("a report offers only the arrangements that its columns support", () => {
  assert.ok(!arrangementsOf(REPORTS.visitors).some(({ id }) => id === "folders"));
  for (const report of [REPORTS.feedback, REPORTS.feedbackByPage]) {
    assert.deepEqual(column(arrangementsOf(report), "label"), ["All entries", "By page"]);
  }
  const least = { column: "total", direction: "ascending" };
  assert.deepEqual(usualSorting("least-read", VIEWS), least);
  assert.equal(usualSorting("pages", REPORTS.searches).column, "hits");
  assert.equal(usualSorting("pages", REPORTS.feedback).column, "created");
});

test("feedback without a comment becomes a row", () => {
  const vote = {
    id: "1",
    path: "/a",
    comment: null,
    createdAt: null,
    source: "thumbs_only",
    status: null,
  };
  assert.equal(toFeedbackRow(vote).helpful, null);
  assert.equal(toFeedbackRow({ ...vote, source: "contextual", helpful: false }).helpful, "No");
});
