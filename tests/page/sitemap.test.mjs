/** `sitemap.spec.mjs` tests sitemaps in XML, which only a browser parses. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { column } from "./columns.mjs";
import { row } from "./count_rows.mjs";
import { importRows } from "./source.mjs";

const { findNeverRead } = await importRows("sitemap.ts");
const reader = await importRows("read_sitemap.ts");
const readSitemap = (text, site = null) => reader.readSitemap([text], site);
const { linkToPage, readSite } = await importRows("page_link.ts");

test("a list has one address or path on each line", () => {
  const list = readSitemap("https://docs.example.com/x\n/y\nnot an address\n");
  assert.deepEqual([list.paths, list.origin], [["/x", "/y"], "https://docs.example.com"]);
});

test("llms.txt lists pages in links, and files that are not pages", () => {
  const list = readSitemap(`# Acme\n\n> Docs at https://other.example
- [Quickstart](https://docs.example.com/quickstart.md): see [API](</api_(v2).md>)
- [OpenAPI](https://docs.example.com/openapi.json)\n`);
  assert.deepEqual(list.paths, ["/quickstart.md", "/api_(v2).md"]);
  assert.equal(list.ignored, "Ignored 1 address: not a page.");
});

test("one site may have www or not, and both schemes; other sites are ignored", () => {
  const { paths, origin, ignored } = readSitemap(
    "http://www.example.com/a\nhttps://example.com/b\nhttps://blog.example.com/c\nhttps://[x/d",
  );
  assert.deepEqual([paths, origin], [["/a", "/b"], "https://example.com"]);
  assert.equal(ignored, "Ignored 2 addresses: 1 on other sites, 1 not valid.");
  assert.equal(readSitemap("/a").ignored, null);
});

test("a first link to another site does not hide the pages", () => {
  const { paths, origin, ignored } = readSitemap(`# Acme
- [Status](https://status.example.org/)
- [A](https://docs.example.com/a.md)
- [B](https://docs.example.com/b.md)\n`);
  assert.deepEqual([paths, origin], [["/a.md", "/b.md"], "https://docs.example.com"]);
  assert.equal(ignored, "Ignored 1 address: on other sites.");
});

test("a known site decides, however many links lead elsewhere", () => {
  const list = "https://docs.example.com/a\nhttps://github.com/x\nhttps://github.com/y\n";
  assert.deepEqual(readSitemap(list, "https://docs.example.com").paths, ["/a"]);
  assert.deepEqual(readSitemap(list).paths, ["/x", "/y"]);
  assert.deepEqual(readSitemap(list, "https://elsewhere.example").paths, ["/x", "/y"]);
});

test("text without an address is rejected with a reason", () => {
  assert.match(readSitemap("  ").reason, /Paste a sitemap/);
  assert.match(readSitemap("hello").reason, /No addresses found/);
  assert.match(readSitemap("<urlset><url><loc>https://a.b/c</loc>").reason, /isn’t complete/);
});

test("pages that were never read are found despite different spellings", () => {
  const rows = [row("/guides/start/", 1, 0), row("/café", 1, 0), row("/x.html", 1, 0)];
  const never = findNeverRead(["/guides/start", "/caf%C3%A9/", "/x", "/never", "/"], rows);
  assert.deepEqual(column(never, "path"), ["/never", "/"]);
  assert.equal(findNeverRead(["/a", "/a/", "/a.md"], []).length, 1);
});

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
