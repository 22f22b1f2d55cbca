/**
 * A site of 20,000 pages. The table keeps few rows in the document, and most changes of the view do
 * not sort again.
 */
import assert from "node:assert/strict";
import { expect } from "@playwright/test";
import { test } from "./fixtures.mjs";
import { loadRest } from "./reports.mjs";

test.use({ siteOptions: { upstream: { pages: 20_000 } } });

test("a table of 20,000 rows keeps fewer than 100 in the document", async ({
  visitor,
}, testInfo) => {
  const { page, startSession, openReport } = visitor;
  await startSession();
  await openReport({ range: "last-month", compare: "none" });
  await page.evaluate(() => {
    globalThis.longTasks = [];
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) globalThis.longTasks.push(duration);
    }).observe({ type: "longtask" });
  });
  await loadRest(page);
  const table = page.getByRole("table", { name: "Page views by path" });
  const rows = Number(await table.getAttribute("aria-rowcount"));
  assert.ok(rows > 15_000, `${rows} rows`);
  assert.ok((await page.getByRole("row").count()) < 100);

  const durations = await page.evaluate(async () => {
    const input = document.getElementById("filter");
    const heading = document.querySelector("th[data-column=ai] button");
    const rendered = () => new Promise((resolve) => setTimeout(resolve));
    const durations = { sort: [], search: [] };
    const measure = async (name, act) => {
      const before = performance.now();
      act();
      await rendered();
      durations[name].push(performance.now() - before);
    };
    for (let turn = 0; turn < 6; turn++) {
      await measure("sort", () => heading.click());
      await measure("search", () => {
        input.value = turn % 2 === 0 ? "guides" : "";
        input.dispatchEvent(new InputEvent("input", { bubbles: true }));
      });
    }
    return durations;
  });
  const median = (times) => [...times].sort((a, b) => a - b)[times.length >> 1].toFixed(1);
  const longest = Math.max(0, ...(await page.evaluate(() => globalThis.longTasks)));
  testInfo.annotations.push({
    type: "performance",
    description:
      `${rows - 1} rows: sort ${median(durations.sort)} ms, ` +
      `search ${median(durations.search)} ms, longest task ${longest.toFixed(0)} ms`,
  });
  await page.waitForURL(/sort=-?ai/);
  assert.equal(Number(await table.getAttribute("aria-rowcount")), rows);
  await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
  await page.locator(`tbody tr[aria-rowindex="${rows}"]`).waitFor();
  assert.ok((await page.getByRole("row").count()) < 100);
});

test("a jump into 20,000 rows stays at its place, and scrolling renders once in several rows", async ({
  visitor,
}) => {
  const { page, startSession, openReport } = visitor;
  await startSession();
  await openReport({ range: "last-month", compare: "none" });
  await loadRest(page);
  const middle = await page.evaluate(() => {
    const middle = Math.round(document.documentElement.scrollHeight / 2);
    scrollTo(0, middle);
    return middle;
  });
  const firstVisible = () =>
    page.evaluate(() => {
      const row = document.elementFromPoint(innerWidth / 2, innerHeight / 2)?.closest("tr");
      return Number(row?.ariaRowIndex ?? 0);
    });
  await expect.poll(firstVisible).toBeGreaterThan(1000);
  assert.equal(await page.evaluate(() => scrollY), middle);

  const renderings = await page.evaluate(async () => {
    const indexOf = () => document.querySelector("tbody tr[aria-rowindex]").ariaRowIndex;
    const height = document.querySelector("tbody tr[aria-rowindex]").offsetHeight;
    const seen = new Set([indexOf()]);
    for (let row = 0; row < 36; row++) {
      scrollBy(0, height);
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
      seen.add(indexOf());
    }
    return seen.size - 1;
  });
  assert.ok(renderings >= 1 && renderings <= 9, `${renderings} renderings of 36 rows`);
  assert.ok((await firstVisible()) > 1000, "the window shows rows, not a gap");
});
