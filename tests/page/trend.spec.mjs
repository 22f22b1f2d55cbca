import assert from "node:assert/strict";
import { accessibilityFaults } from "./browser.mjs";
import { expect, test } from "./fixtures.mjs";
import { daysAgo, inWords } from "./reports.mjs";

const WEEK = { range: "last-7-days", compare: "none" };
const MEDIUM_DATE = new Intl.DateTimeFormat("en-US", { dateStyle: "medium", timeZone: "UTC" });

test.describe("archived project", () => {
  test.use({ projectKind: "archived" });

  test("the trend shows people and AI, and names missing days", async ({ visitor }) => {
    const { site, page, project, startAtReport } = visitor;
    // The scheduled run archives yesterday, but no earlier day.
    await site.gateway.runCron();
    const range = { projectId: project, dateFrom: daysAgo(1), dateTo: daysAgo(0) };
    const { totals } = await site.upstream.views(range);
    await startAtReport(WEEK);
    const chart = page.getByRole("img", { name: /^Views per day/ });
    await expect(chart).toHaveAccessibleName(/No data for 5 days/);
    const people = `People ${inWords(totals.human)}`;
    await expect(chart).toHaveAccessibleName(new RegExp(people));
    await expect(chart.locator(".drawn_trend-missing")).toHaveCount(5);
    await expect(chart.locator(".drawn_trend-human")).toHaveCount(1);
    await page.getByText("No data for 5 days").waitFor();

    await page.getByText("Show as a table").click();
    const table = page.getByRole("table", { name: "Views per day" });
    const day = MEDIUM_DATE.format(Date.parse(daysAgo(1)));
    const row = table.getByRole("row").filter({ has: page.getByRole("rowheader", { name: day }) });
    assert.deepEqual(
      await row.getByRole("cell").allTextContents(),
      [totals.human, totals.ai, totals.human + totals.ai].map(inWords),
    );
    await expect(table.getByText("No data")).toHaveCount(5);
    assert.deepEqual(await accessibilityFaults(page), []);
  });

  test("the chart explains a day by keyboard and pointer, and opens it", async ({ visitor }) => {
    const { site, page, startAtReport } = visitor;
    await site.gateway.runCron();
    await startAtReport(WEEK);
    await page.getByText("Today is not in the chart").waitFor();
    const chart = page.getByRole("slider", { name: "Explore the chart" });
    await chart.focus();
    await page.keyboard.press("End");
    const yesterday = MEDIUM_DATE.format(Date.parse(daysAgo(1)));
    await expect(chart).toHaveAttribute(
      "aria-valuetext",
      new RegExp(`^${yesterday}, People [\\d,]+`),
    );
    await page.keyboard.press("ArrowLeft");
    const before = MEDIUM_DATE.format(Date.parse(daysAgo(2)));
    await expect(chart).toHaveAttribute("aria-valuetext", `${before}, No data`);
    assert.deepEqual(await accessibilityFaults(page), []);
    await page.keyboard.press("Escape");
    const { width, height } = await chart.boundingBox();
    const atLastBar = { x: width - 5, y: height / 2 };
    await chart.hover({ position: atLastBar });
    await page.locator(".chart_pointer-tip", { hasText: yesterday }).waitFor();
    await chart.click({ position: atLastBar });
    await page.waitForURL(/range=yesterday/);
  });

  test("dragging over the chart opens several days", async ({ visitor }) => {
    const { site, page, startAtReport } = visitor;
    await site.gateway.runCron();
    await startAtReport(WEEK);
    const chart = page.getByRole("slider", { name: "Explore the chart" });
    await chart.scrollIntoViewIfNeeded();
    const { x, y, width, height } = await chart.boundingBox();
    // Six days: today is not in the chart. The scale takes 48 px on the left.
    const middleOf = (bar) => x + 48 + ((width - 48) / 6) * (bar + 0.5);
    await page.mouse.move(middleOf(4), y + height / 2);
    await page.mouse.down();
    await page.mouse.move(middleOf(2), y + height / 2, { steps: 4 });
    await expect(page.locator(".drawn_trend-slot")).toHaveCount(3);
    // Beyond the edge, the drag continues.
    await page.mouse.move(x - 30, y + height / 2);
    await page.mouse.up();
    await page.waitForURL(new RegExp(`from=${daysAgo(6)}&to=${daysAgo(2)}`));
  });
});

test("without an archive, the page explains how to turn the trend on", async ({ visitor }) => {
  const { page, startAtReport, record } = visitor;
  await startAtReport(WEEK);
  await page.getByText("Daily data is off. How to turn it on").click();
  await page.getByText("ARCHIVE_PROJECTS", { exact: true }).waitFor();
  // The session already lists the archived projects. A request would add a 501 to the console.
  assert.ok(!record.urls.some((url) => url.includes("/views/daily")));
  assert.equal(await page.getByRole("img").count(), 0);
  assert.deepEqual(await accessibilityFaults(page), []);
});
