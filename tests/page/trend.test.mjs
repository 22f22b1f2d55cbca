/** The daily trend, from a gateway that keeps an archive and from one that does not. */
import assert from "node:assert/strict";
import { describe } from "node:test";
import { accessibilityFaults, overflow } from "./browser.mjs";
import { startSite } from "./site.mjs";

const DAY_MS = 86_400_000;
const ARCHIVED = ["docs-0", "docs-1", "docs-2"];
const site = startSite({
  archive: true,
  upstream: { pages: 300, varyingDays: true },
  vars: { ARCHIVE_PROJECTS: ARCHIVED.join(",") },
});
const { visiting } = site;
const daysAgo = (count) => new Date(Date.now() - count * DAY_MS).toISOString().slice(0, 10);
const WEEK = { range: "last-7-days", compare: "none" };
const medium = new Intl.DateTimeFormat("en-US", { dateStyle: "medium", timeZone: "UTC" });

describe("the daily trend", () => {
  visiting("is drawn with people and AI, and says which days are missing", async (visitor) => {
    const { page, project, signIn, openReport } = visitor;
    assert.ok(ARCHIVED.includes(project));
    // As the cron trigger does: it keeps yesterday, and no day before.
    await site.gateway.runCron();
    const range = { projectId: project, dateFrom: daysAgo(1), dateTo: daysAgo(0) };
    const { totals } = await site.upstream.views(range);
    await signIn();
    await openReport(WEEK);
    const chart = page.getByRole("img", { name: /^Views per day/ });
    await chart.waitFor();
    const label = await chart.getAttribute("aria-label");
    assert.match(label, /5 days missing/);
    assert.ok(label.includes(`People ${totals.human.toLocaleString("en-US")}`), label);
    assert.equal(await chart.locator(".trend-missing").count(), 5);
    assert.equal(await chart.locator(".trend-human").count(), 1);
    await page.getByText("5 days missing from the archive").waitFor();

    await page.getByText("Show as a table").click();
    const table = page.getByRole("table", { name: "Views per day" });
    const day = medium.format(Date.parse(daysAgo(1)));
    const row = table.getByRole("row").filter({ has: page.getByRole("rowheader", { name: day }) });
    assert.deepEqual(
      await row.getByRole("cell").allTextContents(),
      [totals.human, totals.ai, totals.human + totals.ai].map((n) => n.toLocaleString("en-US")),
    );
    assert.equal(await table.getByText("Missing").count(), 5);
    assert.deepEqual(await accessibilityFaults(page), []);
  });

  visiting(
    "fits a phone and works without colours of its own",
    async ({ page, signIn, openReport }) => {
      await signIn();
      await openReport(WEEK);
      const chart = page.getByRole("img", { name: /^Views per day/ });
      await chart.waitFor();
      assert.ok((await overflow(page)) <= 0);
      const fills = await chart.evaluate((svg) =>
        [".trend-human", ".trend-ai"].map((part) => getComputedStyle(svg.querySelector(part)).fill),
      );
      assert.notEqual(fills[0], fills[1]);
    },
    { forcedColors: "active", viewport: { width: 360, height: 740 } },
  );

  visiting("follows a folder that is looked at", async ({ page, signIn, openReport }) => {
    await signIn();
    await openReport({ ...WEEK, path: "/guides/" });
    await page.getByRole("heading", { name: "Views per day below /guides/" }).waitFor();
  });

  visiting(
    "is not shown without an archive, which the page says how to turn on",
    async (visitor) => {
      const { page, project, signIn, openReport, record } = visitor;
      assert.ok(!ARCHIVED.includes(project));
      await signIn();
      await openReport(WEEK);
      const asked = () => record.urls.filter((url) => url.includes("/views/daily"));
      // The session says that there is none: a 501 would stand among the browser's errors.
      assert.deepEqual(asked(), []);
      await page.getByText("Daily trend is off. How to turn it on").click();
      await page.getByText("ARCHIVE_PROJECTS", { exact: true }).waitFor();
      await page.getByText(/^The gateway says: /).waitFor();
      assert.equal(asked().length, 1);
      assert.equal(await page.getByRole("img").count(), 0);
      assert.deepEqual(await accessibilityFaults(page), []);
    },
  );
});
