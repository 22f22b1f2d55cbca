import assert from "node:assert/strict";
import { untilDrawn } from "./browser.mjs";
import { expect, test } from "./fixtures.mjs";
import { DAY_MS, percent, reportOfMonth } from "./reports.mjs";

const FEEDBACK = { route: "feedback", range: "last-month" };

test("filters by rating, status and source survive in a link", async ({ visitor }) => {
  const { page, startAtReport, untilLoaded } = visitor;
  await startAtReport(FEEDBACK);
  const { feedback } = await reportOfMonth(visitor, "feedback");
  const rated = feedback.filter(({ helpful }) => helpful !== undefined);
  const helpful = rated.filter((entry) => entry.helpful);
  assert.ok(helpful.length > 0 && helpful.length < rated.length);
  const figures = page.getByRole("region", { name: "Feedback in this period" });
  const strip = await figures.locator(".totals_strip-figure", { hasText: "Helpful" }).textContent();
  assert.ok(strip.includes(percent(helpful.length / rated.length)), strip);

  const choose = async (menu, choice) => {
    await page.getByRole("button", { name: new RegExp(`^${menu}: `) }).click();
    await page.getByRole("group", { name: menu }).getByRole("button", { name: choice }).click();
    await page.getByRole("button", { name: new RegExp(`^${menu}: `) }).waitFor();
  };
  await choose("Helpful", /^Not helpful/);
  const unhelpful = rated.filter((entry) => !entry.helpful);
  const status = page.getByRole("status");
  await status.getByText(`${unhelpful.length} entries`, { exact: true }).waitFor();
  await choose("Status", /^Pending/);
  await choose("Source", /^Contextual/);
  const expected = unhelpful.filter(({ status }) => status === "pending");
  await page.waitForURL(/helpful=No&status=pending&source=contextual/);
  assert.ok(expected.length > 0);
  const rows = page.locator(".report_table-table tbody th");
  await expect(rows).toHaveCount(expected.length);
  await page.reload();
  await untilLoaded();
  await untilDrawn(page);
  assert.equal(await rows.count(), expected.length);
  await page.goBack();
  await page.waitForURL((url) => !url.search.includes("source="));

  await page.getByRole("link", { name: "Searches" }).click();
  await page.waitForURL(/route=searches/);
  assert.doesNotMatch(page.url(), /helpful|status/);
});

test("feedback by page says that Mintlify lists only a part", async ({ visitor }) => {
  const { page, site, startAtReport } = visitor;
  const counts = { thumbsUp: 1, thumbsDown: 1, code: 0, total: 2 };
  const feedback = Array.from({ length: 100 }, (_, at) => ({ path: `/page-${at}`, ...counts }));
  const fault = { kind: "json", status: 200, body: { feedback, hasMore: true } };
  await site.upstream.fault({ operation: "analytics.feedbackByPage", times: 0, fault });
  await startAtReport({ ...FEEDBACK, show: "by-page" });
  const notes = page.locator(".notices-loadNote");
  await expect(notes).toHaveText(["Mintlify lists only 100 pages. There are more."]);
});

for (const timezoneId of ["Pacific/Kiritimati", "Pacific/Pago_Pago"]) {
  test.describe(timezoneId, () => {
    test.use({ timezoneId });

    test(`feedback times are days of the period in ${timezoneId}`, async ({ visitor }) => {
      const { page, startAtReport } = visitor;
      await startAtReport({ route: "feedback", range: "yesterday" });
      await page.getByRole("columnheader", { name: "Submitted (UTC)" }).waitFor();
      const yesterday = new Date(Date.now() - DAY_MS);
      const day = new Intl.DateTimeFormat("en-US", { dateStyle: "medium", timeZone: "UTC" });
      // Some entries have no time.
      const times = page.locator("td[data-column=created] time");
      const texts = await times.allTextContents();
      assert.ok(texts.length > 0);
      for (const text of texts) assert.ok(text.startsWith(day.format(yesterday)), text);
      assert.match(await times.first().getAttribute("title"), /your time$/);
    });
  });
}
