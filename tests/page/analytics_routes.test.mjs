/** What a docs lead asks of the analytics routes, in the browser. */
import assert from "node:assert/strict";
import { describe } from "node:test";
import { accessibilityFaults, overflow } from "./browser.mjs";
import { countRequests, monthOf, show } from "./reports.mjs";
import { startSite } from "./site.mjs";

const site = startSite({ upstream: { pages: 900, varyingDays: true } });
const { visiting } = site;
const LAST_MONTH = { range: "last-month" };
const ALONE = { range: "last-month", compare: "none" };
const REPORTS = {
  views: "Page views by path",
  visitors: "Visitors by path",
  searches: "Searches by term",
  feedback: "Feedback",
};
const count = (number) => number.toLocaleString("en-US");
const rowOf = (page, path) =>
  page.getByRole("row").filter({ has: page.getByRole("rowheader", { name: path, exact: true }) });
const cell = (page, path, column) => rowOf(page, path).locator(`.column-${column}`).textContent();

describe("a small site", () => {
  visiting("is loaded completely without being asked to", async (visitor) => {
    const { page, project, signIn, openReport } = visitor;
    await signIn();
    await openReport(ALONE);
    const { views } = await monthOf(site, project);
    await page
      .getByText(`All ${count(views.length)} pages loaded.`)
      .first()
      .waitFor();
    assert.equal(await countRequests(site), Math.ceil(views.length / 250));
    assert.equal(await page.getByRole("button", { name: /^Load the rest/ }).count(), 0);
  });

  visiting("is not, once half of the hour's budget is spent", async (visitor) => {
    const { page, signIn, token, openReport } = visitor;
    await signIn(token({ sub: "frugal", quota: { analytics: 3 } }));
    await openReport(ALONE);
    await page.getByText(/^Only loaded pages are sorted\. 500 pages are loaded/).waitFor();
    await page.getByText(/At most 3 requests an hour; 1 left at/).waitFor();
  });
});

describe("a comparison", () => {
  visiting("begins with the totals, and has the change of each page", async (visitor) => {
    const { page, project, signIn, openReport } = visitor;
    await signIn();
    await openReport(LAST_MONTH);
    const now = await monthOf(site, project, -1);
    const earlier = await monthOf(site, project, -2);
    const direction = now.totals.total > earlier.totals.total ? "Up" : "Down";
    const strip = page.getByRole("region", { name: "Totals of the whole site" });
    const from = `from ${count(earlier.totals.total)}`;
    await strip.getByText(new RegExp(`^${direction} [\\d.]+% ${from}$`)).waitFor();

    const before = new Map(earlier.views.map(({ path, total }) => [path, total]));
    const [{ path, total }] = [...now.views].sort((a, b) => b.total - a.total);
    const signed = new Intl.NumberFormat("en-US", { signDisplay: "exceptZero" });
    assert.equal(await cell(page, path, "change"), signed.format(total - (before.get(path) ?? 0)));
  });

  visiting("finds the largest rises and falls", async (visitor) => {
    const { page, project, signIn, openReport } = visitor;
    await signIn();
    await openReport(LAST_MONTH);
    const [now, earlier] = await Promise.all([-1, -2].map((at) => monthOf(site, project, at)));
    const before = new Map(earlier.views.map(({ path, total }) => [path, total]));
    const after = new Map(now.views.map(({ path, total }) => [path, total]));
    const paths = [...new Set([...before.keys(), ...after.keys()])];
    const changes = paths.map((path) => (after.get(path) ?? 0) - (before.get(path) ?? 0));
    const signed = new Intl.NumberFormat("en-US", { signDisplay: "exceptZero" });
    const first = () => page.locator("tbody .column-change").first().textContent();
    await show(page, /^Largest rises/);
    await page.getByRole("button", { name: "Show: Largest rises" }).waitFor();
    assert.equal(await first(), signed.format(Math.max(...changes)));
    await show(page, /^Largest falls/);
    await page.getByRole("button", { name: "Show: Largest falls" }).waitFor();
    assert.equal(await first(), signed.format(Math.min(...changes)));
  });

  visiting("is with the year before, or none, as the address says", async (visitor) => {
    const { page, signIn, openReport, untilLoaded } = visitor;
    await signIn();
    await openReport({ from: "2026-10-01", to: "2026-10-31" });
    await page.getByText("Compared with Sep 1 – 30, 2026").waitFor();
    await page.getByRole("button", { name: /^Compare/ }).click();
    await page.getByRole("button", { name: "Previous year" }).click();
    await page.getByText("Compared with Oct 1 – 31, 2025").waitFor();
    assert.match(page.url(), /compare=previous-year/);
    await untilLoaded();
    await page.keyboard.press("x");
    await page.getByRole("button", { name: "Compare: No comparison" }).waitFor();
    assert.equal(await page.getByRole("columnheader", { name: "Change" }).count(), 0);
  });
});

