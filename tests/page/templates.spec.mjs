/** Templates and drafts: their storage in this browser, deletion and undo, and full storage. */
import assert from "node:assert/strict";
import { expect } from "@playwright/test";
import { test } from "./fixtures.mjs";
import { submitToken } from "./visitor.mjs";

test("a template replaces the prompt, and saved ones stay until signing out", async ({
  visitor,
}) => {
  const { page, signIn, openComposer } = visitor;
  await signIn();
  const box = await openComposer();
  await box.fill("Half a thought");
  const menu = page.getByText("Templates", { exact: true });
  await menu.click();
  await page.getByRole("button", { name: "Fix typos and broken links" }).click();
  await page.waitForFunction(() => {
    const { value, selectionStart, selectionEnd } = document.activeElement ?? {};
    return value?.slice(selectionStart, selectionEnd) === "[section or all pages]";
  });
  await page.keyboard.type("the guides");
  await expect(box).toHaveValue(/anchors in the guides\./);
  await menu.click();
  await page.getByRole("button", { name: "Save this prompt as a template" }).click();
  await page.reload();
  await openComposer();
  await menu.click();
  const own = page.getByRole("list", { name: "Your templates" });
  await own.getByRole("button", { name: /^Fix typos, broken links/ }).click();
  await expect(box).toHaveValue(/anchors in the guides\./);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("button", { name: "Sign out and delete 2 drafts and 1 template" }).click();
  await page.getByLabel("Access token").waitFor();
  await signIn();
  await openComposer();
  await expect(box).toHaveValue("");
  await menu.click();
  await page.getByRole("list", { name: "Built-in templates" }).waitFor();
  assert.equal(await own.count(), 0);
});

test("a draft and a template that storage refuses are not called saved", async ({ visitor }) => {
  const { page, token, followBrowserClock, signIn, openComposer } = visitor;
  await followBrowserClock();
  await page.clock.install();
  await signIn(token({ exp: Math.floor(Date.now() / 1000) + 600 }));
  const box = await openComposer();
  await page.getByText("Drafts are saved in this browser until you sign out.").waitFor();
  await page.evaluate(() => {
    Storage.prototype.setItem = () => {
      throw new DOMException("full", "QuotaExceededError");
    };
  });
  await box.fill("Half a thought");
  await page.getByText("Your browser couldn’t save this draft.").waitFor();
  assert.equal(await page.getByText("Drafts are saved in this browser").count(), 0);
  await page.getByText("Templates", { exact: true }).click();
  await page.getByRole("button", { name: "Save this prompt as a template" }).click();
  await page.getByText("Your browser couldn’t store this template.").first().waitFor();
  await page.clock.runFor(601_000);
  await page.getByText("Your browser couldn’t save 1 draft. Keep this tab open.").first().waitFor();
  await submitToken(page, token());
  await (await openComposer()).waitFor();
  await expect(box).toHaveValue("Half a thought");
});

test("undoing the deletion of a template keeps templates saved since", async ({ visitor }) => {
  const { page, signIn, openComposer } = visitor;
  await signIn();
  const box = await openComposer();
  const menu = page.getByText("Templates", { exact: true });
  const own = page.getByRole("list", { name: "Your templates" });
  const save = async (text) => {
    await box.fill(text);
    await menu.click();
    await page.getByRole("button", { name: "Save this prompt as a template" }).click();
    await own.getByRole("button", { name: text, exact: true }).waitFor();
  };
  await save("Alpha");
  await own.getByRole("button", { name: "Delete the template Alpha" }).click();
  await page.keyboard.press("Escape");
  await save("Beta");
  await page.getByRole("button", { name: "Undo" }).click();
  if (!(await own.isVisible())) await menu.click();
  await own.getByRole("button", { name: "Alpha", exact: true }).waitFor();
  await own.getByRole("button", { name: "Beta", exact: true }).waitFor();
});
