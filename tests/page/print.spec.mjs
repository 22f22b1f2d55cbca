import assert from "node:assert/strict";
import { test } from "./fixtures.mjs";

test.use({ projectKind: "archived" });

/** The width of an A4 page between Chromium's margins, in CSS pixels. */
const PAPER_WIDTH = 718;

test("the printed chart fits the paper, and its key keeps its colours", async ({ visitor }) => {
  const { site, page, startAtReport } = visitor;
  await site.gateway.runCron();
  // Browsers call no observers while they lay out paper.
  await page.addInitScript(() => {
    globalThis.ResizeObserver = class {
      observe() {}
      unobserve() {}
      disconnect() {}
    };
  });
  await page.setViewportSize({ width: 1440, height: 900 });
  await startAtReport();
  const chart = page.getByRole("img", { name: /^Views per day/ });
  await chart.waitFor();
  await page.emulateMedia({ media: "print" });
  await page.setViewportSize({ width: PAPER_WIDTH, height: 900 });
  const [paper, { x, width }] = [page.viewportSize(), await chart.boundingBox()];
  assert.ok(x + width <= paper.width, `${x + width} of ${paper.width} pixels`);
  const adjustments = await page
    .locator("figure figcaption span", { hasText: /^(People|AI)$/ })
    .evaluateAll((keys) => keys.map((key) => getComputedStyle(key, "::before").printColorAdjust));
  assert.deepEqual(adjustments, ["exact", "exact"]);
});
