import assert from "node:assert/strict";
import { expect } from "@playwright/test";
import { test } from "./fixtures.mjs";
import { untilSelected } from "./visitor.mjs";

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
  await untilSelected(page, "[section or all pages]");
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
