import assert from "node:assert/strict";
import { test } from "node:test";
import { importRows, importSource } from "./source.mjs";

const { isPagePath, mentionsPage, spellingsOf, toPageId, toPagePath } =
  await importRows("page_path.ts");
const { countsOfPage, earlierCountsOfPage, rowOfPage, spellingsIn } = await importSource(
  "analytics/one_page/page_figures.ts",
);
const { pageChange, pageLinks } = await importRows("page_address.ts");
const { REPORTS, toCountRow, toFeedbackRow, toSearchRow } = await importRows("report.ts");
const { toPageRows } = await importRows("feedback_rows.ts");
const { parseViewsAddress } = await importRows("views_address.ts");

function listing(rows, state = "complete", report = REPORTS.views) {
  return { rows: { value: rows }, state: { value: state }, report };
}

test("a path begins with a slash and has at most 1,000 characters", () => {
  for (const path of ["/", "/a", "/guides/é b?#%", `/${"a".repeat(999)}`]) {
    assert.equal(isPagePath(path), true, path);
  }
  for (const path of [null, "", "a", "https://a.example/", `/${"a".repeat(1000)}`]) {
    assert.equal(isPagePath(path), false, String(path));
  }
});

test("a path with a line break is invalid, because it becomes part of a prompt", () => {
  for (const separator of ["\n", "\r", "\u2028", "\u2029", "\u0000", "\u202e"]) {
    assert.equal(isPagePath(`/a${separator}b`), false, JSON.stringify(separator));
  }
});

test("a link to a page opens the page, whatever its path contains", () => {
  for (const path of ["/", "/a b", "/a&page=/b", "/a+b", "/a#c", "/é/%2F", "/?x=1"]) {
    const link = new URLSearchParams(pageLinks()(path));
    assert.equal(parseViewsAddress(link).page, path);
    assert.deepEqual(pageChange(path), { route: "views", analytics: { page: path } });
  }
});

test("URLs, paths without the first slash and empty strings become paths", () => {
  for (const [text, path] of [
    ["/guides/start", "/guides/start"],
    ["https://docs.example.com/guides/start?a=1#b", "/guides/start"],
    ["HTTP://docs.example.com:8080/a/", "/a/"],
    ["https://docs.example.com", "/"],
    ["https://docs.example.com?x=/y", "/"],
    ["guides/start", "/guides/start"],
    ["", "/"],
    [" ", "/"],
    ["//guides", "//guides"],
  ]) {
    assert.equal(toPagePath(text), path, text);
  }
});

test("the reports on feedback, searches and counts have paths, and null for an unknown page", () => {
  const path = "https://docs.example.com/a";
  assert.equal(toFeedbackRow({ path }).path, "/a");
  assert.equal(toPageRows([{ path: "a" }])[0].path, "/a");
  assert.equal(toSearchRow({ topClickedPage: path }).clicked, "/a");
  assert.equal(toCountRow({ path: "" }).path, "/");
  assert.equal(toCountRow({ path: "/a?b" }).path, "/a?b");
  assert.equal(toFeedbackRow({ path: null }).path, null);
  assert.equal(toPageRows([{ path: null }])[0].path, null);
  assert.equal(toSearchRow({ topClickedPage: null }).clicked, null);
  assert.equal(toCountRow({ path: null }).path, null);
});

test("all spellings of a page have one identity", () => {
  for (const text of [
    ...["/guides/café", "/guides/caf%C3%A9/", "/guides/cafe\u0301", "guides/café/index"],
    ...["https://docs.example.com/guides/café.md?x", "//guides///café", "/guides/café/index.html"],
  ]) {
    assert.equal(toPageId(text), "/guides/café", text);
  }
  for (const text of ["", "/", "/index", "https://docs.example.com/index.mdx"]) {
    assert.equal(toPageId(text), "/", text);
  }
  for (const [escaped, plain] of [
    ["/%40acme", "/@acme"],
    ["/a%2Bb", "/a+b"],
  ]) {
    assert.equal(toPageId(escaped), toPageId(plain));
  }
  for (const [one, other] of [
    ["/a%2Fb", "/a/b"],
    ["/a%3Fb", "/a"],
    ["/a%2525", "/a%25"],
    ["/Guides", "/guides"],
  ]) {
    assert.notEqual(toPageId(one), toPageId(other), one);
  }
  assert.equal(toPageId("/a%ZZ%E9"), "/a%ZZ%E9");
});

test("a prompt with the path as a whole word is about the page", () => {
  for (const prompt of [
    "Fix /guides/keys.",
    "/guides/keys is outdated",
    "See https://docs.example.com/guides/keys?tab=1",
    "“/Guides/Keys”",
  ]) {
    assert.equal(mentionsPage(prompt, "/guides/keys"), true, prompt);
  }
});

