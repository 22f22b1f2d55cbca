/** The documentation site, as VitePress builds it. */
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { capture } from "../../scripts/child.mjs";
import { ROOT } from "../../scripts/versions.mjs";
import { listMarkdown } from "../harness/markdown.mjs";

const DOCS = join(ROOT, "docs");
const DIST = join(DOCS, ".vitepress", "dist");

test("the site has every page, without dead links, and a search index", async () => {
  const npm = async (...args) => {
    const { code, stdout, stderr } = await capture("npm", args, { cwd: DOCS });
    assert.equal(code, 0, `${stdout}\n${stderr}`);
    return stdout;
  };
  await npm("ci");
  assert.doesNotMatch(await npm("run", "build"), /Error/);
  for (const name of listMarkdown().filter((file) => file.startsWith("docs/"))) {
    const page = name.slice("docs/".length).replace(/README\.md$/, "index.md");
    const html = readFileSync(join(DIST, page.replace(/\.md$/, ".html")), "utf8");
    assert.match(html, /<h1/, page);
    assert.doesNotMatch(html, /href="(?!https?:|\/assets\/)[^"]*\.md["#]/, page);
  }
  const chunks = readdirSync(join(DIST, "assets", "chunks"));
  assert.ok(chunks.some((file) => file.startsWith("@localSearchIndex")));
  assert.ok(existsSync(join(DIST, "404.html")));
});
