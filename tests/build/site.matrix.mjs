import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { capture } from "../../scripts/child.mjs";
import { ROOT } from "../../scripts/versions.mjs";
import { listen } from "../harness/listen.mjs";
import { listMarkdown } from "../harness/markdown.mjs";
import { launchBrowser } from "../page/browser.mjs";

const DOCS = join(ROOT, "docs");
const DIST = join(DOCS, ".vitepress", "dist");
const TYPES = { css: "text/css", html: "text/html", js: "text/javascript", svg: "image/svg+xml" };
/** A new operator's search terms, and the page that has the answer. */
const QUESTIONS = [
  ["rotate the admin key", "/operate/keys"],
  ["revoke a leaked token", "/guides/access"],
  ["monthly cost", "/operate/cost"],
  ["misconfigured", "/problems/misconfigured"],
  ["backup and restore", "/operate/data"],
  ["roll back", "/guides/upgrade"],
  ["alert", "/operate/logs"],
  ["sign in with an identity provider", "/guides/identity-providers"],
  ["staging", "/operate/environments"],
  ["how long are prompts stored", "/operate/data"],
];

async function npm(...args) {
  const { code, stdout, stderr } = await capture("npm", args, { cwd: DOCS });
  assert.equal(code, 0, `${stdout}\n${stderr}`);
  return stdout + stderr;
}

/** Serves the built files as a static host does, and opens a browser. */
async function openSite(context) {
  const { url: origin, stop } = await listen(({ url }, response) => {
    const { pathname } = new URL(url, "http://site.example");
    const file = pathname.endsWith("/") ? `${pathname}index.html` : pathname;
    const path = file.slice(1).includes(".") ? file : `${file}.html`;
    try {
      const body = readFileSync(join(DIST, path));
      response.writeHead(200, { "content-type": TYPES[path.split(".").at(-1)] ?? "font/woff2" });
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  context.after(stop);
  const browser = await launchBrowser();
  context.after(() => browser.close());
  return { origin, page: await browser.newPage() };
}

before(async () => {
  await npm("ci");
  assert.doesNotMatch(await npm("run", "build"), /Error/);
});

test("the site has every page of the documentation", () => {
  for (const name of listMarkdown().filter((file) => file.startsWith("docs/"))) {
    const page = name.slice("docs/".length).replace(/README\.md$/, "index.md");
    const html = readFileSync(join(DIST, page.replace(/\.md$/, ".html")), "utf8");
    assert.match(html, /<h1/, page);
    assert.doesNotMatch(html.replace(/<(code|pre)\b.*?<\/\1>/gs, ""), /\{\{/, page);
    assert.doesNotMatch(html, /href="(?!https?:|\/assets\/)[^"]*\.md["#]/, page);
  }
});

test("an operator's questions are answered by the first results of the search", async (context) => {
  const { origin, page } = await openSite(context);
  await page.goto(origin);
  const missed = [];
  for (const [question, answer] of QUESTIONS) {
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByRole("searchbox").fill(question);
    const results = page.locator(".VPLocalSearchBox .results a");
    await results.first().waitFor();
    const found = await results.evaluateAll((links) => links.map((link) => link.pathname));
    if (!found.slice(0, 5).includes(answer)) missed.push([question, ...found.slice(0, 5)]);
    await page.keyboard.press("Escape");
  }
  assert.deepEqual(missed, []);
});

test("draws every diagram", async (context) => {
  const { origin, page } = await openSite(context);
  const drawn = listMarkdown().filter(
    (file) =>
      file.startsWith("docs/") && readFileSync(join(ROOT, file), "utf8").includes("```mermaid"),
  );
  assert.ok(drawn.length > 0);
  for (const name of drawn) {
    const source = readFileSync(join(ROOT, name), "utf8");
    await page.goto(`${origin}/${name.slice("docs/".length).replace(/(README)?\.md$/, "")}`);
    const count = source.match(/^```mermaid/gm).length;
    await page
      .locator(".mermaid svg[aria-roledescription]")
      .nth(count - 1)
      .waitFor();
    assert.equal(await page.locator(".mermaid svg[aria-roledescription=error]").count(), 0, name);
  }
});
