/** Notices of a report after a limit or an error stopped loading. */
import assert from "node:assert/strict";
import { expect } from "@playwright/test";
import { test } from "./fixtures.mjs";
import { firstOfMonth, monthOf } from "./reports.mjs";

const LAST_MONTH = { range: "last-month" };
const BAD_GATEWAY = { kind: "html", status: 502 };

/** Spends requests of a caller's quota outside the page, each for a different month. */
async function spendRequests(site, project, token, requests) {
  for (let month = 1; month <= requests; month++) {
    const days = { dateFrom: firstOfMonth(-2 - month), dateTo: firstOfMonth(-1 - month) };
    const url = `${site.url}/v1/analytics/${project}/views?${new URLSearchParams(days)}`;
    const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
    assert.equal(response.status, 200, await response.text());
  }
}

test("a limit that stops loading shows the loaded rows and when to continue", async ({
  visitor,
}) => {
  const { site, page, project, token, startSession, openReport } = visitor;
  const frugal = token({ sub: `frugal-${project}`, quota: { analytics: 5 } });
  await startSession(frugal);
  await openReport({ ...LAST_MONTH, compare: "none" });
  await page.getByText("Showing the top 750 pages").waitFor();
  await spendRequests(site, project, frugal, 2);
  await page.getByRole("button", { name: /^Load all/ }).click();
  const alert = page.getByRole("alert").filter({ hasText: "You’ve used your own quota" });
  await alert.getByText("750 pages are loaded.").waitFor();
  await alert.getByText("Load the other pages when a request is available.").waitFor();
  await alert.getByText(/Try again at \d+:\d\d/).waitFor();
  assert.doesNotMatch(await alert.textContent(), /Nothing was done|status 429|3600/);
  const table = page.getByRole("table", { name: "Page views by path" });
  await expect(table).toHaveAttribute("aria-rowcount", "751");
});

test("an error in the middle of the previous period shows how much of it is loaded", async ({
  visitor,
}) => {
  const { site, page, project, startSession, openReport } = visitor;
  const dates = `dateFrom=${firstOfMonth(-2)}`;
  await site.upstream.fault({
    operation: "analytics.views",
    target: dates,
    after: 1,
    times: 0,
    fault: BAD_GATEWAY,
  });
  await startSession();
  await openReport(LAST_MONTH);
  const line = page.locator(".range_line-line");
  await line.getByText(/: partly loaded \(250 pages\)\. Mintlify returned an error/).waitFor();
  assert.doesNotMatch(await line.textContent(), /not loaded/);
  const strip = page.getByRole("region", { name: "Total page views" });
  const { totals } = await monthOf(site, project, -2);
  await strip.getByText(`from ${totals.total.toLocaleString("en-US")}`).waitFor();

  await site.upstream.clearFaults();
  await line.getByRole("button", { name: "Load the previous period" }).click();
  await line.getByText("partly loaded").waitFor({ state: "detached" });
});
