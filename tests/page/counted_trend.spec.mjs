/** The charts of visitors and searches, which load only on request. */
import assert from "node:assert/strict";
import { expect } from "@playwright/test";
import { accessibilityFaults, overflow } from "./browser.mjs";
import { test } from "./fixtures.mjs";
import { SMALL_SITE } from "./sites.mjs";

test.use({ siteOptions: SMALL_SITE });

const DAY_MS = 86_400_000;
const WEEK = { range: "last-7-days", compare: "none" };
/** Charts exclude today. */
const ENDED_DAYS = 6;
const VISITORS = { route: "visitors", ...WEEK };
const daysAgo = (count) => new Date(Date.now() - count * DAY_MS).toISOString().slice(0, 10);
const inWords = (number) => number.toLocaleString("en-US");

const intervalButton = (page, name) =>
  page.getByRole("group", { name: "Interval" }).getByRole("button", { name });
const loadButton = (page, name) => page.getByRole("button", { name });
const chartPanel = (page) => page.getByRole("region", { name: /^Chart of/ });
const chartOf = (page, name) => page.getByRole("img", { name });

/** Returns the chart's requests: those for a single day. */
async function requestsForDays({ upstreamTargets }, report) {
  const targets = (await upstreamTargets()).filter((target) => target.includes(`/${report}?`));
  const queries = targets.map((target) => new URLSearchParams(target.split("?")[1]));
  const length = (query) => Date.parse(query.get("dateTo")) - Date.parse(query.get("dateFrom"));
  return queries.filter((query) => length(query) === DAY_MS);
}

test("a chart of visitors takes one request per day, and none when shown again", async ({
  visitor,
}) => {
  const { site, page, project, startSession, openReport, untilLoaded } = visitor;
  await startSession();
  await openReport(VISITORS);
  await untilLoaded();
  assert.deepEqual(await requestsForDays(visitor, "visitors"), []);
  await loadButton(page, "Chart by day (6 requests)").click();
  const chart = chartOf(page, /^Visitors per day/);
  await expect(chart.locator(".drawn_trend-human")).toHaveCount(ENDED_DAYS);
  await page.getByText("Today is not in the chart").waitFor();
  await expect(chartPanel(page)).toBeFocused();
  assert.equal((await requestsForDays(visitor, "visitors")).length, ENDED_DAYS);

  const day = { projectId: project, dateFrom: daysAgo(1), dateTo: daysAgo(0) };
  const { totals } = await site.upstream.report({ report: "visitors", ...day });
  await page.getByText("Show as a table").click();
  const row = page.getByRole("table", { name: "Visitors per day" }).getByRole("row").last();
  const cells = await row.getByRole("cell").allTextContents();
  assert.deepEqual(cells.slice(0, 2), [totals.human, totals.ai].map(inWords));
  assert.deepEqual(await accessibilityFaults(page), []);
  assert.equal(await overflow(page), 0);

  await page.getByRole("link", { name: "Searches" }).click();
  await page.getByRole("heading", { level: 1, name: "Searches" }).waitFor();
  await page.goBack();
  await expect(chart.locator(".drawn_trend-human")).toHaveCount(ENDED_DAYS);
  assert.equal((await requestsForDays(visitor, "visitors")).length, ENDED_DAYS);
});

test("a selection of several bars shows no sum of visitors", async ({ visitor }) => {
  const { page, startSession, openReport } = visitor;
  await startSession();
  await openReport(VISITORS);
  await loadButton(page, /^Chart by day/).click();
  await expect(chartOf(page, /^Visitors per day/).locator(".drawn_trend-human")).toHaveCount(
    ENDED_DAYS,
  );
  const slider = page.getByRole("slider", { name: "Explore the chart" });
  await slider.focus();
  await page.keyboard.press("End");
  await expect(slider).toHaveAttribute("aria-valuetext", /People [\d,]+ · AI [\d,]+$/);
  await page.keyboard.press("Shift+ArrowLeft");
  await expect(slider).toHaveAttribute("aria-valuetext", /Select one bar to see its visitors/);
  await page.keyboard.press("Enter");
  await page.waitForURL(new RegExp(`from=${daysAgo(2)}&to=${daysAgo(1)}`));
});

