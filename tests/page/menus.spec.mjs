/** Menus: buttons that open a panel in the browser's top layer. */
import assert from "node:assert/strict";
import { expect } from "@playwright/test";
import { overflow, repeats } from "./browser.mjs";
import { test } from "./fixtures.mjs";
import { SMALL_SITE } from "./sites.mjs";
import { untilFocused } from "./visitor.mjs";

test.use({ siteOptions: SMALL_SITE });

const openPanel = (page) => page.locator(".menu-panel:popover-open");
const menuButton = (page, name) => page.getByRole("button", { name: new RegExp(`^${name}:`) });

test("a menu closes by its button, another one, a click or Tab, and follows its button", async ({
  visitor,
}) => {
  const { page, startSession, openReport } = visitor;
  await startSession();
  await openReport();
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

test("a menu of templates closes alone, survives a deletion and is not printed", async ({
  visitor,
}) => {
  const { page, signIn, openComposer } = visitor;
  await signIn();
  const box = await openComposer();
  await box.fill("Check all links");
  await page.getByRole("button", { name: "Templates" }).click();
  await openPanel(page).getByRole("button", { name: "Save this prompt as a template" }).click();
  await openPanel(page)
    .getByRole("button", { name: /^Delete/ })
    .click();
  await untilFocused(page, "Templates");
  assert.ok(await openPanel(page).isVisible());
  await page.emulateMedia({ media: "print" });
  await openPanel(page).waitFor({ state: "hidden" });
  await page.emulateMedia({ media: "screen" });

  await openPanel(page).getByRole("button", { name: "Add an example" }).focus();
  await page.keyboard.press("Escape");
  const button = page.getByRole("button", { name: "Templates" });
  await expect(button).toHaveAttribute("aria-expanded", "false");
  await expect(button).toBeFocused();
  assert.ok(await box.isVisible());
  await page.keyboard.press("Escape");
  await box.waitFor({ state: "detached" });
});

for (const width of [320, 700]) {
  test.describe(`${width} pixels`, repeats(width !== 320), () => {
    test.use({ viewport: { width, height: 800 } });

    test(`menus of reports and jobs fit ${width} pixels`, async ({ visitor }) => {
      const { page, startSession, openReport } = visitor;
      await startSession();
      await openReport();
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
        await expect
          .poll(async () => {
            const { x, width: panel } = await openPanel(page).boundingBox();
            return x >= 16 && x + panel <= width - 16;
          })
          .toBe(true);
        assert.ok((await overflow(page)) <= 0, name);
        await page.keyboard.press("Escape");
      }
    });
  });
}

test("a click on the words of a choice selects it and keeps the menu open", async ({ visitor }) => {
  const { page, signIn, startElsewhere } = visitor;
  await startElsewhere("Fix the typos");
  await signIn();
  await menuButton(page, "Status").click();
  const choice = openPanel(page).getByText("Failed", { exact: true });
  const { x, y, width, height } = await choice.boundingBox();
  await page.mouse.click(x + width - 5, y + height / 2);
  await expect(openPanel(page).getByRole("checkbox", { name: "Failed" })).toBeChecked();
});

test("a message is in front of an open menu", async ({ visitor }) => {
  const { page, startSession, openReport } = visitor;
  await page.setViewportSize({ width: 390, height: 420 });
  await startSession();
  await openReport();
  await page.getByRole("button", { name: "Filter and options" }).click();
  await menuButton(page, "Views").click();
  await page.getByLabel("Save this report as").fill("Read by AI");
  await page.keyboard.press("Enter");
  await menuButton(page, "Views").click();
  await openPanel(page)
    .getByRole("button", { name: /^Delete/ })
    .click();
  await page.evaluate(() => scrollTo(0, 0));
  const undo = await page.getByRole("button", { name: "Undo" }).boundingBox();
  const panel = await openPanel(page).boundingBox();
  assert.ok(panel.y + panel.height > undo.y + undo.height, "the panel reaches the message");
  await page.mouse.click(undo.x + undo.width / 2, undo.y + undo.height / 2);
  await page.getByRole("button", { name: "Undo" }).waitFor({ state: "detached" });
});
