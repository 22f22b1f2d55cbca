/**
 * The analytics routes. A visitor changes the period, the comparison and the arrangement of the
 * rows. Small sites load completely, and each report fits a phone.
 */
import assert from "node:assert/strict";
import { expect } from "@playwright/test";
import { accessibilityFaults, overflow } from "./browser.mjs";
import { test } from "./fixtures.mjs";
import { countRequests, monthOf, show } from "./reports.mjs";
import { SMALL_SITE, TALL_SITE } from "./sites.mjs";

test.use({ siteOptions: SMALL_SITE });

const LAST_MONTH = { range: "last-month" };
const WITHOUT_COMPARISON = { range: "last-month", compare: "none" };
const SIGNED = new Intl.NumberFormat("en-US", { signDisplay: "exceptZero" });
const signed = (difference) => SIGNED.format(difference).replace("-", "\u2212");
const format = (number) => number.toLocaleString("en-US");
const rowOf = (page, path) =>
  page.getByRole("row").filter({ has: page.getByRole("rowheader", { name: path, exact: true }) });
const cell = (page, path, column) => rowOf(page, path).locator(`[data-column=${column}]`);

test.describe("automatic loading", () => {
  test.use({ siteOptions: TALL_SITE });

  test("a small site loads completely without a click", async ({ visitor }) => {
    const { site, page, project, startSession, openReport } = visitor;
    await startSession();
    await openReport(WITHOUT_COMPARISON);
    const { views } = await monthOf(site, project);
    await page
      .getByText(`All ${format(views.length)} pages loaded.`)
      .first()
      .waitFor();
    assert.equal(await countRequests(site), Math.ceil(views.length / 250));
    assert.equal(await page.getByRole("button", { name: /^Load all/ }).count(), 0);
  });

  test("automatic loading stops at half of the hourly quota", async ({ visitor }) => {
    const { page, startSession, token, openReport, project } = visitor;
    await startSession(token({ sub: `frugal-${project}`, quota: { analytics: 3 } }));
    await openReport(WITHOUT_COMPARISON);
    await page.getByText(/^Showing the top 500 pages/).waitFor();
    await page.getByText(/1 request left this hour|1 remaining/).waitFor();
  });
});

test.describe("comparison", () => {
  test("a comparison shows changes, and lists gains, drops and lost people", async ({
    visitor,
  }) => {
    const { site, page, project, startSession, openReport } = visitor;
    await startSession();
    await openReport(LAST_MONTH);
    const now = await monthOf(site, project, -1);
    const earlier = await monthOf(site, project, -2);
    const direction = now.totals.total > earlier.totals.total ? "Up" : "Down";
    const strip = page.getByRole("region", { name: "Total page views" });
    const from = `from ${format(earlier.totals.total)}`;
    await strip.getByText(new RegExp(`^${direction} [\\d.]+% ${from}$`)).waitFor();

    const changesOf = (column) => {
      const [before, after] = [earlier, now].map(
        ({ views }) => new Map(views.map((row) => [row.path, row[column]])),
      );
      const paths = [...new Set([...before.keys(), ...after.keys()])];
      return new Map(paths.map((path) => [path, (after.get(path) ?? 0) - (before.get(path) ?? 0)]));
    };
    const changes = changesOf("total");
    const [{ path }] = [...now.views].sort((a, b) => b.total - a.total);
    await expect(cell(page, path, "change")).toHaveText(signed(changes.get(path)));
    const first = page.locator("tbody [data-column=change]").first();
    await show(page, /^Biggest gains/);
    await expect(first).toHaveText(signed(Math.max(...changes.values())));
    await show(page, /^Biggest drops/);
    await expect(first).toHaveText(signed(Math.min(...changes.values())));

    const people = [...changesOf("human").values()];
    const loss = signed(Math.min(...people));
    await show(page, /^Lost people/);
    await page.getByRole("columnheader", { name: "People change" }).waitFor();
    await expect(first).toHaveText(loss);
    const lost = people.filter((change) => change < 0).length;
    await expect(page.getByRole("table")).toHaveAttribute("aria-rowcount", String(lost + 1));
    await page
      .locator("tbody tr")
      .first()
      .getByRole("button", { name: /^Start a job/ })
      .click();
    const prompt = page.getByLabel("Prompt", { exact: true });
    await expect(prompt).toHaveValue(new RegExp(`${loss} people vs `));
  });

  test("Gained people of visitors loads the previous period, also without a comparison", async ({
    visitor,
  }) => {
    const { page, startSession, openReport } = visitor;
    await startSession();
    const address = { route: "visitors", range: "last-month", compare: "none" };
    await openReport({ ...address, show: "people-rises" });
    const header = page.getByRole("columnheader", { name: "People change" });
    await header.waitFor();
    await expect(header).toHaveAttribute("aria-sort", "descending");
    await page.getByRole("region", { name: "Total visitors", exact: true }).waitFor();
    const changes = page.locator("tbody [data-column=change]");
    await changes.nth(1).waitFor();
    const numbers = (await changes.allTextContents()).map((text) => Number(text.replace(/,/g, "")));
    assert.ok(numbers.every((change) => change > 0));
    assert.deepEqual(
      numbers,
      numbers.toSorted((one, other) => other - one),
    );
  });

  test("the address selects the comparison with last year, or none", async ({ visitor }) => {
    const { page, startSession, openReport, untilLoaded } = visitor;
    await startSession();
    await openReport({ from: "2026-10-01", to: "2026-10-31" });
    await page.getByText("vs Sep 1 – 30, 2026").waitFor();
    await page.getByRole("button", { name: /^Compare/ }).click();
    await page.getByRole("button", { name: "Previous year" }).click();
    await page.getByText("vs Oct 1 – 31, 2025").waitFor();
    await page.waitForURL(/compare=previous-year/);
    await untilLoaded();
    await page.keyboard.press("x");
    await page.getByRole("button", { name: "Compare: No comparison" }).waitFor();
    assert.equal(await page.getByRole("columnheader", { name: "Change" }).count(), 0);
  });
});

