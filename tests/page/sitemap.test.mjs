/**
 * Sitemaps and links to the site. The page reads sitemaps, finds pages without views, and turns a
 * path into a safe link.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { row } from "./count_rows.mjs";
import { importSource } from "./source.mjs";

const { findNeverRead } = await importSource("analytics/rows/sitemap.ts");
const { readSitemap } = await importSource("analytics/rows/read_sitemap.ts");
const { linkToPage, readSite } = await importSource("analytics/rows/page_link.ts");

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
