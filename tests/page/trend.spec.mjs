import assert from "node:assert/strict";
import { accessibilityFaults, checkBothSchemes, matrixOf, overflow } from "./browser.mjs";
import { expect, test } from "./fixtures.mjs";
import { DAY_MS, daysAgo, firstOfMonth, inWords, percent, reportOfMonth } from "./reports.mjs";
import { EVERY_SCOPE } from "./visitor.mjs";

const WEEK = { range: "last-7-days", compare: "none" };
/** Charts exclude today. */
const ENDED_DAYS = 6;
/** The width of an A4 page between Chromium's margins, in CSS pixels. */
const PAPER_WIDTH = 718;
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
    await expect(chart).toHaveAccessibleName(new RegExp(`People ${inWords(totals.human)}`));
    await expect(chart.locator(".drawn_trend-missing")).toHaveCount(5);
    await expect(chart.locator(".drawn_trend-human")).toHaveCount(1);
    await page.getByText("No data for 5 days").waitFor();

    await page.getByText("Show as a table").click();
    const table = page.getByRole("table", { name: "Views per day" });
    const day = MEDIUM_DATE.format(Date.parse(daysAgo(1)));
    const row = table.getByRole("row").filter({ has: page.getByRole("rowheader", { name: day }) });
    const counts = [totals.human, totals.ai, totals.human + totals.ai].map(inWords);
    assert.deepEqual(await row.getByRole("cell").allTextContents(), counts);
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
    const people = new RegExp(`^${yesterday}, People [\\d,]+`);
    await expect(chart).toHaveAttribute("aria-valuetext", people);
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

  test("the printed chart fits the paper, and its key keeps its colours", async ({ visitor }) => {
    const { site, page, startAtReport } = visitor;
    await site.gateway.runCron();
    // Browsers call no observers while they lay out paper.
    await page.addInitScript(() => {
      globalThis.ResizeObserver = class {
        observe() {}
        unobserve() {}
        disconnect() {}
      };
    });
    await page.setViewportSize({ width: 1440, height: 900 });
    await startAtReport();
    const chart = page.getByRole("img", { name: /^Views per day/ });
    await chart.waitFor();
    await page.emulateMedia({ media: "print" });
    await page.setViewportSize({ width: PAPER_WIDTH, height: 900 });
    const [paper, { x, width }] = [page.viewportSize(), await chart.boundingBox()];
    assert.ok(x + width <= paper.width, `${x + width} of ${paper.width} pixels`);
    const adjustments = await page
      .locator("figure figcaption span", { hasText: /^(People|AI)$/ })
      .evaluateAll((keys) => keys.map((key) => getComputedStyle(key, "::before").printColorAdjust));
    assert.deepEqual(adjustments, ["exact", "exact"]);
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

/** Returns the chart's requests: those for a single day. */
async function requestsForDays({ upstreamTargets }, report) {
  const targets = (await upstreamTargets()).filter((target) => target.includes(`/${report}?`));
  const queries = targets.map((target) => new URLSearchParams(target.split("?")[1]));
  const length = (query) => Date.parse(query.get("dateTo")) - Date.parse(query.get("dateFrom"));
  return queries.filter((query) => length(query) === DAY_MS);
}

test("a chart of visitors takes one request per day, and only once", async ({ visitor }) => {
  const { site, page, project, startAtReport } = visitor;
  await startAtReport({ route: "visitors", ...WEEK });
  assert.deepEqual(await requestsForDays(visitor, "visitors"), []);
  await page.getByRole("button", { name: "Chart by day (6 requests)" }).click();
  const chart = page.getByRole("img", { name: /^Visitors per day/ });
  await expect(chart.locator(".drawn_trend-human")).toHaveCount(ENDED_DAYS);
  await page.getByText("Today is not in the chart").waitFor();
  await expect(page.getByRole("region", { name: /^Chart of/ })).toBeFocused();
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

const READER_REPORTS = [
  { route: "feedback", path: "feedback", title: "Feedback", time: "createdAt" },
  { route: "conversations", path: "assistant", title: "Questions", time: "timestamp" },
];

for (const [report, options] of matrixOf(READER_REPORTS)) {
  test(`the chart of ${report.route} compares row counts per day`, options, async ({ visitor }) => {
    const { page, token, startAtReport } = visitor;
    await startAtReport(
      { range: "last-month", route: report.route },
      token({ scope: EVERY_SCOPE }),
    );
    const [rows, earlier] = await Promise.all(
      [-1, -2].map(
        async (month) => (await reportOfMonth(visitor, report.path, month))[report.route],
      ),
    );
    const chart = page.getByRole("img", { name: new RegExp(`^${report.title} per day`) });
    const dated = rows.filter((row) => row[report.time]);
    const total = inWords(dated.length);
    await expect(chart).toHaveAccessibleName(new RegExp(` ${report.title} ${total}\\. The table`));
    await page.getByText("Comparison", { exact: true }).waitFor();
    await page.getByText("Show as a table").click();
    const undated = page.getByText(`${rows.length - dated.length} without a date`);
    await expect(undated).toHaveCount(dated.length < rows.length ? 1 : 0);
    const table = page.getByRole("table", { name: `${report.title} per day` });
    const day = firstOfMonth(-1);
    const onFirst = dated.filter((row) => row[report.time].startsWith(day)).length;
    await expect(table.getByRole("cell").first()).toHaveText(String(onFirst));

    const strip = page.locator(".totals_strip-figure").first();
    const part = Math.abs(rows.length - earlier.length) / earlier.length;
    const change = rows.length === earlier.length ? "No change" : percent(part);
    await expect(strip).toContainText(change);

    const slider = page.getByRole("slider", { name: "Explore the chart" });
    await slider.focus();
    await page.keyboard.press("Home");
    await expect(slider).toHaveAttribute("aria-valuetext", / \d+, Total \d+ vs \d+/);
    const [, now, before] = /^(.*?), \d{4},.*, ([^,]*), \d{4}$/.exec(
      await slider.getAttribute("aria-valuetext"),
    );
    const weekdayOf = (text) => new Date(`${text}, ${day.slice(0, 4)} UTC`).getUTCDay();
    assert.equal(weekdayOf(now), weekdayOf(before));
    await checkBothSchemes(page, report.route);
  });
}
