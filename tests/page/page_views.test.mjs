/** Page views on the page: ranges, totals, the table, and what happens when something fails. */
import assert from "node:assert/strict";
import { describe } from "node:test";
import { accessibilityFaults } from "./browser.mjs";
import { countRequests, loadRest, monthOf } from "./reports.mjs";
import { EMPTY_PROJECT, startSite } from "./site.mjs";

const DAY_MS = 86_400_000;
const STEP_MS = 300_000;
const site = startSite();
const { visiting } = site;
const LAST_MONTH = { range: "last-month", compare: "none" };
const BROKEN = { kind: "html", status: 502 };
const IN_A_WEEK = Math.floor((Date.now() + 7 * DAY_MS) / 1000);

/** A moment of today (UTC) that is far from both of its ends. */
const noon = () => Math.floor(Date.now() / DAY_MS) * DAY_MS + DAY_MS / 2 + 1000;

const headingOf = (page, name) => page.getByRole("columnheader", { name });
const firstPath = (page) => page.getByRole("rowheader").first().textContent();
const isInSight = (locator) =>
  locator.evaluate((element) => {
    const { top, bottom } = element.getBoundingClientRect();
    return top >= 0 && bottom <= window.innerHeight;
  });
const failAll = () =>
  site.upstream.fault({ operation: "analytics.views", times: 0, fault: BROKEN });

describe("a list that is partly loaded", () => {
  visiting("says so where it is sorted, and offers the rest", async (visitor) => {
    const { page, project, signIn, openReport } = visitor;
    await signIn();
    await openReport({ ...LAST_MONTH, show: "least-read" });
    await page.getByText("These are not the lowest of the site").waitFor();
    const { views } = await monthOf(site, project);
    const least = Math.min(...views.map(({ total }) => total));
    const button = page.getByRole("button", { name: /^Load the rest/ });
    const [, most] = /at most ([\d,]+) requests/.exec(await button.textContent());
    await loadRest(page);
    const [, , , total] = await page.getByRole("row").nth(1).getByRole("cell").allTextContents();
    assert.equal(await page.getByText("These are not the lowest").count(), 0);
    const shown = await page.locator("tbody .column-total").first().textContent();
    assert.equal(shown, least.toLocaleString("en-US"), total);
    const needed = Math.ceil(views.length / 250) - 4;
    assert.ok(Number(most.replaceAll(",", "")) >= needed, `${most} is an upper bound`);
  });

  visiting("says so even when its notice cannot be loaded", async (visitor) => {
    const { page, signIn, openReport } = visitor;
    await page.route("**/assets/part_notices-*.js", (route) => route.abort());
    await signIn();
    await openReport(LAST_MONTH);
    await page.getByText("Not everything is loaded.").waitFor();
    await page.unroute("**/assets/part_notices-*.js");
    await page.getByRole("button", { name: "Reload the page" }).click();
    await page.getByRole("button", { name: /^Load the rest/ }).waitFor();
  });

  visiting("says so where it is searched, and offers the rest", async (visitor) => {
    const { page, project, signIn, openReport } = visitor;
    const { views } = await monthOf(site, project);
    const loaded = views.slice(0, 1000).map(({ path }) => path.toLowerCase());
    const hidden = views
      .slice(1000)
      .map(({ path }) => path)
      .find(
        (path) => /^\/[a-z/-]+\d*$/.test(path) && !loaded.some((other) => other.startsWith(path)),
      );
    await signIn();
    await openReport(LAST_MONTH);
    await page.getByLabel("Filter by path").fill(hidden);
    await page.getByText(`No loaded page matches “${hidden}”`).waitFor();
    await page.getByText("Only loaded pages are searched.").waitFor();
    await loadRest(page);
    await page.getByRole("rowheader", { name: hidden }).first().waitFor();
  });

  visiting("stops at a thousand rows unless it is asked for more", async (visitor) => {
    const { page, signIn, openReport } = visitor;
    await signIn();
    await openReport(LAST_MONTH);
    await page.getByText(/^Only loaded pages are sorted\. 1,000 pages are loaded/).waitFor();
    assert.equal(await countRequests(site), 4);
  });
});

