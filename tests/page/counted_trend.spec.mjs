import assert from "node:assert/strict";
import { accessibilityFaults, overflow } from "./browser.mjs";
import { expect, test } from "./fixtures.mjs";
import { DAY_MS, daysAgo, inWords } from "./reports.mjs";

const WEEK = { range: "last-7-days", compare: "none" };
/** Charts exclude today. */
const ENDED_DAYS = 6;
const VISITORS = { route: "visitors", ...WEEK };
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

test("a chart of visitors takes one request per day, and only once", async ({ visitor }) => {
  const { site, page, project, startAtReport, untilLoaded } = visitor;
  await startAtReport(VISITORS);
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

  const slider = page.getByRole("slider", { name: "Explore the chart" });
  await slider.press("End");
  await expect(slider).toHaveAttribute("aria-valuetext", /People [\d,]+ · AI [\d,]+$/);
  await slider.press("Shift+ArrowLeft");
  await expect(slider).toHaveAttribute("aria-valuetext", /Select one bar to see its visitors/);
  await slider.press("Enter");
  await page.waitForURL(new RegExp(`from=${daysAgo(2)}&to=${daysAgo(1)}`));
  await page.goBack();

  await page.getByRole("link", { name: "Searches" }).click();
  await page.getByRole("heading", { level: 1, name: "Searches" }).waitFor();
  await page.goBack();
  await expect(chart.locator(".drawn_trend-human")).toHaveCount(ENDED_DAYS);
  assert.equal((await requestsForDays(visitor, "visitors")).length, ENDED_DAYS);
});