describe("the rows", () => {
  visiting("roll up into folders with sums", async (visitor) => {
    const { page, project, signIn, openReport } = visitor;
    await signIn();
    await openReport(ALONE);
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
    assert.equal(await row.locator(".column-total").textContent(), count(total));
    assert.equal(await toggle.getAttribute("aria-expanded"), "false");
    const closed = Number(await page.getByRole("table").getAttribute("aria-rowcount"));
    await toggle.focus();
    await page.keyboard.press("Enter");
    assert.equal(await toggle.getAttribute("aria-expanded"), "true");
    assert.ok(await toggle.evaluate((element) => element === document.activeElement));
    assert.ok(Number(await page.getByRole("table").getAttribute("aria-rowcount")) > closed);
    assert.deepEqual(await accessibilityFaults(page), []);
  });

  visiting("are filtered by a glob, with count and sum", async (visitor) => {
    const { page, project, signIn, openReport } = visitor;
    await signIn();
    await openReport(ALONE);
    const { views } = await monthOf(site, project);
    const [, folder] = views.find(({ path }) => /^\/[a-z]+\/./.test(path)).path.split("/");
    const inside = views.filter(({ path }) => path.toLowerCase().startsWith(`/${folder}/`));
    const sum = (column) => inside.reduce((all, row) => all + row[column], 0);
    await page.keyboard.press("/");
    await page.keyboard.type(`/${folder}/**`);
    const matches = page.getByRole("status").filter({ hasText: /match/ });
    await matches.getByText(`${count(inside.length)} page`).waitFor();
    const text = await matches.textContent();
    for (const column of ["total", "human", "ai"]) {
      assert.ok(text.includes(count(sum(column))), `${column}: ${sum(column)} in ${text}`);
    }
    assert.match(page.url(), /path=/);
  });

  visiting("answer who reads what, with an AI share", async (visitor) => {
    const { page, project, signIn, openReport } = visitor;
    await signIn();
    await openReport(ALONE);
    const { views } = await monthOf(site, project);
    const byAi = views.filter(({ ai, total }) => ai * 2 > total);
    await show(page, /^Read mostly by AI/);
    await page
      .getByText(`${count(byAi.length)} page`)
      .first()
      .waitFor();
    const [most] = [...byAi].sort((a, b) => b.ai - a.ai);
    const share = Math.round((most.ai / most.total) * 100);
    assert.equal(await page.locator("tbody .column-share").first().textContent(), `${share}%`);
    await show(page, /^Least read/);
    const least = Math.min(...views.map(({ total }) => total));
    await page.getByRole("button", { name: "Show: Least read" }).waitFor();
    assert.equal(await page.locator("tbody .column-total").first().textContent(), count(least));
  });

  visiting("name the pages of a sitemap that nobody read", async (visitor) => {
    const { page, project, record, signIn, openReport } = visitor;
    await signIn();
    await openReport(ALONE);
    const { views } = await monthOf(site, project);
    const known = views.find(({ path }) => /^\/[a-z-]+\/[a-z-]+$/.test(path)) ?? views[0];
    const urls = [known.path, "/never/read", "/nor/this"].map(
      (path) => `<url><loc>https://docs.example.com${path}</loc></url>`,
    );
    await show(page, /^Never read/);
    const dialog = page.getByRole("dialog", { name: "Which pages were never read?" });
    assert.deepEqual(await accessibilityFaults(page), []);
    await dialog.getByLabel("Sitemap file").setInputFiles({
      name: "sitemap.xml",
      mimeType: "application/xml",
      buffer: Buffer.from(`<urlset>${urls.join("")}</urlset>`),
    });
    await page.getByText("2 pages were never read.").waitFor();
    assert.deepEqual(await page.getByRole("rowheader").allTextContents(), [
      "/never/read",
      "/nor/this",
    ]);
    const link = page.getByRole("rowheader").first().getByRole("link");
    assert.equal(await link.getAttribute("href"), "https://docs.example.com/never/read");
    const { origin } = new URL(site.gateway.url);
    assert.ok(record.urls.every((url) => new URL(url).origin === origin || url === "about:blank"));
  });

  visiting("link to the site once its address is known", async (visitor) => {
    const { page, signIn, openReport } = visitor;
    await signIn();
    await openReport(ALONE);
    assert.equal(await page.getByRole("rowheader").getByRole("link").count(), 0);
    const button = page.getByRole("button", { name: "Link paths to your site" });
    await button.click();
    const dialog = page.getByRole("dialog", { name: "Link paths to your site" });
    await dialog.getByLabel(/Address of/).fill("javascript:alert(1)");
    await dialog.getByRole("button", { name: "Link paths" }).click();
    await dialog.getByRole("alert").getByText("must begin with https").waitFor();
    await dialog.getByLabel(/Address of/).fill("docs.example.com");
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Paths link to docs.example.com" }).waitFor();
    const hrefs = await page
      .getByRole("rowheader")
      .getByRole("link")
      .evaluateAll((links) => links.map(({ href, target, rel }) => [href, target, rel]));
    assert.ok(hrefs.length > 10);
    assert.ok(hrefs.every(([href]) => href.startsWith("https://docs.example.com/")));
    assert.ok(hrefs.every(([, target, rel]) => target === "_blank" && rel === "noreferrer"));
    assert.doesNotMatch(page.url(), /docs\.example/);
  });
});