describe("the table", () => {
  visiting("comes back after a filter that nothing matched", async (visitor) => {
    const { page, signIn, openReport } = visitor;
    await signIn();
    await openReport(LAST_MONTH);
    await loadRest(page);
    await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
    const filter = page.getByLabel("Filter by path");
    await filter.fill("no such path anywhere");
    await page.getByText("No page matches").waitFor();
    await page.getByRole("button", { name: "Clear the filter" }).click();
    assert.ok(await filter.evaluate((element) => element === document.activeElement));
    await page.getByRole("rowheader").first().waitFor();
    assert.equal(await page.getByRole("row").nth(1).getAttribute("aria-rowindex"), "2");
  });

  visiting("begins again in another order, under its headings", async (visitor) => {
    const { page, signIn, openReport } = visitor;
    await signIn();
    await openReport(LAST_MONTH);
    await page.evaluate(() => scrollTo(0, 20_000));
    await page.waitForFunction(
      () => Number(document.querySelector("tbody tr[aria-rowindex]").ariaRowIndex) > 100,
    );
    assert.ok(await isInSight(headingOf(page, "People")), "the headings stay");
    await headingOf(page, "People").getByRole("button").click();
    await page.waitForFunction(
      () => document.querySelector("tbody tr[aria-rowindex]").ariaRowIndex === "2",
    );
    assert.ok(await isInSight(headingOf(page, "People")));
    assert.ok(await isInSight(page.getByRole("row").nth(2)));
  });

  visiting("is sorted by any column, and shows only rows in sight", async (visitor) => {
    const { page, project, signIn, openReport } = visitor;
    await signIn();
    await openReport(LAST_MONTH);
    assert.equal(await headingOf(page, "Total").getAttribute("aria-sort"), "descending");
    await loadRest(page);
    const { views } = await monthOf(site, project);
    for (const [label, column] of [
      ["People", "human"],
      ["AI", "ai"],
    ]) {
      const heading = page.getByRole("columnheader", { name: label, exact: true });
      await heading.getByRole("button").click();
      assert.equal(await heading.getAttribute("aria-sort"), "descending");
      const most = Math.max(...views.map((row) => row[column]));
      const best = views.filter((row) => row[column] === most).map(({ path }) => path);
      assert.equal(await firstPath(page), best.sort()[0]);
    }
    await headingOf(page, "Path").getByRole("button").click();
    assert.equal(await headingOf(page, "Path").getAttribute("aria-sort"), "ascending");
    assert.equal(await firstPath(page), views.map(({ path }) => path).sort()[0]);
    assert.match(page.url(), /sort=path/);
    const rows = await page.getByRole("row").count();
    assert.ok(rows < 100, `only rows in sight are in the document, not ${rows}`);
    const table = page.getByRole("table", { name: "Page views by path" });
    assert.equal(await table.getAttribute("aria-rowcount"), `${views.length + 1}`);
  });

  visiting("has rows of one line, tinted by the sorted column", async (visitor) => {
    const { page, signIn, openReport } = visitor;
    await signIn();
    await openReport(LAST_MONTH);
    const row = page.getByRole("row").nth(1);
    const { height } = await row.boundingBox();
    assert.ok(height >= 32 && height <= 36, `${height} px`);
    const tints = await page
      .locator("tbody tr[aria-rowindex]")
      .evaluateAll((rows) => rows.map((row) => parseFloat(row.style.getPropertyValue("--tint"))));
    assert.equal(tints[0], 100);
    assert.ok(tints.every((tint, at) => at === 0 || tint <= tints[at - 1]));
  });

  visiting("isolates a path that would turn its row around", async (visitor) => {
    const { page, signIn, openReport } = visitor;
    const path = "/\u202Egnp.exe";
    const counts = { human: 1, ai: 1, total: 2 };
    const body = { totals: counts, views: [{ path, ...counts }], hasMore: false };
    await site.upstream.fault({
      operation: "analytics.views",
      times: 0,
      fault: { kind: "json", status: 200, body },
    });
    await signIn();
    await openReport(LAST_MONTH);
    const isolated = await page
      .getByRole("rowheader")
      .locator("bdi")
      .evaluate((element) => [element.textContent, getComputedStyle(element).unicodeBidi]);
    assert.deepEqual(isolated, [path, "isolate"]);
  });
});

