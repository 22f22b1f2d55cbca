import assert from "node:assert/strict";
import { matrixOf, untilDrawn } from "./browser.mjs";
import { expect, test } from "./fixtures.mjs";
import { TALL_SITE } from "./sites.mjs";

const LAST_MONTH = { range: "last-month", compare: "previous-period" };
const MIN_FIRST_COLUMN = 140;
const REPORTS = {
  views: { route: "views" },
  visitors: { route: "visitors" },
  searches: { route: "searches" },
  feedback: { route: "feedback" },
  "feedback by page": { route: "feedback", show: "by-page" },
  conversations: { route: "conversations" },
  "lost people": { route: "views", show: "people-falls" },
};
const ALL_REPORTS = "jobs:create analytics:read analytics:conversations";

async function countRows(page) {
  return Number(await page.locator(".report_table-table").getAttribute("aria-rowcount")) - 1;
}

test.describe("tall site", () => {
  test.use({ siteOptions: TALL_SITE });

  for (const [name, options] of matrixOf(Object.keys(REPORTS))) {
    test(`first column of "${name}" has 140+ pixels at any width`, options, async ({ visitor }) => {
      const { page, token, startSession, openReport } = visitor;
      await startSession(token({ scope: ALL_REPORTS }));
      // Shows few rows, because the browser lays them out at every width.
      await openReport({
        ...LAST_MONTH,
        ...REPORTS[name],
        path: name === "feedback by page" ? "" : "10",
      });
      const faults = [];
      for (let width = 320; width <= 1440; width += 40) {
        await page.setViewportSize({ width, height: 800 });
        const { first, table, room, overflow } = await page.evaluate(() => {
          const { scrollWidth, clientWidth } = document.documentElement;
          const table = document.querySelector(".report_table-table");
          return {
            first: table.querySelector("thead th").getBoundingClientRect().width,
            table: table.scrollWidth,
            room: table.parentElement.clientWidth,
            overflow: scrollWidth - clientWidth,
          };
        });
        const isFaulty = first < MIN_FIRST_COLUMN || table > room || overflow > 0;
        if (isFaulty) faults.push({ width, first, table, room, overflow });
      }
      assert.deepEqual(faults, []);
    });
  }

  // These reports differ in their columns.
  for (const [name, options] of matrixOf(["views", "feedback", "conversations"])) {
    test(`"${name}" prints its rows on at most rows/30 + 2 pages`, options, async ({ visitor }) => {
      const { page, token, startAtReport } = visitor;
      await startAtReport({ ...LAST_MONTH, ...REPORTS[name] }, token({ scope: ALL_REPORTS }));
      const rowCount = await countRows(page);
      await page.evaluate(() => {
        addEventListener("afterprint", () => {
          globalThis.hasPrinted = true;
        });
      });
      const pdf = await page.pdf({ format: "A4" });
      assert.ok(await page.evaluate(() => globalThis.hasPrinted), "the browser has printed");
      const pages = pdf.toString("latin1").match(/\/Type\s*\/Page\b(?!s)/g).length;
      const printed = Math.min(rowCount, 500);
      assert.ok(pages <= printed / 30 + 2, `${pages} pages for ${printed} rows`);
      assert.ok(pages >= printed / 60, `${pages} pages for ${printed} rows`);
    });
  }

  test("printing hides controls and counts the omitted rows", async ({ visitor }) => {
    const { page, startAtReport } = visitor;
    await startAtReport(LAST_MONTH);
    const rowCount = await countRows(page);
    await page.emulateMedia({ media: "print" });
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    await page.getByText(`and ${rowCount - 500} more`).waitFor();
    await expect(page.locator(".report_table-table tbody tr[aria-rowindex]")).toHaveCount(500);
    for (const hidden of [".toolbar", "header", "#answer-bar", "#refresh"]) {
      assert.ok(await page.locator(hidden).first().isHidden(), hidden);
    }
    await page.emulateMedia({ media: "screen" });
    await page.evaluate(() => dispatchEvent(new Event("afterprint")));
    await page.getByText(`and ${rowCount - 500} more`).waitFor({ state: "hidden" });
  });

  test("all of up to 1,000 rows are in document and accessibility tree", async ({ visitor }) => {
    const { page, startAtReport } = visitor;
    await startAtReport(LAST_MONTH);
    const rowCount = await countRows(page);
    assert.ok(rowCount > 500 && rowCount <= 1000, `${rowCount} rows`);
    await untilDrawn(page);
    await page.getByRole("columnheader", { name: "People" }).getByRole("button").click();
    await untilDrawn(page);
    const client = await page.context().newCDPSession(page);
    const { nodes } = await client.send("Accessibility.getFullAXTree");
    const roles = nodes.filter(({ ignored }) => !ignored).map(({ role }) => role?.value);
    const countOf = (role) => roles.filter((one) => one === role).length;
    assert.equal(countOf("row"), rowCount + 1);
    assert.equal(countOf("rowheader"), rowCount);
    assert.equal(countOf("columnheader"), 6);
    assert.ok(countOf("cell") + countOf("gridcell") >= rowCount * 5);
  });
});

for (const [width, options] of matrixOf([390, 768])) {
  test(
    `the navigation has one line at ${width} pixels, with the current route in sight`,
    options,
    async ({ visitor }) => {
      const { page, token, startAtReport } = visitor;
      await page.setViewportSize({ width, height: 844 });
      await startAtReport({ ...LAST_MONTH, route: "conversations" }, token({ scope: ALL_REPORTS }));
      const links = page.getByRole("navigation", { name: "Main" }).getByRole("link");
      const boxes = await links.evaluateAll((all) =>
        all.map((link) => {
          const { top, left, right } = link.getBoundingClientRect();
          return { top, left, right };
        }),
      );
      assert.equal(new Set(boxes.map(({ top }) => top)).size, 1, JSON.stringify(boxes));
      const { left, right } = boxes.at(-1);
      assert.ok(left >= 0 && right <= width, JSON.stringify(boxes.at(-1)));
      const masthead = await page.getByRole("banner").boundingBox();
      assert.ok(masthead.height <= (width === 390 ? 112 : 64), `${masthead.height} pixels`);
    },
  );
}
