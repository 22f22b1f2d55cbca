import assert from "node:assert/strict";
import { accessibilityFaults } from "./browser.mjs";
import { expect, test } from "./fixtures.mjs";
import { countRequests, DAY_MS, firstOfMonth, inWords, loadRest, monthOf } from "./reports.mjs";
import { LARGE_SITE } from "./sites.mjs";
import { importRows } from "./source.mjs";

test.use({ siteOptions: LARGE_SITE });

const { toPagePath } = await importRows("page_path.ts");

const LAST_MONTH = { range: "last-month", compare: "none" };
const IN_A_WEEK = Math.floor((Date.now() + 7 * DAY_MS) / 1000);

/** Returns a moment of today (UTC) that is hours away from midnight. */
const noon = () => Math.floor(Date.now() / DAY_MS) * DAY_MS + DAY_MS / 2 + 1000;

const headingOf = (page, name) => page.getByRole("columnheader", { name });
const firstPath = (page) => page.getByRole("rowheader").first();
test("a thousand rows load automatically, with an offer of the rest", async ({ visitor }) => {
  const { site, page, project, startAtReport } = visitor;
  await startAtReport({ ...LAST_MONTH, show: "least-read" });
  await page.getByText("Pages with fewer views haven’t been loaded yet").waitFor();
  await page.getByText(/^Showing the top 1,000 pages/).waitFor();
  assert.equal(await countRequests(site), 4);
  const { views } = await monthOf(site, project);
  const least = Math.min(...views.map(({ total }) => total));
  const notice = await page.getByText(/^Showing the top/).textContent();
  const bounds = /(?:uses|at least) ([\d,]+)(?: to ([\d,]+))? requests/.exec(notice);
  await loadRest(page);
  assert.equal(await page.getByText("Pages with fewer views").count(), 0);
  const first = page.locator("tbody [data-column=total]").first();
  await expect(first).toHaveText(inWords(least));
  const needed = Math.ceil(views.length / 250) - 4;
  const toNumber = (bound) => Number(bound.replaceAll(",", ""));
  const [low, high] = [bounds[1], bounds[2] ?? "1000"].map(toNumber);
  assert.ok(low <= needed && needed <= high, `${needed} is from ${low} to ${high}`);
});

test("any column sorts the table, below the totals of the whole site", async ({ visitor }) => {
  const { site, page, project, startAtReport } = visitor;
  await startAtReport(LAST_MONTH);
  await expect(headingOf(page, "Total")).toHaveAttribute("aria-sort", "descending");
  await loadRest(page);
  const month = await monthOf(site, project);
  const totals = page.getByRole("region", { name: "Total page views" });
  const shown = await totals.textContent();
  for (const count of [month.totals.human, month.totals.ai, month.totals.total]) {
    assert.ok(shown.includes(inWords(count)), `${count} in ${shown}`);
  }
  // Some of the simulator's paths lack the first slash. Others stay unchanged.
  const views = month.views.map(({ path, ...counts }) => ({
    ...counts,
    path: path.startsWith("/") ? path : toPagePath(path),
  }));
  for (const [label, column] of [
    ["People", "human"],
    ["AI", "ai"],
  ]) {
    const heading = page.getByRole("columnheader", { name: label, exact: true });
    await heading.getByRole("button").click();
    await expect(heading).toHaveAttribute("aria-sort", "descending");
    const most = Math.max(...views.map((row) => row[column]));
    const best = views.filter((row) => row[column] === most).map(({ path }) => path);
    await expect(firstPath(page)).toHaveText(best.sort()[0]);
  }
  await headingOf(page, "Path").getByRole("button").click();
  await expect(headingOf(page, "Path")).toHaveAttribute("aria-sort", "ascending");
  await expect(firstPath(page)).toHaveText(views.map(({ path }) => path).sort()[0]);
  await page.waitForURL(/sort=path/);
  const rows = await page.getByRole("row").count();
  assert.ok(rows < 100, `only rows in sight are in the document, not ${rows}`);
  const table = page.getByRole("table", { name: "Page views by path" });
  await expect(table).toHaveAttribute("aria-rowcount", `${views.length + 1}`);
});

test("a path with a right-to-left override does not reorder its row", async ({ visitor }) => {
  const { site, page, startAtReport } = visitor;
  const path = "/\u202Egnp.exe";
  const counts = { human: 1, ai: 1, total: 2 };
  const body = { totals: counts, views: [{ path, ...counts }], hasMore: false };
  const fault = { kind: "json", status: 200, body };
  await site.upstream.fault({ operation: "analytics.views", times: 0, fault });
  await startAtReport(LAST_MONTH);
  const isolated = await page
    .getByRole("rowheader")
    .locator("bdi")
    .evaluate((element) => [element.textContent, getComputedStyle(element).unicodeBidi]);
  assert.deepEqual(isolated, [path, "isolate"]);
});

