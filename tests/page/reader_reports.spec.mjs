/** The reports on searches and feedback. */
import assert from "node:assert/strict";
import { expect } from "@playwright/test";
import { accessibilityFaults, untilDrawn } from "./browser.mjs";
import { test } from "./fixtures.mjs";
import { firstOfMonth, show } from "./reports.mjs";
import { SMALL_SITE } from "./sites.mjs";

test.use({ siteOptions: SMALL_SITE });

const SEARCHES = { route: "searches", range: "last-month", compare: "none" };
const FEEDBACK = { route: "feedback", range: "last-month" };
const LOW_CLICK_RATE = 20;

/** Returns the simulator's report of last month. */
function reportOfLastMonth({ site, project }, report) {
  const range = { dateFrom: firstOfMonth(-1), dateTo: firstOfMonth(0) };
  return site.upstream.report({ report, projectId: project, ...range });
}

async function firstCells(page) {
  await untilDrawn(page);
  return page.locator(".report_table-table tbody th").allTextContents();
}
const percent = (part) =>
  part.toLocaleString("en-US", { style: "percent", maximumFractionDigits: 1 });
const figure = (page, region, name) =>
  page.getByRole("region", { name: region }).locator(".totals_strip-figure", { hasText: name });

test("searches without or with few clicks have a filter, a share and a job", async ({
  visitor,
}) => {
  const { page, startSession, openReport, untilLoaded } = visitor;
  await startSession();
  await openReport(SEARCHES);
  await untilLoaded();
  const { searches } = await reportOfLastMonth(visitor, "searches");
  const unclicked = searches.filter(({ ctr }) => ctr === 0);
  assert.ok(unclicked.length > 0, "the simulator has searches without a click");
  const all = searches.reduce((sum, { hits }) => sum + hits, 0);
  const clickless = searches.reduce((sum, { hits, ctr }) => sum + hits * (1 - ctr / 100), 0);
  const strip = await figure(page, "Total searches", "No clicks").textContent();
  assert.ok(strip.includes(percent(clickless / all)), `${strip}, not ${percent(clickless / all)}`);

  await show(page, /^No clicks/);
  await page.waitForURL(/show=no-clicks/);
  await page.getByRole("button", { name: "Show: No clicks" }).waitFor();
  assert.equal((await firstCells(page)).length, unclicked.length);
  await page.reload();
  await untilLoaded();
  assert.equal((await firstCells(page)).length, unclicked.length);
  assert.deepEqual(await accessibilityFaults(page), []);
  const row = page.getByRole("row").nth(1);
  await row.hover();
  await row.getByRole("button", { name: /^Start a job about/ }).click();
  const prompt = page.getByLabel("Prompt", { exact: true });
  await prompt.waitFor();
  await expect(prompt).toHaveValue(/^Help readers who search for/);

  await openReport({ ...SEARCHES, show: "low-click-rate" });
  const low = searches.filter(({ ctr }) => ctr > 0 && ctr < LOW_CLICK_RATE);
  assert.ok(low.length > 0, "the simulator has searches with a low click rate");
  assert.equal((await firstCells(page)).length, low.length);
});

test("feedback filters by rating, status and source, and a link reproduces them", async ({
  visitor,
}) => {
  const { page, startSession, openReport, untilLoaded } = visitor;
  await startSession();
  await openReport(FEEDBACK);
  await untilLoaded();
  const { feedback } = await reportOfLastMonth(visitor, "feedback");
  const rated = feedback.filter(({ helpful }) => helpful !== undefined);
  const helpful = rated.filter((entry) => entry.helpful);
  assert.ok(helpful.length > 0 && helpful.length < rated.length);
  const strip = await figure(page, "Feedback in this period", "Helpful").textContent();
  assert.ok(strip.includes(percent(helpful.length / rated.length)), strip);

  const choose = async (menu, choice) => {
    await page.getByRole("button", { name: new RegExp(`^${menu}: `) }).click();
    await page.getByRole("group", { name: menu }).getByRole("button", { name: choice }).click();
    await page.getByRole("button", { name: new RegExp(`^${menu}: `) }).waitFor();
  };
  await choose("Helpful", /^Not helpful/);
  const unhelpful = rated.filter((entry) => !entry.helpful);
  await page
    .getByRole("status")
    .getByText(`${unhelpful.length} entries`, { exact: true })
    .waitFor();
  await choose("Status", /^Pending/);
  await choose("Source", /^Contextual/);
  const expected = unhelpful.filter(({ status }) => status === "pending");
  await page.waitForURL(/helpful=No&status=pending&source=contextual/);
  assert.ok(expected.length > 0);
  await expect(page.locator(".report_table-table tbody th")).toHaveCount(expected.length);
  await page.reload();
  await untilLoaded();
  assert.equal((await firstCells(page)).length, expected.length);
  await page.goBack();
  await page.waitForURL((url) => !url.search.includes("source="));

  await page.getByRole("link", { name: "Searches" }).click();
  await page.waitForURL(/route=searches/);
  assert.doesNotMatch(page.url(), /helpful|status/);
});
