/** Sitemaps in XML, as generators write them. A browser parses the XML. */
import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { bundleSource } from "./source.mjs";

const NAMESPACES = `xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
  xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"
  xmlns:xhtml="http://www.w3.org/1999/xhtml"`;
const urlset = (entries) =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<urlset ${NAMESPACES}>${entries}</urlset>`;
const url = (path, more = "") => `<url><loc>https://docs.example.com${path}</loc>${more}</url>`;

async function read(page, ...texts) {
  const source = await bundleSource("analytics/rows/read_sitemap.ts");
  return page.evaluate(
    async ([source, texts]) => (await import(source)).readSitemap(texts, null),
    [source, texts],
  );
}

const pathsOf = async (page, ...texts) => (await read(page, ...texts)).paths;

test("only the addresses of pages count", async ({ page }) => {
  const image = "<image:image><image:loc>https://docs.example.com/a.png</image:loc></image:image>";
  const other = '<xhtml:link rel="alternate" hreflang="fr" href="https://docs.example.com/fr/a"/>';
  const entries = `${url("/a", image + other)}<!-- ${url("/old")} -->`;
  assert.deepEqual(await pathsOf(page, urlset(entries)), ["/a"]);
});

test("addresses have entities, CDATA, spaces and brackets", async ({ page }) => {
  const entries = [
    url("/caf&#xE9;"),
    url("/a&amp;b&#38;c"),
    "<url><loc>\n <![CDATA[ https://docs.example.com/x?a=1&b=2 ]]>\n</loc></url>",
    url("/a[b]"),
  ];
  assert.deepEqual(await pathsOf(page, urlset(entries.join(""))), [
    "/café",
    "/a&b&c",
    "/x",
    "/a[b]",
  ]);
});

test("a namespace can have a prefix or be absent", async ({ page }) => {
  const prefixed = `<s:urlset xmlns:s="http://www.sitemaps.org/schemas/sitemap/0.9">
    <s:url><s:loc>https://docs.example.com/a</s:loc></s:url></s:urlset>`;
  assert.deepEqual(await pathsOf(page, prefixed), ["/a"]);
  assert.deepEqual(await pathsOf(page, `<urlset>${url("/b")}</urlset>`), ["/b"]);
});

test("an ampersand that should be escaped does not hide a sitemap", async ({ page }) => {
  assert.deepEqual(await pathsOf(page, urlset(url("/a&b"))), ["/a&b"]);
});

test("several sitemaps of one site count, in files or pasted together", async ({ page }) => {
  const index = `<sitemapindex ${NAMESPACES}><sitemap><loc>https://docs.example.com/s.xml</loc></sitemap></sitemapindex>`;
  const [one, two] = [urlset(url("/a")), urlset(url("/b"))];
  assert.deepEqual(await pathsOf(page, index, one, two), ["/a", "/b"]);
  assert.deepEqual(await pathsOf(page, `Style information\n${one}\n${two}`), ["/a", "/b"]);
  const blog = "<url><loc>https://blog.example.com/post</loc></url>";
  const { paths, ignored } = await read(page, one, urlset(blog));
  assert.deepEqual(paths, ["/a"]);
  assert.equal(ignored, "Ignored 1 address: on other sites.");
  assert.match((await read(page, index)).reason, /index.* the 1 sitemap it lists/);
});

test("a sitemap can have more addresses than a function can have arguments", async ({ page }) => {
  const entries = Array.from({ length: 150_000 }, (_, number) => url(`/${number}`));
  assert.equal((await pathsOf(page, urlset(entries.join("")))).length, 150_000);
});

test("XML that is not well-formed is rejected with a reason", async ({ page }) => {
  assert.match((await read(page, urlset("<url><loc>/a</url>"))).reason, /not well-formed/);
});