describe("a range", () => {
  visiting("says its days in one format, and asks for them whole", async (visitor) => {
    const { page, signIn, openReport } = visitor;
    await signIn();
    await openReport({ from: "2026-10-01", to: "2026-10-31", compare: "none" });
    await page.getByText(/^Oct 1\s–\s31, 2026 \(UTC\)$/).waitFor();
    const requests = await site.upstream.requests();
    const { searchParams } = new URL(requests.at(-1).target, site.upstream.url);
    assert.equal(searchParams.get("dateFrom"), "2026-10-01");
    assert.equal(searchParams.get("dateTo"), "2026-11-01");
  });

  visiting("is refused when it is turned round or in the future", async (visitor) => {
    const { page, signIn, openReport } = visitor;
    await signIn();
    await openReport(LAST_MONTH);
    const before = await countRequests(site);
    await page.getByRole("button", { name: /^Period/ }).click();
    await page.getByLabel("From").fill("2026-10-05");
    await page.getByLabel("To (included)").fill("2026-10-01");
    await page.getByRole("button", { name: "Apply" }).click();
    await page.getByRole("alert").getByText("The last day is before the first day.").waitFor();
    const tomorrow = new Date(Date.now() + DAY_MS).toISOString().slice(0, 10);
    await page.getByLabel("To (included)").fill(tomorrow);
    await page.getByRole("button", { name: "Apply" }).click();
    await page.getByRole("alert").getByText("The last day is in the future.").waitFor();
    assert.equal(await countRequests(site), before);
    assert.doesNotMatch(page.url(), /from=/);
  });

  visiting("comes back with the back button and from the address", async (visitor) => {
    const { page, signIn, openLastMonth, untilLoaded } = visitor;
    await signIn();
    await openLastMonth();
    const period = page.getByRole("button", { name: /^Period/ });
    await period.click();
    await page.getByRole("button", { name: "Last 7 days" }).click();
    assert.ok(await period.evaluate((element) => element === document.activeElement));
    await untilLoaded();
    await page.goBack();
    await page.getByRole("button", { name: "Period: Last month" }).waitFor();
    await untilLoaded();
    const before = await countRequests(site);
    await page.reload();
    await page.getByRole("table", { name: "Page views by path" }).waitFor();
    await untilLoaded();
    await page.getByRole("button", { name: "Period: Last month" }).waitFor();
    assert.equal(await countRequests(site), before, "what the gateway has kept is not asked for");
  });

  visiting("that is open is asked for once by four who open it", async (visitor) => {
    const { page, token, signIn, openReport } = visitor;
    page.setDefaultTimeout(60_000);
    const query = { range: "last-7-days", compare: "none" };
    const begun = noon();
    await page.clock.setFixedTime(begun);
    await signIn(token({ exp: IN_A_WEEK }));
    await openReport(query);
    const before = await countRequests(site);
    for (const minutes of [1, 3, 4]) {
      await page.clock.setFixedTime(begun + minutes * 60_000);
      await openReport(query);
    }
    assert.equal(await countRequests(site), before);

    // Later, and with no answer from the platform, what was answered then is shown.
    await failAll();
    await page.clock.setFixedTime(begun + 2 * STEP_MS);
    await openReport(query);
    const note = page.getByRole("status").filter({ hasText: /^As of/ });
    await note.getByText("The platform did not answer").waitFor();
    await page.getByRole("rowheader").first().waitFor();
    assert.equal(await page.getByRole("alert").count(), 0);
  });

  visiting("of a preset moves on when the page is left open overnight", async (visitor) => {
    const { page, token, signIn, openReport, untilLoaded } = visitor;
    const now = noon();
    await page.clock.setFixedTime(now);
    await signIn(token({ exp: IN_A_WEEK }));
    await openReport({ range: "today", compare: "none" });
    const tomorrow = new Date(now + DAY_MS);
    const format = new Intl.DateTimeFormat("en-US", { dateStyle: "medium", timeZone: "UTC" });
    await page.locator(".range-line").getByText(format.format(now)).waitFor();
    await page.clock.setFixedTime(now + DAY_MS);
    await page.locator(".range-line").getByText(format.format(tomorrow)).waitFor();
    await untilLoaded();
  });
});

describe("the totals", () => {
  visiting("are those of the whole site", async (visitor) => {
    const { page, project, signIn, openReport } = visitor;
    await signIn();
    await openReport(LAST_MONTH);
    const { totals } = await monthOf(site, project);
    const region = page.getByRole("region", { name: "Totals of the whole site" });
    const shown = await region.textContent();
    for (const count of [totals.human, totals.ai, totals.total]) {
      assert.ok(shown.includes(count.toLocaleString("en-US")), `${count} in ${shown}`);
    }
  });

  visiting("of a site without any are empty, not wrong", async ({ page, token, signIn }) => {
    await signIn(token({ projects: [EMPTY_PROJECT] }));
    await page.getByRole("link", { name: "Page views" }).click();
    await page.getByText("No page views in this period").waitFor();
  });
});

