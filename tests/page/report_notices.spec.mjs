import assert from "node:assert/strict";
import { expect, test } from "./fixtures.mjs";
import { firstOfMonth } from "./reports.mjs";
import { LARGE_SITE } from "./sites.mjs";

test.use({ siteOptions: LARGE_SITE });

const LAST_MONTH = { range: "last-month" };
/** Spends requests of a caller's quota outside the page, each for a different month. */
async function spendRequests(site, project, token, requests) {
  for (let month = 1; month <= requests; month++) {
    const days = { dateFrom: firstOfMonth(-2 - month), dateTo: firstOfMonth(-1 - month) };
    const url = `${site.url}/v1/analytics/${project}/views?${new URLSearchParams(days)}`;
    const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
    assert.equal(response.status, 200, await response.text());
  }
}

test("a limit shows the loaded rows and when loading can continue", async ({ visitor }) => {
  const { site, page, project, token, startAtReport } = visitor;
  const frugal = token({ sub: `frugal-${project}`, quota: { analytics: 5 } });
  await startAtReport({ ...LAST_MONTH, compare: "none" }, frugal);
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