describe("a period", () => {
  visiting("is a key away, and steps back and forth", async (visitor) => {
    const { page, signIn, openReport, untilLoaded } = visitor;
    await signIn();
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
    assert.equal(await later.getAttribute("aria-disabled"), "true");
    assert.ok(await later.evaluate((element) => element === document.activeElement));
  });
});

describe("every report", () => {
  for (const [route, label] of Object.entries(REPORTS)) {
    visiting(`has a route of its own: ${route}`, async (visitor) => {
      const { page, signIn, openReport } = visitor;
      await signIn();
      await openReport({ route, range: "last-28-days" });
      const table = page.getByRole("table", { name: label });
      await table.waitFor();
      assert.ok((await table.getByRole("rowheader").count()) > 0);
      assert.deepEqual(await accessibilityFaults(page), []);
    });
  }

  visiting("of feedback shows a comment in full", async (visitor) => {
    const { page, signIn, openReport } = visitor;
    await signIn();
    await openReport({ route: "feedback", range: "last-28-days" });
    const comment = page.locator("td.column-comment button").first();
    const text = await comment.textContent();
    await comment.click();
    const dialog = page.getByRole("dialog", { name: "Feedback" });
    await dialog.getByText(text, { exact: true }).waitFor();
    assert.deepEqual(await accessibilityFaults(page), []);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    assert.ok(await comment.evaluate((element) => element === document.activeElement));
  });

  for (const colorScheme of ["light", "dark"]) {
    const options = { colorScheme, viewport: { width: 360, height: 740 } };
    visiting(
      `fits 360 pixels in ${colorScheme} colours`,
      async ({ page, signIn, openReport }) => {
        await signIn();
        for (const route of Object.keys(REPORTS)) {
          await openReport({ route, range: "last-28-days" });
          assert.ok((await overflow(page)) <= 0, route);
          assert.deepEqual(await accessibilityFaults(page), [], route);
        }
        for (const menu of [/^Period/, /^Compare/, /^Show/, /^Export/]) {
          await openReport({ range: "last-28-days" });
          await page.getByRole("button", { name: menu }).click();
          assert.ok((await overflow(page)) <= 0, String(menu));
          const { x, width } = await page.locator(".menu-panel").boundingBox();
          assert.ok(x >= 0 && x + width <= 360, `${menu}: ${x} to ${x + width}`);
        }
      },
      options,
    );
  }

  visiting(
    "is told apart without colours of its own",
    async ({ page, signIn, openReport }) => {
      await signIn();
      await openReport(LAST_MONTH);
      await page.getByRole("button", { name: /^Period/ }).click();
      const chosen = page.getByRole("button", { name: "Last month", exact: true });
      const other = page.getByRole("button", { name: "Last 7 days" });
      const border = (locator) =>
        locator.evaluate((element) => getComputedStyle(element).borderTopColor);
      assert.notEqual(await border(chosen), await border(other));
      assert.deepEqual(await accessibilityFaults(page), []);
    },
    { forcedColors: "active" },
  );

  visiting("is used by keyboard alone", async (visitor) => {
    const { page, signIn, openReport, untilLoaded } = visitor;
    await signIn();
    await openReport(ALONE);
    const focused = () => page.evaluate(() => document.activeElement.textContent.trim());
    await page.getByRole("button", { name: /^Period/ }).focus();
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    assert.match(await focused(), /^Today/);
    await page.keyboard.press("Escape");
    assert.match(await focused(), /^Period/);
    assert.equal(await page.locator(".menu-panel").count(), 0);
    await page.keyboard.press("Enter");
    for (let presses = 0; !/^Last 7 days/.test(await focused()); presses++) {
      assert.ok(presses < 9, "the period is among the first");
      await page.keyboard.press("Tab");
    }
    await page.keyboard.press("Enter");
    assert.match(await focused(), /^Period: Last 7 days/);
    await untilLoaded();
    await page.getByRole("columnheader", { name: "AI", exact: true }).getByRole("button").focus();
    await page.keyboard.press("Enter");
    const sorted = page.getByRole("columnheader", { name: "AI", exact: true });
    assert.equal(await sorted.getAttribute("aria-sort"), "descending");
    assert.match(await focused(), /^AI/);
  });
});