test("a range is whole days, and a reversed or future one is rejected", async ({ visitor }) => {
  const { site, page, startAtReport } = visitor;
  await startAtReport({ from: "2026-10-01", to: "2026-10-31", compare: "none" });
  await page.getByText(/^Oct 1\s–\s31, 2026 UTC$/).waitFor();
  const requests = await site.upstream.requests();
  const { searchParams } = new URL(requests.at(-1).target, site.upstream.url);
  assert.equal(searchParams.get("dateFrom"), "2026-10-01");
  assert.equal(searchParams.get("dateTo"), "2026-11-01");
  const before = await countRequests(site);
  await page.getByRole("button", { name: /^Period/ }).click();
  await page.getByLabel("From").fill("2026-10-05");
  await page.getByLabel("To", { exact: true }).fill("2026-10-01");
  await page.getByRole("button", { name: "Apply" }).click();
  await page.getByRole("alert").getByText("End date must be on or after the start date.").waitFor();
  const tomorrow = new Date(Date.now() + DAY_MS).toISOString().slice(0, 10);
  await page.getByLabel("To", { exact: true }).fill(tomorrow);
  await page.getByRole("button", { name: "Apply" }).click();
  await page.getByRole("alert").getByText("End date is in the future.").waitFor();
  assert.equal(await countRequests(site), before);
  await page.waitForURL(/from=2026-10-01&to=2026-10-31/);
});

test("a relative period advances at midnight in an open page", async ({ visitor }) => {
  const { page, token, followBrowserClock, startAtReport, untilLoaded } = visitor;
  const now = noon();
  await followBrowserClock();
  await page.clock.setFixedTime(now);
  await startAtReport({ range: "today", compare: "none" }, token({ exp: IN_A_WEEK }));
  const tomorrow = new Date(now + DAY_MS);
  const format = new Intl.DateTimeFormat("en-US", { dateStyle: "medium", timeZone: "UTC" });
  await page.locator(".range_line-line").getByText(format.format(now)).waitFor();
  await page.getByRole("button", { name: /^Period/ }).click();
  await page.getByLabel("From").fill("2026-10-05");
  await page.clock.setFixedTime(now + DAY_MS);
  await page.locator(".range_line-line").getByText(format.format(tomorrow)).waitFor();
  await expect(page.getByLabel("From")).toHaveValue("2026-10-05");
  await untilLoaded();
});

test("Cancel stops waiting for a platform that hangs", async ({ visitor }) => {
  const { site, page, project, startSession } = visitor;
  await site.upstream.hold({ operation: "analytics.views" });
  await startSession();
  const search = new URLSearchParams({ route: "views", project, ...LAST_MONTH });
  await page.goto(`${site.url}/?${search}`);
  await page.getByRole("progressbar", { name: "Loading pages" }).waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByText("Loading stopped.").waitFor();
  assert.equal(await page.locator('[aria-busy="true"], progress').count(), 0);
  await site.upstream.release();
  await page.getByRole("button", { name: "Load", exact: true }).click();
  await page.getByRole("rowheader").first().waitFor();
});

test("a failed report shows Try again and nothing that looks busy", async ({ visitor }) => {
  const { site, page, startAtReport } = visitor;
  const fault = { kind: "html", status: 502 };
  await site.upstream.fault({ operation: "analytics.views", times: 0, fault });
  await startAtReport(LAST_MONTH);
  const alert = page.getByRole("alert").filter({ hasText: "Mintlify returned an error" });
  await alert.getByRole("button", { name: "Try again" }).waitFor();
  const busy = page.locator('[aria-busy="true"], .totals_strip-waiting, progress');
  assert.equal(await busy.count(), 0);
  assert.deepEqual(await accessibilityFaults(page), []);
  await site.upstream.clearFaults();
  await alert.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("rowheader").first().waitFor();
});

test("a used-up quota keeps stale rows and shows when to return", async ({ visitor }) => {
  const { page, startAtReport, token, project } = visitor;
  const frugal = token({ sub: `frugal-${project}`, quota: { analytics: 1 } });
  await startAtReport({ range: "last-month" }, frugal);
  await page.getByText("No requests left. Continue at").waitFor();
  await page.getByText("not loaded, no requests left").waitFor();
  await page.getByRole("button", { name: "Refresh" }).click();
  const note = page.getByRole("status").filter({ hasText: /^As of/ });
  await note.getByText("No analytics requests are left").waitFor();

  await page.keyboard.press("w");
  const alert = page.getByRole("alert").filter({ hasText: "You’ve used your own quota" });
  await alert.getByText(/Try again at/).waitFor();
  assert.equal(await page.locator('[aria-busy="true"], progress').count(), 0);
});

test("a limit shows the loaded rows and when loading can continue", async ({ visitor }) => {
  const { site, page, project, token, startAtReport } = visitor;
  const frugal = token({ sub: `frugal-${project}`, quota: { analytics: 5 } });
  await startAtReport(LAST_MONTH, frugal);
  await page.getByText("Showing the top 750 pages").waitFor();
  // Another client spends the rest of the quota, each request for a different month.
  const headers = { authorization: `Bearer ${frugal}` };
  for (const month of [-3, -4]) {
    const days = { dateFrom: firstOfMonth(month), dateTo: firstOfMonth(month + 1) };
    const url = `${site.url}/v1/analytics/${project}/views?${new URLSearchParams(days)}`;
    const response = await fetch(url, { headers });
    assert.equal(response.status, 200, await response.text());
  }
  await page.getByRole("button", { name: /^Load all/ }).click();
  const alert = page.getByRole("alert").filter({ hasText: "You’ve used your own quota" });
  await alert.getByText("750 pages are loaded.").waitFor();
  await alert.getByText("Load the other pages when a request is available.").waitFor();
  await alert.getByText(/Try again at \d+:\d\d/).waitFor();
  assert.doesNotMatch(await alert.textContent(), /Nothing was done|status 429|3600/);
  const table = page.getByRole("table", { name: "Page views by path" });
  await expect(table).toHaveAttribute("aria-rowcount", "751");
});
