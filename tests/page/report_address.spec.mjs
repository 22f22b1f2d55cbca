/**
 * Links to reports, with invalid dates and open folders. Other tests cover the back button, time
 * zones, and jobs that start from a row.
 */
import assert from "node:assert/strict";
import { test } from "./fixtures.mjs";
import { show } from "./reports.mjs";
import { SMALL_SITE } from "./sites.mjs";

test.use({ siteOptions: SMALL_SITE });

test("a link with invalid dates shows a notice and gets a correct address", async ({ visitor }) => {
  const { page, startSession, openReport } = visitor;
  await startSession();
  await openReport({ from: "2026-02-30", to: "2026-03-01" });
  await page.getByText("This link’s dates are not valid. Showing the last 28 days").waitFor();
  await page.waitForURL(
    ({ searchParams }) => searchParams.get("range") === "last-28-days" && !searchParams.has("from"),
  );
  await page.keyboard.press("w");
  await page.getByText("This link’s dates are not valid").waitFor({ state: "hidden" });
});

test("open folders stay open after a reload", async ({ visitor }) => {
  const { page, startSession, openReport, untilLoaded } = visitor;
  await startSession();
  await openReport({ range: "last-month", compare: "none" });
  await show(page, /^Folders/);
  const folder = page.locator(".report_table-treeToggle").first();
  const name = await folder.textContent();
  await folder.click();
  await page.locator('.report_table-treeToggle[aria-expanded="true"]', { hasText: name }).waitFor();
  await page.reload();
  await untilLoaded();
  await page.locator('.report_table-treeToggle[aria-expanded="true"]', { hasText: name }).waitFor();
});

test("Back removes the filter and stays on the route", async ({ visitor }) => {
  const { page, startSession, openReport } = visitor;
  await startSession();
  await openReport({ range: "last-month", compare: "none" });
  const filter = page.getByLabel("Filter by path");
  await filter.pressSequentially("/guides", { delay: 20 });
  await page.waitForURL(/path=%2Fguides/);
  await page.goBack();
  await page.waitForFunction(() => document.getElementById("filter").value === "");
  await page.waitForURL(/route=views/);
});

for (const timezoneId of ["Pacific/Kiritimati", "Pacific/Pago_Pago"]) {
  test.describe(timezoneId, () => {
    test.use({ timezoneId });

    test(`feedback times are days of the period in ${timezoneId}`, async ({ visitor }) => {
      const { page, startSession, openReport } = visitor;
      await startSession();
      await openReport({ route: "feedback", range: "yesterday" });
      await page.getByRole("columnheader", { name: "Submitted (UTC)" }).waitFor();
      const yesterday = new Date(Date.now() - 86_400_000);
      const day = new Intl.DateTimeFormat("en-US", { dateStyle: "medium", timeZone: "UTC" });
      // Some entries have no time.
      const texts = await page.locator("td[data-column=created] time").allTextContents();
      assert.ok(texts.length > 0);
      for (const text of texts) assert.ok(text.startsWith(day.format(yesterday)), text);
      const title = await page
        .locator("td[data-column=created] time")
        .first()
        .getAttribute("title");
      assert.match(title, /your time$/);
    });
  });
}

test("a row starts a job with its path and figures", async ({ visitor }) => {
  const { page, startSession, openReport } = visitor;
  await startSession();
  await openReport({ range: "last-month", compare: "none" });
  const path = await page
    .getByRole("rowheader")
    .first()
    .locator(".report_table-path")
    .textContent();
  const total = await page.locator("tbody [data-column=total]").first().textContent();
  await page.getByRole("button", { name: `Start a job about ${path}`, exact: true }).click();
  const box = page.getByLabel("Prompt", { exact: true });
  await box.waitFor();
  await page.waitForFunction(
    ([path, total]) => {
      const { value } = document.querySelector("main textarea");
      return value.startsWith(`Update the page ${path}.`) && value.includes(`${total} views`);
    },
    [path, total],
  );
  await page.waitForURL(/route=jobs/);
});

test("rows offer no job without the scope to start one", async ({ visitor }) => {
  const { page, token, startSession, openReport } = visitor;
  await startSession(token({ scope: "analytics:read" }));
  await openReport({ range: "last-month", compare: "none" });
  assert.equal(await page.getByRole("button", { name: /^Start a job about/ }).count(), 0);
});
