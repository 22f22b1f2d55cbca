import assert from "node:assert/strict";
import { untilDrawn } from "./browser.mjs";
import { expect, test } from "./fixtures.mjs";
import { firstOfMonth } from "./reports.mjs";

const FEEDBACK = { route: "feedback", range: "last-month" };
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

test("filters by rating, status and source survive in a link", async ({ visitor }) => {
  const { page, startAtReport, untilLoaded } = visitor;
  await startAtReport(FEEDBACK);
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

test("feedback by page says that Mintlify lists only a part", async ({ visitor }) => {
  const { page, site, startAtReport } = visitor;
  const feedback = Array.from({ length: 100 }, (_, index) => {
    return { path: `/page-${index}`, thumbsUp: 1, thumbsDown: 1, code: 0, total: 2 };
  });
  await site.upstream.fault({
    operation: "analytics.feedbackByPage",
    times: 0,
    fault: { kind: "json", status: 200, body: { feedback, hasMore: true } },
  });
  await startAtReport({ ...FEEDBACK, show: "by-page" });
  const notes = page.locator(".notices-loadNote");
  await expect(notes).toHaveText(["Mintlify lists only 100 pages. There are more."]);
});