test("a weekly chart of searches shows the total, and another interval loads on request", async ({
  visitor,
}) => {
  const { site, page, project, startSession, openReport } = visitor;
  await startSession();
  await openReport({ route: "searches", range: "last-28-days", compare: "none" });
  await loadButton(page, "Chart by day (27 requests)").waitFor();
  await loadButton(page, /^Chart by week \(\d requests\)$/).click();
  const chart = chartOf(page, /^Searches per week/);
  await expect(chart).toHaveAccessibleName(/^Searches per week, [^.]+\. Searches [\d,]+\. The/);
  const range = { projectId: project, dateFrom: daysAgo(27), dateTo: daysAgo(0) };
  const { totalSearches } = await site.upstream.report({ report: "searches", ...range });
  await expect(chart).toHaveAccessibleName(new RegExp(`Searches ${inWords(totalSearches)}\\.`));
  await page.waitForURL(/interval=week/);
  assert.deepEqual(await accessibilityFaults(page), []);

  await intervalButton(page, "Day").click();
  await page.waitForURL(/interval=day/);
  await expect(chartOf(page, /^Searches per day/)).toHaveAccessibleName(/27 days not loaded/);
  await loadButton(page, "Load the rest (27 requests)").waitFor();
});

test("a stopped chart keeps its bars and resumes on request", async ({ visitor }) => {
  const { site, page, startSession, openReport, untilLoaded } = visitor;
  await startSession();
  await openReport(VISITORS);
  await untilLoaded();
  await site.upstream.hold({ operation: "analytics.visitors", target: `dateFrom=${daysAgo(2)}` });
  await loadButton(page, /^Chart by day/).press("Enter");
  await site.upstream.untilHeld(1);
  await expect(chartPanel(page)).toBeFocused();
  const chart = chartOf(page, /^Visitors per day/);
  await expect(chart).toHaveAccessibleName(/5 days not loaded\. The table/);
  await loadButton(page, "Stop").press("Enter");
  await chartPanel(page).getByText("1 of 6 days loaded").waitFor();
  const rest = loadButton(page, "Load the rest (5 requests)");
  await expect(rest).toBeFocused();
  await rest.press("Enter");
  await expect(loadButton(page, "Stop")).toBeFocused();
  await loadButton(page, "Stop").press("Enter");
  await site.upstream.release();
  await expect(chart.locator(".drawn_trend-human")).toHaveCount(1);
  await rest.click();
  await expect(chart.locator(".drawn_trend-human")).toHaveCount(ENDED_DAYS);
  await expect(page.getByRole("button", { name: /^Load the rest/ })).toBeHidden();
});

test("a chart of twelve months has no bars per day, not even from its address", async ({
  visitor,
}) => {
  const { page, startSession, openReport, untilLoaded } = visitor;
  await startSession();
  await openReport({
    route: "visitors",
    range: "last-12-months",
    compare: "none",
    interval: "day",
  });
  await untilLoaded();
  await loadButton(page, /^Chart by month \(1[23] requests\)$/).click();
  await page.waitForURL(/interval=month/);
  await chartOf(page, /^Visitors per month/).waitFor();
  await expect(intervalButton(page, "Week")).toBeVisible();
  await expect(loadButton(page, /^(Chart by day|Day)/)).toBeHidden();
  await page.goBack();
  await page.waitForURL(/interval=day/);
  await chartOf(page, /^Visitors per week/).waitFor();
});

test("a period of one ended day or with too many months offers no chart", async ({ visitor }) => {
  const { page, startSession, openReport, untilLoaded } = visitor;
  await startSession();
  await openReport({ route: "visitors", range: "yesterday", compare: "none" });
  await untilLoaded();
  await expect(loadButton(page, /^Chart by/)).toBeHidden();
  await openReport({ route: "visitors", from: "1990-01-01", to: daysAgo(1), compare: "none" });
  await untilLoaded();
  await expect(page.getByRole("heading", { level: 1, name: "Visitors" })).toBeVisible();
  await expect(loadButton(page, /^Chart by/)).toBeHidden();
});
