import assert from "node:assert/strict";
import { accessibilityFaults } from "./browser.mjs";
import { expect, test } from "./fixtures.mjs";
import { daysAgo, inWords } from "./reports.mjs";
import { LARGE_SITE } from "./sites.mjs";

test.use({ siteOptions: LARGE_SITE, projectKind: "archived" });

test("archived days load completely without a request to Mintlify", async ({ visitor }) => {
  const { site, page, project, startAtReport, upstreamTargets } = visitor;
  // The scheduled run archives yesterday.
  await site.gateway.runCron();
  const range = { projectId: project, dateFrom: daysAgo(1), dateTo: daysAgo(0) };
  const { views, totals } = await site.upstream.views(range);
  const viewed = views.filter(({ total }) => total > 0);
  const before = await upstreamTargets();
  await startAtReport({ range: "yesterday", compare: "none" });
  const all = inWords(viewed.length);
  await page.getByText(`All ${all} pages from the daily archive.`).waitFor();
  assert.ok(viewed.length > 1000);
  assert.deepEqual(await upstreamTargets(), before);
  const figure = page.locator(".totals_strip-value").first();
  await expect(figure).toHaveText(inWords(totals.human));
  const most = viewed.reduce((a, b) => (b.total > a.total ? b : a));
  await page.getByRole("rowheader").first().getByText(most.path, { exact: true }).waitFor();
  assert.deepEqual(await accessibilityFaults(page), []);
});

test("leaving out today loads every page of a partly loaded period", async ({ visitor }) => {
  const { site, page, startAtReport } = visitor;
  await site.gateway.runCron();
  await startAtReport({ from: daysAgo(1), to: daysAgo(0), compare: "none" });
  await page.getByText(/Showing the top 1,000 pages/).waitFor();
  await page.getByRole("button", { name: "Leave out today to see all pages" }).click();
  await page.waitForURL(/range=yesterday/);
  await page.getByText(/^All [\d,]+ pages from the daily archive\.$/).waitFor();
});
