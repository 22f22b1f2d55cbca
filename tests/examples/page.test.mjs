import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { serve } from "../package/static_server.mjs";
import { accessibilityFaults, launchBrowser, openPage } from "../page/browser.mjs";
import { installExample, PROJECT, startPlatform } from "./example.mjs";

const PAGES = 320;
const RANGE = { dateFrom: "2026-10-01", dateTo: "2026-11-01" };
const DEMO_GATEWAY = "http://127.0.0.1:8787";

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
  assert.ok(text.includes(DEMO_GATEWAY) && text.includes(PROJECT), text);
  writeFileSync(path, text.replace(DEMO_GATEWAY, platform.gateway.url));
  browser = await launchBrowser();
});
after(async () => {
  await browser?.close();
  await platform?.stop();
  await site?.stop();
});

test("the page example lists the views of every page", async () => {
  const { page, record, everything, close } = await openPage(browser);
  const token = platform.token("analytics:read");
  page.on("dialog", (dialog) => dialog.accept(token));
  await page.goto(`${site.url}/index.html`);
  const { views } = await platform.upstream.views(RANGE);
  assert.ok(views.length > 250, "the rows fit on one page");
  await page.waitForFunction(
    (rows) => document.querySelectorAll("li").length >= rows,
    views.length,
  );
  const rows = await page.locator("li").allTextContents();
  assert.deepEqual(
    rows,
    views.map(({ path, total }) => `${path} ${total}`),
  );
  assert.ok(!record.urls.some((url) => url.includes(token)), "a URL contains the token");
  assert.ok(!(await everything()).includes(platform.key), "the page received the admin key");
  const errors = record.console.filter(({ type }) => type === "error");
  assert.deepEqual(errors, []);
  assert.deepEqual(await accessibilityFaults(page), []);
  await close();
});