test.describe("rows", () => {
  test("folders show the sums of their pages and expand by keyboard", async ({ visitor }) => {
    const { site, page, project, startSession, openReport } = visitor;
    await startSession();
    await openReport(WITHOUT_COMPARISON);
    const { views } = await monthOf(site, project);
    const folders = new Map();
    for (const { path, total } of views) {
      const [, name, ...rest] = path.split("/");
      if (rest.length === 0) continue;
      folders.set(name, (folders.get(name) ?? 0) + total);
    }
    const [[folder, total]] = [...folders].sort((a, b) => b[1] - a[1]);
    await show(page, /^Folders/);
    const toggle = page.getByRole("button", { name: `${folder}/`, exact: true });
    await toggle.waitFor();
    const row = page.getByRole("row").filter({ has: toggle });
    await expect(row.locator("[data-column=total]")).toHaveText(format(total));
    await expect(toggle).toHaveAttribute("aria-expanded", "false");
    const closed = Number(await page.getByRole("table").getAttribute("aria-rowcount"));
    await toggle.focus();
    await page.keyboard.press("Enter");
    await expect(toggle).toHaveAttribute("aria-expanded", "true");
    await expect(toggle).toBeFocused();
    assert.ok(Number(await page.getByRole("table").getAttribute("aria-rowcount")) > closed);
    assert.deepEqual(await accessibilityFaults(page), []);
  });

  test("a glob filters the rows and shows their count and sums", async ({ visitor }) => {
    const { site, page, project, startSession, openReport } = visitor;
    await startSession();
    await openReport(WITHOUT_COMPARISON);
    const { views } = await monthOf(site, project);
    const [, folder] = views.find(({ path }) => /^\/[a-z]+\/./.test(path)).path.split("/");
    const inside = views.filter(({ path }) => path.toLowerCase().startsWith(`/${folder}/`));
    const sum = (column) => inside.reduce((all, row) => all + row[column], 0);
    await page.keyboard.press("/");
    await page.keyboard.type(`/${folder}/**`);
    const matches = page.getByRole("status").filter({ hasText: /views \(/ });
    await matches.getByText(`${format(inside.length)} page`).waitFor();
    const text = await matches.textContent();
    for (const column of ["total", "human", "ai"]) {
      assert.ok(text.includes(format(sum(column))), `${column}: ${sum(column)} in ${text}`);
    }
    await page.waitForURL(/path=/);
  });

  test("arrangements list the pages read mostly by AI and the least read", async ({ visitor }) => {
    const { site, page, project, startSession, openReport } = visitor;
    await startSession();
    await openReport(WITHOUT_COMPARISON);
    const { views } = await monthOf(site, project);
    const byAi = views.filter(({ ai, total }) => ai * 2 > total);
    await show(page, /^Mostly AI/);
    await page
      .getByText(`${format(byAi.length)} page`)
      .first()
      .waitFor();
    const [most] = [...byAi].sort((a, b) => b.ai - a.ai);
    const share = Math.round((most.ai / most.total) * 100);
    await expect(page.locator("tbody [data-column=share]").first()).toHaveText(`${share}%`);
    await show(page, /^Least read/);
    const least = Math.min(...views.map(({ total }) => total));
    await expect(page.locator("tbody [data-column=total]").first()).toHaveText(format(least));
  });

  test("a sitemap reveals the pages that were never read", async ({ visitor }) => {
    const { site, page, project, record, startSession, openReport } = visitor;
    await startSession();
    await openReport(WITHOUT_COMPARISON);
    const { views } = await monthOf(site, project);
    const known = views.find(({ path }) => /^\/[a-z-]+\/[a-z-]+$/.test(path)) ?? views[0];
    const urls = [known.path, "/never/read", "/nor/this"].map(
      (path) => `<url><loc>https://docs.example.com${path}</loc></url>`,
    );
    await show(page, /^Unread/);
    const dialog = page.getByRole("dialog", { name: "Find unread pages" });
    assert.deepEqual(await accessibilityFaults(page), []);
    await dialog.getByLabel("Sitemap file").setInputFiles({
      name: "sitemap.xml",
      mimeType: "application/xml",
      buffer: Buffer.from(
        `<urlset>${urls.join("")}<url><loc>https://blog.example.com/</loc></url></urlset>`,
      ),
    });
    await page.getByText("2 pages without views").waitFor();
    await page.getByText("Ignored 1 address: on other sites.").waitFor();
    assert.deepEqual(await page.getByRole("rowheader").allTextContents(), [
      "/never/read",
      "/nor/this",
    ]);
    const link = page.getByRole("rowheader").first().locator("a[target=_blank]");
    await expect(link).toHaveAttribute("href", "https://docs.example.com/never/read");
    const { origin } = new URL(site.url);
    assert.ok(record.urls.every((url) => new URL(url).origin === origin || url === "about:blank"));
  });

  test("paths link to the site only after the visitor enters its address", async ({ visitor }) => {
    const { page, startSession, openReport } = visitor;
    await startSession();
    await openReport(WITHOUT_COMPARISON);
    const siteLinks = page.getByRole("rowheader").locator("a[target=_blank]");
    assert.equal(await siteLinks.count(), 0);
    const button = page.getByRole("button", { name: "Set site URL" });
    await button.click();
    const dialog = page.getByRole("dialog", { name: "Set site URL" });
    await dialog.getByLabel(/^URL of/).fill("javascript:alert(1)");
    await dialog.getByRole("button", { name: "Save site URL" }).click();
    await dialog.getByRole("alert").getByText("must begin with https:// or http://").waitFor();
    await dialog.getByLabel(/^URL of/).fill("docs.example.com");
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Site: docs.example.com" }).waitFor();
    const links = await siteLinks.evaluateAll((links) => links.map(({ href, rel }) => [href, rel]));
    assert.ok(links.length > 10);
    assert.ok(links.every(([href]) => href.startsWith("https://docs.example.com/")));
    assert.ok(links.every(([, rel]) => rel === "noreferrer"));
    assert.doesNotMatch(page.url(), /docs\.example/);
  });
});

test("keys select periods, and buttons step to earlier and later ones", async ({ visitor }) => {
  const { page, startSession, openReport, untilLoaded } = visitor;
  await startSession();
  await openReport({ compare: "none" });
  for (const [key, label] of [
    ["e", "Yesterday"],
    ["w", "Last 7 days"],
    ["q", "Last 90 days"],
    ["m", "This month"],
    ["y", "Last 12 months"],
    ["p", "Last month"],
  ]) {
    await page.keyboard.press(key);
    await page.getByRole("button", { name: `Period: ${label}` }).waitFor();
  }
  await untilLoaded();
  await page.getByRole("button", { name: "Earlier period" }).click();
  await page.waitForURL(/from=\d{4}-\d\d-01/);
  const later = page.getByRole("button", { name: "Later period" });
  await later.click();
  await page.getByRole("button", { name: "Period: Last month" }).waitFor();
  await later.click();
  await page.getByRole("button", { name: /^Period: (This month|Today)/ }).waitFor();
  await expect(later).toHaveAttribute("aria-disabled", "true");
  await expect(later).toBeFocused();
});

test.describe("reports", () => {
  test("a click on a feedback comment shows it in full", async ({ visitor }) => {
    const { page, startSession, openReport } = visitor;
    await startSession();
    await openReport({ route: "feedback", range: "last-28-days" });
    const comment = page.locator("td[data-column=comment] button").first();
    const text = await comment.textContent();
    await comment.click();
    const dialog = page.getByRole("dialog", { name: "Feedback" });
    await dialog.getByText(text, { exact: true }).waitFor();
    assert.deepEqual(await accessibilityFaults(page), []);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await expect(comment).toBeFocused();
  });

  test.describe("on a phone", () => {
    test.use({ viewport: { width: 360, height: 740 } });

    test("the menus of a report fit 360 pixels", async ({ visitor }) => {
      const { page, startSession, openReport } = visitor;
      await startSession();
      await openReport({ range: "last-28-days" });
      await page.getByRole("button", { name: "Filter and options", exact: true }).click();
      for (const menu of [/^Period/, /^Compare/, /^Show/, /^Export/]) {
        await page.getByRole("button", { name: menu }).click();
        assert.ok((await overflow(page)) <= 0, String(menu));
        const { x, width } = await page.locator(".menu-panel:popover-open").boundingBox();
        assert.ok(x >= 0 && x + width <= 360, `${menu}: ${x} to ${x + width}`);
        await page.keyboard.press("Escape");
      }
    });
  });

  test.describe("forced colours", () => {
    test.use({ forcedColors: "active" });

    test("forced colours keep the chosen period apart", async ({ visitor }) => {
      const { page, startSession, openReport } = visitor;
      await startSession();
      await openReport(LAST_MONTH);
      await page.getByRole("button", { name: /^Period/ }).click();
      const chosen = page.getByRole("button", { name: "Last month", exact: true });
      const other = page.getByRole("button", { name: "Last 7 days" });
      const border = (locator) =>
        locator.evaluate((element) => getComputedStyle(element).borderTopColor);
      assert.notEqual(await border(chosen), await border(other));
      // The open menu covers a part of this button.
      assert.deepEqual(await accessibilityFaults(page, { exclude: [".range_line-line"] }), []);
    });
  });

  test("a keyboard is enough to choose a period and sort the table", async ({ visitor }) => {
    const { page, startSession, openReport, untilLoaded } = visitor;
    await startSession();
    await openReport(WITHOUT_COMPARISON);
    const focused = () => page.evaluate(() => document.activeElement.textContent.trim());
    const untilFocused = (name) => expect.poll(focused).toMatch(name);
    await page.getByRole("button", { name: /^Period/ }).focus();
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    await untilFocused(/^Today/);
    await page.keyboard.press("Escape");
    await untilFocused(/^Period/);
    await expect(page.locator(".menu-panel:popover-open")).toHaveCount(0);
    await page.keyboard.press("Enter");
    for (let presses = 0; !/^Last 7 days/.test(await focused()); presses++) {
      assert.ok(presses < 9, "the period is among the first");
      await page.keyboard.press("Tab");
    }
    await page.keyboard.press("Enter");
    await untilFocused(/^Period: Last 7 days/);
    await untilLoaded();
    const heading = page.getByRole("columnheader", { name: "AI", exact: true });
    await heading.getByRole("button").focus();
    await page.keyboard.press("Enter");
    await expect(heading).toHaveAttribute("aria-sort", "descending");
    await untilFocused(/^AI/);
  });
});
