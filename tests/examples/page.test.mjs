/** The page with three lines of script, in real Chromium, from the packed package. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { serve } from "../package/static_server.mjs";
import { accessibilityFaults, launchBrowser, openPage } from "../page/browser.mjs";
import { installExample, PROJECT, startPlatform } from "./example.mjs";

const PAGES = 320;
const RANGE = { dateFrom: "2026-10-01", dateTo: "2026-11-01" };
const GATEWAY_OF_START = "http://127.0.0.1:8787";

let site;
let platform;
let browser;

before(async () => {
  const folder = await installExample("page");
  site = await serve({ folder });
  platform = await startPlatform({
    upstream: { pages: PAGES },
    gateway: { allowedOrigins: site.url },
  });
  const path = join(folder, "index.html");
  const text = readFileSync(path, "utf8");
  assert.ok(text.includes(GATEWAY_OF_START) && text.includes(PROJECT), text);
  writeFileSync(path, text.replace(GATEWAY_OF_START, platform.gateway.url));
  browser = await launchBrowser();
});
after(async () => {
  await browser?.close();
  await platform?.stop();
  await site?.stop();
});

test("its script has three lines", () => {
  const text = readFileSync(new URL("../../examples/page/index.html", import.meta.url), "utf8");
  const [, script] = /<script type="module">\n(.*?)\n *<\/script>/s.exec(text);
  assert.equal(script.split("\n").length, 3, script);
});

test("the views of every page fill its list", async () => {
  const { page, record, everything, close } = await openPage(browser);
  const token = platform.token("analytics:read");
  page.on("dialog", (dialog) => dialog.accept(token));
  await page.goto(`${site.url}/index.html`);
  const { views } = await platform.upstream.views(RANGE);
  assert.ok(views.length > 250, "there is more than one page of rows");
  await page.waitForFunction(
    (rows) => document.querySelectorAll("li").length >= rows,
    views.length,
  );
  const rows = await page.locator("li").allTextContents();
  assert.deepEqual(
    rows,
    views.map(({ path, total }) => `${path} ${total}`),
  );
  assert.ok(!record.urls.some((url) => url.includes(token)), "the token is in no address");
  assert.ok(!(await everything()).includes(platform.key), "the admin key is nowhere");
  const errors = record.console.filter(({ type }) => type === "error");
  assert.deepEqual(errors, []);
  assert.deepEqual(await accessibilityFaults(page), []);
  await close();
});
