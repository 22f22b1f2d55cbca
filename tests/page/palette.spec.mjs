import assert from "node:assert/strict";
import { accessibilityFaults } from "./browser.mjs";
import { expect, test } from "./fixtures.mjs";

const open = async (page) => {
  await page.keyboard.press("Control+k");
  const dialog = page.getByRole("dialog", { name: "Command palette" });
  await dialog.waitFor();
  return dialog;
};

test("the palette opens a job, a report and a period on a phone", async ({ visitor }) => {
  const { page, signIn, startElsewhere, rowOf } = visitor;
  await page.setViewportSize({ width: 360, height: 720 });
  await startElsewhere("Fix the typos", "zoë");
  await signIn();
  await rowOf("Fix the typos").waitFor();
  const dialog = await open(page);
  assert.deepEqual(await accessibilityFaults(page), []);
  await page.keyboard.type("typos");
  await dialog.getByRole("option", { name: "Fix the typos · Working", selected: true }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("article", { name: "Fix the typos" }).waitFor();

  await open(page);
  await page.keyboard.type("page views");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Page views" }).waitFor();
  await page.getByRole("button", { name: /^Period/ }).waitFor();

  await open(page);
  await page.keyboard.type("last month");
  await page.keyboard.press("Enter");
  await page.waitForURL(/range=last-month/);

  await open(page);
  await page.keyboard.type("lost");
  await dialog.getByRole("option", { name: "Lost people", selected: true }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL(/show=people-falls/);
});

test("arrow keys choose a command, and the search stays in place", async ({ visitor }) => {
  const { page, signIn } = visitor;
  await page.emulateMedia({ reducedMotion: "reduce" });
  await signIn();
  await page.getByText("No jobs yet").waitFor();
  const dialog = await open(page);
  await page.keyboard.type("go to");
  const options = dialog.getByRole("option");
  await options.nth(1).waitFor();
  await page.keyboard.press("ArrowDown");
  await expect(options.nth(1)).toHaveAttribute("aria-selected", "true");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowUp");
  const last = options.last();
  await expect(last).toHaveAttribute("aria-selected", "true");
  const input = dialog.getByRole("combobox");
  await expect(input).toHaveAttribute("aria-activedescendant", await last.getAttribute("id"));

  await page.setViewportSize({ width: 1280, height: 480 });
  await input.fill("");
  await expect(options.first()).toBeInViewport();
  await page.keyboard.press("ArrowUp");
  await expect(last).toHaveAttribute("aria-selected", "true");
  await expect(last).toBeInViewport({ ratio: 0.9 });
  await expect(options.first()).not.toBeInViewport();
  await page.keyboard.press("ArrowDown");
  await expect(options.first()).toBeInViewport({ ratio: 0.9 });
  await page.keyboard.press("ArrowUp");
  await input.fill("e");
  await expect(options.first()).toBeInViewport({ ratio: 0.9 });

  const { y } = await input.boundingBox();
  await input.fill("visitors");
  await expect(options).toHaveCount(1);
  assert.equal((await input.boundingBox()).y, y);
});
