import assert from "node:assert/strict";
import { expect, test } from "./fixtures.mjs";
import { loadRest } from "./reports.mjs";

test.use({ siteOptions: { upstream: { pages: 20_000 } } });

test("a table of 20,000 rows keeps fewer than 100 in the document", async ({ visitor }) => {
  const { page, startAtReport } = visitor;
  await startAtReport({ range: "last-month", compare: "none" });
  await loadRest(page);
  const table = page.getByRole("table", { name: "Page views by path" });
  const rows = Number(await table.getAttribute("aria-rowcount"));
  assert.ok(rows > 15_000, `${rows} rows`);
  assert.ok((await page.getByRole("row").count()) < 100);

  await page.locator("#filter").fill("guides");
  await expect(table).not.toHaveAttribute("aria-rowcount", `${rows}`);
  assert.ok((await page.getByRole("row").count()) < 100);
  await page.locator("#filter").fill("");
  await expect(table).toHaveAttribute("aria-rowcount", `${rows}`);

  await page.locator("th[data-column=ai] button").click();
  await page.waitForURL(/sort=-?ai/);
  assert.equal(Number(await table.getAttribute("aria-rowcount")), rows);
  await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
  await page.locator(`tbody tr[aria-rowindex="${rows}"]`).waitFor();
  assert.ok((await page.getByRole("row").count()) < 100);
});

test("a jump into 20,000 rows stays, and scrolling renders every few rows", async ({ visitor }) => {
  const { page, startAtReport } = visitor;
  await startAtReport({ range: "last-month", compare: "none" });
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