describe("an error", () => {
  visiting("leaves nothing that looks as if it were loading", async (visitor) => {
    const { page, signIn, openReport } = visitor;
    page.setDefaultTimeout(60_000);
    await failAll();
    await signIn();
    await openReport(LAST_MONTH);
    const alert = page.getByRole("alert").filter({ hasText: "did not answer properly" });
    await alert.getByRole("button", { name: "Retry" }).waitFor();
    assert.equal(await page.locator('[aria-busy="true"], .waiting, progress').count(), 0);
    assert.deepEqual(await accessibilityFaults(page), []);
    await site.upstream.clearFaults();
    await alert.getByRole("button", { name: "Retry" }).click();
    await page.getByRole("rowheader").first().waitFor();
  });

  visiting("of a platform that hangs is not waited for", async (visitor) => {
    const { page, project, signIn } = visitor;
    await site.upstream.hold({ operation: "analytics.views" });
    await signIn();
    const search = new URLSearchParams({ route: "views", project, ...LAST_MONTH });
    await page.goto(`${site.gateway.url}/?${search}`);
    await page.getByRole("progressbar", { name: "Loading pages" }).waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("Loading was stopped.").waitFor();
    assert.equal(await page.locator('[aria-busy="true"], progress').count(), 0);
    await site.upstream.release();
    await page.getByRole("button", { name: "Load", exact: true }).click();
    await page.getByRole("rowheader").first().waitFor();
  });
});

describe("refreshing", () => {
  visiting("keeps the rows until as many new ones are here", async (visitor) => {
    const { page, signIn, openReport, untilLoaded } = visitor;
    await signIn();
    await openReport(LAST_MONTH);
    const before = await countRequests(site);
    await site.upstream.hold({ operation: "analytics.views" });
    await page.getByRole("button", { name: "Refresh" }).click();
    await page.getByRole("progressbar", { name: "Refreshing" }).waitFor();
    await site.upstream.untilHeld(1);
    const table = page.getByRole("table", { name: "Page views by path" });
    assert.equal(await table.getAttribute("aria-rowcount"), "1001");
    await site.upstream.release();
    await untilLoaded();
    assert.equal(await table.getAttribute("aria-rowcount"), "1001");
    assert.equal(await countRequests(site), before + 4);
    assert.equal(await page.getByText("As of").count(), 0);
  });

  visiting("that fails leaves them, and says since when they are", async (visitor) => {
    const { page, signIn, openReport, untilLoaded } = visitor;
    await signIn();
    await openReport(LAST_MONTH);
    await failAll();
    await page.getByRole("button", { name: "Refresh" }).click();
    const note = page.getByRole("status").filter({ hasText: /^As of \d+:\d\d/ });
    await note.getByText("The platform did not answer").waitFor();
    await page.getByRole("rowheader").first().waitFor();
    assert.deepEqual(await accessibilityFaults(page), []);

    await site.upstream.clearFaults();
    await page.getByRole("button", { name: "Refresh" }).click();
    await note.waitFor({ state: "detached" });
    await untilLoaded();
  });
});

describe("a limit", () => {
  visiting("that is spent leaves what is stale, or none with a time", async (visitor) => {
    const { page, signIn, token, openReport } = visitor;
    await signIn(token({ sub: "frugal", quota: { analytics: 1 } }));
    await openReport({ range: "last-month" });
    await page.getByText("At most 1 request an hour; 0 left at").waitFor();
    await page.getByText("not loaded, since no request is left").waitFor();
    await page.getByRole("button", { name: "Refresh" }).click();
    const note = page.getByRole("status").filter({ hasText: /^As of/ });
    await note.getByText("The limit on analytics requests is used up").waitFor();

    await page.keyboard.press("w");
    const alert = page
      .getByRole("alert")
      .filter({ hasText: "Your own share of the limit is used up" });
    await alert.getByText(/The next slot frees at/).waitFor();
    assert.equal(await page.locator('[aria-busy="true"], progress').count(), 0);
  });
});
