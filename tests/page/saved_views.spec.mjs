import assert from "node:assert/strict";
import { checkBothSchemes, matrixOf } from "./browser.mjs";
import { expect, test } from "./fixtures.mjs";
import { show } from "./reports.mjs";
import { EMPTY_PROJECT } from "./sites.mjs";
import { untilFocused } from "./visitor.mjs";

const NAME = "Read by AI";
const ARRANGED = { range: "last-7-days", compare: "none", sort: "-ai", path: "/guides" };

test("a saved view opens after a reload, and can be renamed and deleted", async ({ visitor }) => {
  const { page, startAtReport, openReport, untilLoaded } = visitor;
  await startAtReport(ARRANGED);
  await show(page, /^Mostly AI/);
  const saved = await queryOf(page);
  await saveView(page, NAME);
  await page.getByText(`View saved: ${NAME}`).first().waitFor();
  await untilFocused(page, "Views:  Saved views");

  await page.reload();
  await openReport({ route: "searches", range: "last-month" });
  const panel = await openMenu(page);
  await panel.getByText("Page views · Last 7 days").waitFor();
  await panel.getByRole("button", { name: new RegExp(`^${NAME}`), pressed: false }).click();
  await untilLoaded();
  assert.deepEqual(await queryOf(page), saved);
  await page.getByRole("button", { name: "Period: Last 7 days" }).waitFor();
  await page.getByRole("button", { name: "Show: Mostly AI" }).waitFor();

  await openMenu(page);
  await panel.getByRole("button", { name: new RegExp(`^${NAME}`), pressed: true }).waitFor();
  await panel.getByRole("button", { name: `Rename ${NAME}` }).click();
  const input = panel.getByLabel("New name");
  await expect(input).toHaveValue(NAME);
  await page.keyboard.type("Weekly AI");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.activeElement?.textContent.startsWith("Weekly AI"));
  await expect(panel.getByRole("listitem")).toHaveCount(1);

  await panel.getByRole("button", { name: "Delete Weekly AI" }).click();
  await panel.getByText(/^Save this report with its period/).waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.reload();
  await openMenu(page);
  await panel.getByRole("button", { name: /^Weekly AI/ }).waitFor();
  await panel.getByRole("button", { name: "Delete Weekly AI" }).click();
  await page.reload();
  await openMenu(page);
  await panel.getByText(/^Save this report with its period/).waitFor();
});

test("a message stays beside a dialog, and its Undo until another project is opened", async ({
  visitor,
}) => {
  const { page, project, token, signIn, openReport } = visitor;
  await signIn(token({ projects: [project, EMPTY_PROJECT] }));
  await openReport(ARRANGED);
  await saveView(page, NAME);
  const panel = await openMenu(page);
  await panel.getByRole("button", { name: `Delete ${NAME}` }).click();
  const undo = page.getByRole("button", { name: "Undo" });
  await undo.waitFor();
  await page.keyboard.press("Escape");
  const { x, y, width, height } = await undo.boundingBox();
  await page.getByRole("button", { name: "Set site URL" }).click();
  const input = page.getByRole("dialog", { name: "Set site URL" }).getByRole("textbox");
  await input.fill("https://docs.example.com");
  await page.mouse.click(x + width / 2, y + height / 2);
  await expect(input).toHaveValue("https://docs.example.com");
  await page.keyboard.press("Escape");
  await undo.waitFor();
  await page.getByLabel("Project", { exact: true }).selectOption(EMPTY_PROJECT);
  await page.waitForURL(/project=empty-docs/);
  await expect(undo).toHaveCount(0, { timeout: 5000 });
});

for (const [width, options] of matrixOf([320, 720, 1440])) {
  test(`menus of saved views fit ${width} pixels in both schemes`, options, async ({ visitor }) => {
    const { page, startAtReport } = visitor;
    await page.setViewportSize({ width, height: 844 });
    await startAtReport({ ...ARRANGED, route: "feedback" });
    const options = page.getByRole("button", { name: /^Filter and options/ });
    if (width < 640) await options.click();
    await saveView(page, NAME);
    await saveView(page, "W".repeat(60));
    const panel = await openMenu(page);
    await panel.getByRole("button", { name: `Rename ${NAME}` }).click();
    await checkBothSchemes(page, "the menu of saved views");
    const { x, width: panelWidth } = await page.locator(".menu-panel:popover-open").boundingBox();
    assert.ok(x >= 0 && x + panelWidth <= width, `${x} to ${x + panelWidth}`);
  });
}

/** Opens the menu unless it is open. Returns its panel. */
async function openMenu(page) {
  const panel = page.locator(".views_panel-panel");
  if (!(await panel.isVisible())) {
    await page.getByRole("button", { name: /^Views:/ }).click();
    await panel.waitFor();
  }
  return panel;
}

async function saveView(page, name) {
  const panel = await openMenu(page);
  await panel.getByLabel("Save this report as").fill(name);
  await page.keyboard.press("Enter");
}

function queryOf(page) {
  return page.evaluate(() => Object.fromEntries(new URLSearchParams(location.search)));
}
