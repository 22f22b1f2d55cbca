/** Rows of the analytics routes: comparisons, sums, folders, arrangements, trends and addresses. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { importSource } from "./source.mjs";

const { compareRows } = await importSource("analytics/comparison.ts");
const { changeOf, remainderOf, sumRows, toneOf } = await importSource("analytics/sums.ts");
const { changeInWords, changeText } = await importSource("analytics/change_words.ts");
const { buildTree, flattenTree } = await importSource("analytics/folder_tree.ts");
const { arrangeRows, arrangementsOf, usualSorting } = await importSource(
  "analytics/arrangement.ts",
);
const { REPORTS, toCountRow, toFeedbackRow } = await importSource("analytics/report.ts");
const { findNeverRead } = await importSource("analytics/sitemap.ts");
const { readSitemap } = await importSource("analytics/read_sitemap.ts");
const { linkToPage, readSite } = await importSource("analytics/page_link.ts");
const { groupOf, groupsFor, trendPoints } = await importSource("analytics/trend.ts");
const { layOutChart, linePoints } = await importSource("analytics/chart_layout.ts");
const { answerSentence, costSentence, estimateRequests, loadLabel, loadedSentence, requestsLeft } =
  await importSource("analytics/partial_notice.ts");
const { pointLabel, pointLines } = await importSource("analytics/trend_words.ts");
const { matchSentence } = await importSource("analytics/match_sentence.ts");
const { formatViewsAddress, parseViewsAddress } = await importSource("analytics/views_address.ts");

const row = (path, human, ai) => toCountRow({ path, human, ai, total: human + ai });
const KEYS = { key: "path", main: "total" };
const VIEWS = REPORTS.views;

describe("comparison of rows", () => {
  const earlier = [row("/a", 10, 0), row("/gone", 7, 0)];
  const now = [row("/a", 15, 0), row("/new", 3, 0)];
  const compare = (nowComplete, earlierComplete) =>
    compareRows(
      { rows: now, isComplete: nowComplete },
      { rows: earlier, isComplete: earlierComplete },
      KEYS,
    ).map(({ path, earlier, change }) => [path, earlier, change]);

  test("comparing complete lists yields every change, also for pages that are gone", () => {
    assert.deepEqual(compare(true, true), [
      ["/a", 10, 5],
      ["/new", 0, 3],
      ["/gone", 7, -7],
    ]);
  });

  test("comparing incomplete lists does not treat missing rows as zero", () => {
    assert.deepEqual(compare(true, false), [
      ["/a", 10, 5],
      ["/new", null, null],
      ["/gone", 7, -7],
    ]);
    assert.deepEqual(compare(false, true), [
      ["/a", 10, 5],
      ["/new", 0, 3],
    ]);
    const rows = compareRows(
      { rows: now, isComplete: false },
      { rows: earlier, isComplete: false },
      KEYS,
    );
    assert.deepEqual(
      rows.map(({ change }) => change),
      [5, null],
    );
  });

  test("a row has no change if either count is unknown", () => {
    const unknown = { path: "/a", human: null, ai: null, total: null };
    const change = (now, before) =>
      compareRows({ rows: [now], isComplete: true }, { rows: [before], isComplete: true }, KEYS)[0]
        .change;
    assert.equal(change(row("/a", 3, 0), unknown), null);
    assert.equal(change(unknown, row("/a", 3, 0)), null);
  });

  test("pages that are gone count neither in sums nor as least read", () => {
    const rows = compareRows(
      { rows: now, isComplete: true },
      { rows: earlier, isComplete: true },
      KEYS,
    );
    assert.equal(sumRows(rows, "total").rows, 2);
    const pathsOf = (arrangement) =>
      arrangeRows(rows, arrangement, "total").map(({ path }) => path);
    assert.deepEqual(pathsOf("least-read"), ["/a", "/new"]);
    assert.deepEqual(pathsOf("falls"), ["/gone"]);
  });

  test("search terms are compared by their term", () => {
    const [term] = compareRows(
      { rows: [{ query: "auth", hits: 9 }], isComplete: true },
      { rows: [{ query: "auth", hits: 4 }], isComplete: true },
      { key: "query", main: "hits" },
    );
    assert.deepEqual([term.earlier, term.change], [4, 5]);
  });
});

describe("change", () => {
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
});

describe("partial list", () => {
  const rows = [row("/a", 600, 0), row("/b", 150, 0)];

  test("the remainder has at most one row for each view that is left", () => {
    assert.deepEqual(remainderOf(1250, rows, "total", 250), { rows: 500, requests: 2 });
    assert.deepEqual(remainderOf(null, rows, "total", 250), { rows: null, requests: null });
    assert.equal(remainderOf(700, rows, "total", 250).requests, 1, "more views than the total");
  });

  const list = (changes = {}) => ({
    report: VIEWS,
    loaded: 250,
    part: 0.85,
    remainder: { rows: 3000, requests: 12 },
    lastSums: [1000, 500],
    arrangement: "pages",
    sorting: { column: "total", direction: "descending" },
    filter: "",
    ...changes,
  });
  const limit = { policy: "analytics", quota: 100, left: 59, at: 0, freesAt: 60_000 };

  test("the notice of a partial list names the loaded part of the total", () => {
    assert.equal(loadedSentence(list()), "Showing the top 250 pages (85% of views).");
    const feedback = list({ report: REPORTS.feedback, part: null });
    assert.equal(loadedSentence(feedback), "Showing the first 250 entries.");
  });

  test("the notice of a partial list names the requests to load the rest, and those left", () => {
    assert.equal(
      costSentence(12, limit, 0),
      "Loading the rest uses about 12 of your 59 remaining requests.",
    );
    assert.equal(
      costSentence(76, limit, 0),
      "Loading the rest takes about 76 requests; 59 requests left this hour.",
    );
    assert.equal(costSentence(null, limit, 0), "59 requests left this hour.");
    assert.equal(costSentence(1, null, 0), "Loading the rest uses about 1 request.");
    assert.equal(loadLabel(VIEWS, limit, 0), "Load all pages");
  });

  test("the last ten requests of a shared limit need a separate decision", () => {
    const scarce = { ...limit, left: 10 };
    assert.match(costSentence(76, scarce, 0), /^Only 10 requests left this hour, kept for others/);
    assert.equal(loadLabel(VIEWS, scarce, 0), "Use the last 10 requests");
    const own = { ...scarce, policy: "analytics-caller" };
    assert.equal(loadLabel(VIEWS, own, 0), "Load all pages");
  });

  test("without requests the notice names the time of the next one, until then", () => {
    const none = { ...limit, left: 0 };
    assert.match(costSentence(76, none, 0), /^No requests left. Continue at \d+:01/);
    assert.equal(requestsLeft(none, 0), 0);
    assert.equal(requestsLeft(none, 60_000), 1);
    assert.equal(requestsLeft({ ...none, freesAt: null }, 60_000), 0);
  });

  test("the estimate comes from another period, or from the last loaded rows", () => {
    assert.equal(estimateRequests(list(), 1000), 3);
    const even = list({ lastSums: [500, 500] });
    assert.equal(estimateRequests(even, null), 6, "3,000 views, 500 on each page");
    assert.equal(estimateRequests(even, 250), 6);
    assert.equal(estimateRequests(list(), null), 12, "later pages have fewer views");
    assert.equal(estimateRequests(list(), 100_000), 12, "the maximum");
    assert.equal(estimateRequests(list({ lastSums: [] }), null), null);
  });

  test("the notice of a partial list fits the arrangement and the filter", () => {
    const ascending = { column: "total", direction: "ascending" };
    assert.equal(
      answerSentence(list({ sorting: ascending })),
      "Pages with fewer views haven’t been loaded yet.",
    );
    assert.match(answerSentence(list({ filter: "x" })), /covers only these pages/);
    assert.match(answerSentence(list({ arrangement: "folders" })), /totals cover only these/);
    assert.match(answerSentence(list({ arrangement: "never-read" })), /may have views/);
    assert.match(answerSentence(list({ arrangement: "falls" })), /may have bigger changes/);
    assert.equal(answerSentence(list()), "");
  });
});

describe("matching rows", () => {
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
});

describe("folders", () => {
  const rows = [
    row("/guides/start", 10, 5),
    row("/guides/deep/one", 2, 2),
    row("/guides", 1, 0),
    row("/", 4, 0),
    row("/api/keys", 1, 8),
  ];
  const byTotal = { column: "total", direction: "descending" };
  const shown = (open) =>
    flattenTree(buildTree(rows), new Set(open), byTotal).map(
      ({ name, level, pages, row: { total } }) => [name, level, pages, total],
    );

  test("folders have the sums of everything below them", () => {
    assert.deepEqual(shown([]), [
      ["guides/", 1, 2, 19],
      ["api/", 1, 1, 9],
      ["/", 1, 0, 4],
      ["guides", 1, 0, 1],
    ]);
  });

  test("an open folder shows its content in the same order", () => {
    assert.deepEqual(shown(["/guides/", "/guides/deep/"]).slice(0, 4), [
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
    const deep = [row(`/${"a/".repeat(depth)}end`, 1, 0), row("no/slash", 2, 0)];
    const tree = buildTree(deep);
    const open = new Set(Array.from({ length: 100 }, (_, level) => `/${"a/".repeat(level + 1)}`));
    const lines = flattenTree(tree, open, byTotal);
    assert.deepEqual([lines[0].name, lines[0].level], ["no/slash", 1]);
    assert.equal(lines.at(-1).name, `${"a/".repeat(depth - 64)}end`);
    assert.equal(lines.length, 2 + 64);
  });

  test("folders have an AI share, and a change if every page has one", () => {
    const compared = rows.map((one) => ({ ...one, earlier: 1, change: one.total - 1 }));
    const [guides] = flattenTree(buildTree(compared), new Set(), byTotal);
    assert.equal(guides.row.share, 7 / 19);
    assert.equal(guides.row.change, 17);
    const [unknown] = flattenTree(buildTree(rows), new Set(), byTotal);
    assert.equal(unknown.row.change, null);
  });
});

describe("arrangement", () => {
  const rows = [row("/ai", 1, 9), row("/people", 9, 1), row("/even", 5, 5)];
  const shown = (arrangement, of = rows) => arrangeRows(of, arrangement).map(({ path }) => path);

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
    assert.deepEqual(
      arrangementsOf(REPORTS.feedback).map(({ label }) => label),
      ["All entries", "By page"],
    );
    const least = { column: "total", direction: "ascending" };
    assert.deepEqual(usualSorting("least-read", VIEWS), least);
    assert.equal(usualSorting("pages", REPORTS.searches).column, "hits");
    assert.equal(usualSorting("pages", REPORTS.feedback).column, "created");
  });
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

describe("sitemap", () => {
  const XML = `<?xml version="1.0"?><urlset xmlns="x">
    <url><loc>https://docs.example.com/guides/start</loc></url>
    <url><loc> https://docs.example.com/a&amp;b </loc></url>
    <url><loc><![CDATA[https://docs.example.com/caf%C3%A9/]]></loc></url></urlset>`;

  test("a sitemap is XML, or a list of addresses and paths", () => {
    assert.deepEqual(readSitemap(XML), {
      ok: true,
      paths: ["/guides/start", "/a&b", "/café/"],
      origin: "https://docs.example.com",
    });
    const list = readSitemap("https://docs.example.com/x\n/y\nnot an address\n");
    assert.deepEqual([list.paths, list.origin], [["/x", "/y"], "https://docs.example.com"]);
  });

  test("of several sitemaps, only those of the first site count", () => {
    const prefixed = `<sm:urlset xmlns:sm="x"><sm:url><sm:loc>https://docs.example.com/a&#38;b</sm:loc>`;
    const other = "<urlset><url><loc>https://blog.example.com/post</loc></url></urlset>";
    const { paths, origin } = readSitemap(`${XML}\n${prefixed}\n${other}`);
    assert.deepEqual(paths, ["/guides/start", "/a&b", "/café/"]);
    assert.equal(origin, "https://docs.example.com");
  });

  test("text that is not a sitemap is rejected with a reason", () => {
    assert.match(readSitemap("  ").reason, /Paste a sitemap/);
    for (const name of ["sitemapindex", "sm:sitemapindex"]) {
      assert.match(readSitemap(`<${name}><loc>https://a.b/c</loc>`).reason, /index/);
    }
    assert.match(readSitemap("hello").reason, /No addresses found/);
  });

  test("pages that were never read are found despite different spellings", () => {
    const rows = [row("/guides/start/", 1, 0), row("/café", 1, 0), row("/x.html", 1, 0)];
    const never = findNeverRead(["/guides/start", "/caf%C3%A9/", "/x", "/never", "/"], rows);
    assert.deepEqual(
      never.map(({ path }) => path),
      ["/never", "/"],
    );
  });
});

describe("link to a page", () => {
  test("a path links to the site that was entered", () => {
    const { site } = readSite(" docs.example.com/base/ ");
    assert.equal(site, "https://docs.example.com/base");
    assert.equal(linkToPage(site, "/guides/start"), "https://docs.example.com/base/guides/start");
    assert.equal(linkToPage(site, "/what?/a b"), "https://docs.example.com/base/what%3F/a%20b");
    assert.equal(linkToPage(site, "/caf%C3%A9"), "https://docs.example.com/base/caf%C3%A9");
    assert.equal(linkToPage(null, "/a"), null);
  });

  test("a malicious path never links to another site", () => {
    const site = "https://docs.example.com";
    for (const path of [
      "//evil.example",
      "/\\evil.example",
      "javascript:alert(1)",
      "@evil",
      "",
      null,
    ]) {
      assert.equal(linkToPage(site, path), null, String(path));
    }
  });

  test("an invalid address of a site is rejected", () => {
    for (const text of ["", "javascript:alert(1)", "ftp://a.b", "https://user:pw@a.b", "http://"]) {
      assert.equal(readSite(text).ok, false, text);
    }
  });
});

describe("trend", () => {
  const held = (date, human, ai, days = 1) => ({
    date,
    human,
    ai,
    total: human + ai,
    days,
    missing: [],
  });
  const week = { from: "2026-11-02", to: "2026-11-08" };

  test("a trend has a point for each day, held or missing", () => {
    const points = trendPoints(week, "day", [held("2026-11-03", 5, 2)]);
    assert.equal(points.length, 7);
    assert.deepEqual(
      points.map(({ held }) => held),
      [0, 1, 0, 0, 0, 0, 0],
    );
    assert.deepEqual([points[1].human, points[1].ai], [5, 2]);
  });

  test("a trend has weeks from Monday, or months, cut to the range", () => {
    const range = { from: "2026-10-07", to: "2026-11-10" };
    const weeks = trendPoints(range, "week", [held("2026-10-05", 7, 1, 3)]);
    assert.deepEqual([weeks[0].from, weeks[0].to], ["2026-10-07", "2026-10-11"]);
    assert.deepEqual([weeks[0].held, weeks[0].days], [3, 5]);
    const months = trendPoints(range, "month", [held("2026-11-01", 1, 1, 10)]);
    assert.deepEqual(
      months.map(({ from, to, held }) => [from, to, held]),
      [
        ["2026-10-07", "2026-10-31", 0],
        ["2026-11-01", "2026-11-10", 10],
      ],
    );
  });

  test("a trend groups by day, week or month depending on its length", () => {
    assert.equal(groupOf(week), "day");
    assert.equal(groupOf({ from: "2026-08-24", to: "2026-11-21" }), "day");
    assert.equal(groupOf({ from: "2025-11-22", to: "2026-11-21" }), "week");
    assert.equal(groupOf({ from: "2023-11-22", to: "2026-11-21" }), "month");
  });

  test("a chart offers the intervals that have several bars", () => {
    const range = (to) => ({ from: "2026-01-01", to });
    assert.deepEqual(groupsFor(range("2026-01-07")), ["day"]);
    assert.deepEqual(groupsFor(range("2026-01-28")), ["day", "week"]);
    assert.deepEqual(groupsFor(range("2026-12-31")), ["day", "week", "month"]);
    assert.equal(groupOf(range("2026-01-07"), "month"), "day");
    assert.equal(groupOf(range("2026-12-31"), "day"), "day");
  });

  test("the label of a partial week has the number of its counted days", () => {
    const range = { from: "2026-11-02", to: "2026-11-09" };
    const held = [{ date: "2026-11-09", human: 5, ai: 5, days: 1 }];
    const [whole, partial] = trendPoints(range, "week", held);
    assert.deepEqual([whole.days, whole.span], [7, 7]);
    assert.deepEqual([partial.days, partial.span], [1, 7]);
    assert.equal(pointLabel(partial), "Nov 9, 2026 (1 of 7 days)");
    const earlier = { ...partial, human: 4, ai: 4 };
    assert.deepEqual(pointLines(partial, earlier).slice(1, 3), [
      "People 5 · AI 5",
      "Total 10 vs 8 (+25%)",
    ]);
    assert.deepEqual(pointLines({ ...partial, held: 0 }, earlier).slice(1), ["No data"]);
  });

  test("the comparison's line shares the scale of the bars", () => {
    const point = (human) => ({ human, ai: 0, held: 1, days: 1, span: 1, from: "2026-11-01" });
    const chart = layOutChart([point(1), point(1)], { width: 100, height: 50 }, [
      point(4),
      point(2),
    ]);
    assert.equal(linePoints(chart, [point(4), point(2)]), "25,0 75,25");
    assert.equal(linePoints(chart, [{ ...point(4), held: 0 }, point(2)]), "75,25");
  });

  test("the chart stacks AI on top of people within the plot", () => {
    const points = trendPoints(week, "day", [
      held("2026-11-03", 600, 300),
      held("2026-11-04", 90, 0),
    ]);
    const { bars, yTicks, xTicks } = layOutChart(points, { width: 700, height: 100 });
    const [, full, low] = bars;
    assert.equal(full.human.y + full.human.height, 100);
    assert.equal(full.ai.y + full.ai.height, full.human.y);
    assert.ok(full.ai.y >= 0);
    assert.ok(Math.abs(full.human.height / full.ai.height - 2) < 1e-9);
    assert.ok(low.human.height < full.human.height);
    assert.ok(bars.every(({ x, width }) => x >= 0 && x + width <= 700));
    assert.ok(yTicks.length <= 6 && yTicks.at(-1).value >= 900);
    assert.ok(xTicks.length <= 8);
  });

  test("the chart of an empty trend has finite coordinates", () => {
    const { bars, yTicks } = layOutChart([], { width: 300, height: 100 });
    assert.equal(bars.length, 0);
    assert.ok(yTicks.every(({ y }) => Number.isFinite(y)));
  });
});

describe("address of a report", () => {
  const read = (search) => parseViewsAddress(new URLSearchParams(search));
  const written = (search) => `${new URLSearchParams(formatViewsAddress(read(search)))}`;

  test("the address of a report has everything that differs from the defaults", () => {
    assert.equal(written(""), "range=last-28-days");
    const full =
      "from=2026-10-01&to=2026-10-31&compare=previous-year&show=folders&sort=-ai&path=%2Fa";
    assert.equal(written(full), full);
    assert.deepEqual(read(full).range, { from: "2026-10-01", to: "2026-10-31" });
  });

  test("invalid parts of the address fall back to the defaults", () => {
    const invalid = read("range=never&compare=x&show=y&sort=z");
    assert.deepEqual(invalid, { ...read(""), hasInvalidDates: true });
    assert.equal(read("").comparison, "previous-period");
    assert.equal(read("sort=total").sorting.direction, "ascending");
  });

  test("invalid dates of a link are reported and replaced by the default", () => {
    const today = "2026-11-24";
    const reported = (search) => {
      const { range, hasInvalidDates } = parseViewsAddress(new URLSearchParams(search), today);
      assert.equal(hasInvalidDates, range === "last-28-days" && search !== "");
      return hasInvalidDates;
    };
    assert.equal(reported("from=2026-11-20&to=2026-11-01"), true);
    assert.equal(reported("from=2026-02-30&to=2026-03-01"), true);
    assert.equal(reported("from=2026-11-01"), true);
    assert.equal(reported("from=2030-01-01&to=2030-01-02"), true);
    assert.equal(reported("range=garbage"), true);
    assert.equal(reported("from=2026-11-01&to=2030-01-01"), false);
    assert.equal(reported("range=today"), false);
    assert.equal(reported(""), false);
  });

  test("open folders survive in the address, also with commas and percent signs", () => {
    const openFolders = ["/guides/", "/a,b/%2C/"];
    const address = { ...read("show=folders"), openFolders };
    const search = `${new URLSearchParams(formatViewsAddress(address))}`;
    assert.deepEqual(read(search).openFolders, openFolders);
    assert.deepEqual(read("open=guides,/x").openFolders, []);
  });

  test("the address of a report accepts the columns of every report", () => {
    assert.deepEqual(read("sort=-hits").sorting, { column: "hits", direction: "descending" });
    assert.deepEqual(read("sort=change").sorting, { column: "change", direction: "ascending" });
  });
});