test("a prompt with a longer path is not about the page", () => {
  for (const prompt of [
    "/guides/keys-old",
    "/guides/keys/rotate",
    "/v2/guides/keys",
    "x/guides/keys",
  ]) {
    assert.equal(mentionsPage(prompt, "/guides/keys"), false, prompt);
  }
});

test("a prompt can spell the path in any way", () => {
  for (const prompt of [
    "Fix /guides/caf%C3%A9",
    "Fix /guides/cafe\u0301/ now",
    "Fix https://docs.example.com/guides/caf%c3%a9.md.",
    "/guides//café/index is outdated",
  ]) {
    for (const path of ["/guides/café", "/guides/caf%C3%A9/", "/guides/café.md"]) {
      assert.equal(mentionsPage(prompt, path), true, `${prompt} ${path}`);
    }
  }
  assert.equal(mentionsPage("Fix /zh/指南二", "/zh/指南"), false);
  assert.equal(mentionsPage("Fix /guides/café.json", "/guides/café"), false);
});

test("jobs are searched by each spelling that the gateway would not find otherwise", () => {
  assert.deepEqual(spellingsOf("/guides/keys/"), ["/guides/keys"]);
  assert.deepEqual(spellingsOf("/caf%C3%A9"), ["/café", "/caf%C3%A9"]);
  assert.deepEqual(spellingsOf("/@acme/a%2Fb"), ["/@acme/a%2Fb", "/%40acme/a%2Fb"]);
  assert.deepEqual(spellingsOf("/100%"), ["/100%"]);
});

test("a prompt that was cut before the path counts as about the page", () => {
  assert.equal(mentionsPage("Fix the", "/guides/keys"), true);
});

const row = { path: "/a", human: 2, ai: 3, total: 5 };

test("the figures come from the page's row", () => {
  assert.deepEqual(countsOfPage(listing([row]), "/a"), { human: 2, ai: 3, total: 5 });
});

test("the figures add up the views of every spelling, but not the visitors", () => {
  const rows = [row, { ...row, path: "/a/" }, { path: "/a/b", human: 9, ai: 9, total: 18 }];
  assert.deepEqual(countsOfPage(listing(rows), "/a"), { human: 4, ai: 6, total: 10 });
  const visitors = listing(rows, "complete", REPORTS.visitors);
  assert.deepEqual(countsOfPage(visitors, "/a/"), { human: 2, ai: 3, total: 5 });
  const unknown = listing([...rows, { path: "/A", human: 1, ai: 1, total: 2 }, { path: "/a" }]);
  assert.equal(countsOfPage(unknown, "/a").total, null);
});

test("the spellings of a page are those of its rows", () => {
  const rows = [row, { ...row, path: "/a/" }, { ...row, path: "/b" }];
  assert.deepEqual(spellingsIn(listing(rows), "/a.md"), ["/a", "/a/"]);
  assert.deepEqual(spellingsIn(null, "/a"), []);
});

test("a page that a complete list lacks has no views", () => {
  assert.deepEqual(countsOfPage(listing([row]), "/b"), { human: 0, ai: 0, total: 0 });
});

test("the figures are unknown until the row or the whole list is loaded", () => {
  assert.equal(countsOfPage(listing([row], "loading"), "/b"), null);
  assert.equal(countsOfPage(null, "/a"), null);
});

test("partial lists are compared only if both have the same spellings of the page", () => {
  const both = [row, { ...row, path: "/a.md" }];
  for (const [now, earlier, state, total] of [
    [[row], both, "partial", undefined],
    [both, [row], "partial", undefined],
    [both, both.toReversed(), "partial", 10],
    [both, [row], "complete", 5],
    [both, [], "complete", 0],
  ]) {
    const counts = earlierCountsOfPage(listing(now, state), listing(earlier, state), "/a");
    assert.equal(counts?.total, total);
  }
  assert.equal(earlierCountsOfPage(listing([row]), listing([], "loading"), "/a"), null);
  assert.equal(earlierCountsOfPage(listing([row]), null, "/a"), null);
});

test("the change is unknown without both totals", () => {
  const now = { human: 2, ai: 3, total: 5 };
  assert.equal(rowOfPage("/a", now, { human: 1, ai: 1, total: 2 }).change, 3);
  assert.equal(rowOfPage("/a", now, null).change, null);
  assert.equal(rowOfPage("/a", now, { human: null, ai: null, total: null }).change, null);
  assert.deepEqual(rowOfPage("/a", null, null), { path: "/a" });
});
