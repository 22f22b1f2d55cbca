/**
 * The logic behind the route of one documentation page: valid paths, jobs about the page, and its
 * figures.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { importSource } from "./source.mjs";

const { isPagePath, mentionsPage } = await importSource("analytics/page_path.ts");
const { countsOfPage, rowOfPage } = await importSource("analytics/page_figures.ts");
const { pageChange, pageLinks } = await importSource("analytics/page_address.ts");
const { parseViewsAddress } = await importSource("analytics/views_address.ts");

/** Returns a stand-in for a listing of page views. */
function listing(rows, state = "complete") {
  return { rows: { value: rows }, state: { value: state } };
}

describe("path of a page", () => {
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
});

describe("jobs about a page", () => {
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

  test("a prompt that was cut before the path counts as about the page", () => {
    assert.equal(mentionsPage("Fix the", "/guides/keys"), true);
  });
});

describe("figures of a page", () => {
  const row = { path: "/a", human: 2, ai: 3, total: 5 };

  test("the figures come from the page's row", () => {
    assert.deepEqual(countsOfPage(listing([row]), "/a"), { human: 2, ai: 3, total: 5 });
  });

  test("a page that a complete list lacks has no views", () => {
    assert.deepEqual(countsOfPage(listing([row]), "/b"), { human: 0, ai: 0, total: 0 });
  });

  test("the figures are unknown until the row or the whole list is loaded", () => {
    assert.equal(countsOfPage(listing([row], "loading"), "/b"), null);
    assert.equal(countsOfPage(null, "/a"), null);
  });

  test("the change is unknown without both totals", () => {
    const now = { human: 2, ai: 3, total: 5 };
    assert.equal(rowOfPage("/a", now, { human: 1, ai: 1, total: 2 }).change, 3);
    assert.equal(rowOfPage("/a", now, null).change, null);
    assert.equal(rowOfPage("/a", now, { human: null, ai: null, total: null }).change, null);
    assert.deepEqual(rowOfPage("/a", null, null), { path: "/a" });
  });
});
