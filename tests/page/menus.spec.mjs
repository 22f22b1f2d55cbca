import assert from "node:assert/strict";
import { matrixOf, overflow } from "./browser.mjs";
import { expect, test } from "./fixtures.mjs";

const openPanel = (page) => page.locator(".menu-panel:popover-open");
const menuButton = (page, name) => page.getByRole("button", { name: new RegExp(`^${name}:`) });

test("a menu follows its button, and closes by it, a click or Tab", async ({ visitor }) => {
  const { page, startAtReport } = visitor;
  await startAtReport();
  const period = menuButton(page, "Period");
  await expect(period).toHaveAttribute("aria-expanded", "false");
  await period.click();
  await expect(period).toHaveAttribute("aria-expanded", "true");
  await period.click();
  await expect(openPanel(page)).toHaveCount(0);
  await expect(period).toHaveAttribute("aria-expanded", "false");
  await period.click();
  await openPanel(page).getByText("Days are in UTC.").waitFor();
  await menuButton(page, "Compare").click();
  await openPanel(page).getByRole("group", { name: "Compare with" }).waitFor();
  await expect(openPanel(page)).toHaveCount(1);
  await expect(period).toHaveAttribute("aria-expanded", "false");
  await page.getByRole("heading", { level: 1 }).click();
  await expect(openPanel(page)).toHaveCount(0);

  await menuButton(page, "Compare").press("Enter");
  const last = openPanel(page).getByRole("button").last();
  await last.focus();
  await page.keyboard.press("Tab");
  await expect(openPanel(page)).toHaveCount(0);
  await expect(menuButton(page, "Show")).toBeFocused();

  await menuButton(page, "Views").click();
  const distance = async () => {
    const panel = await openPanel(page).boundingBox();
    const button = await menuButton(page, "Views").boundingBox();
    return [
      Math.round(panel.x + panel.width - button.x - button.width),
      panel.y - button.y - button.height,
    ];
  };
  await expect.poll(distance).toEqual([0, 4]);
  await page.setViewportSize({ width: 1000, height: 300 });
  await expect.poll(distance).toEqual([0, 4]);
  await menuButton(page, "Period").click();
  await openPanel(page).getByRole("button", { name: "Apply" }).scrollIntoViewIfNeeded();
  await openPanel(page).getByRole("button", { name: "Apply" }).click();
  await expect(openPanel(page)).toHaveCount(0);
});

for (const [width, options] of matrixOf([320, 700])) {
  test(`menus of reports and jobs fit ${width} pixels`, options, async ({ visitor }) => {
    const { page, startAtReport } = visitor;
    await page.setViewportSize({ width, height: 800 });
    await startAtReport();
    await page.getByRole("button", { name: "Filter and options", exact: true }).click();
    for (const name of ["Period", "Show", "Views", "Export"]) {
      await menuButton(page, name).click();
      const box = () => openPanel(page).boundingBox();
      await expect.poll(async () => (await box()).x).toBe(16);
      assert.equal((await box()).width, width - 32, name);
      assert.ok((await overflow(page)) <= 0, name);
      await page.keyboard.press("Escape");
    }

    await page.getByRole("link", { name: "Agent jobs" }).click();
    for (const name of ["Account", "Status", "Started by"]) {
      await menuButton(page, name).click();
      const fits = async () => {
        const { x, width: panel } = await openPanel(page).boundingBox();
        return x >= 16 && x + panel <= width - 16;
      };
      await expect.poll(fits).toBe(true);
      assert.ok((await overflow(page)) <= 0, name);
      await page.keyboard.press("Escape");
    }
  });
}
