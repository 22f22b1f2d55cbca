import assert from "node:assert/strict";
import { accessibilityFaults } from "./browser.mjs";
import { expect, test } from "./fixtures.mjs";
import { EMPTY_PROJECT } from "./sites.mjs";
import { untilHandled, untilSelected } from "./visitor.mjs";
import { createGate } from "./waiting.mjs";

const promptOf = (page) => page.getByLabel("Prompt", { exact: true });
const creations = async ({ upstream }) =>
  (await upstream.requests()).filter(
    ({ method, target }) => method === "POST" && /\/job$/.test(target),
  );

test("a job about a page opens with its blank selected for typing", async ({ visitor }) => {
  const { site, page, project, startSession } = visitor;
  await startSession();
  await page.goto(`${site.url}/?route=views&range=last-month&project=${project}&page=/quickstart`);
  await page.getByRole("button", { name: "Start a job about this page" }).click();
  await untilSelected(page, "[What should change, and why.]");
  await page.keyboard.type("Rewrite the intro.");
  await expect(promptOf(page)).toHaveValue(/\n\nRewrite the intro\.$/);
});

test("a job about a page does not open after another project was opened", async ({ visitor }) => {
  const { site, page, project, token, startSession } = visitor;
  await startSession(token({ projects: [project, EMPTY_PROJECT] }));
  await page.goto(`${site.url}/?route=views&range=last-month&project=${project}&page=/quickstart`);
  const gate = createGate();
  const code = /\/assets\/open_composer-[^/]+\.js$/;
  await page.route(code, (route) => gate.opened.then(() => route.continue()));
  const requested = page.waitForRequest(code);
  await page.getByRole("button", { name: "Start a job about this page" }).click();
  await requested;
  await page.getByLabel("Project", { exact: true }).selectOption(EMPTY_PROJECT);
  await page.waitForURL(new RegExp(`project=${EMPTY_PROJECT}`));
  const loaded = page.waitForResponse(code);
  gate.open();
  await untilHandled(page, loaded);
  await expect(page).toHaveURL(/route=views/);
});

test("a prompt with a blank is sent only after a confirmation", async ({ visitor }) => {
  const { site, page, signIn, openComposer } = visitor;
  await signIn();
  const box = await openComposer();
  await box.fill("Update [page].");
  const alert = page.getByRole("alert").filter({ hasText: "Fill in the blank [page] first." });
  await page.keyboard.press("Control+Enter");
  await alert.waitFor();
  await untilSelected(page, "[page]");
  await page.keyboard.press("Control+Enter");
  await page.getByRole("button", { name: "Start job", exact: true }).click();
  await alert.waitFor();
  assert.deepEqual(await accessibilityFaults(page), []);
  assert.equal((await creations(site)).length, 0);
  await page.keyboard.type("/start");
  await alert.waitFor({ state: "detached" });
  await expect(box).toHaveValue("Update /start.");
  await box.fill("Update [page].");
  await page.keyboard.press("Control+Enter");
  await alert.getByRole("button", { name: "Start job anyway" }).click();
  await page.getByRole("article", { name: "Update [page]." }).waitFor();
  assert.equal((await creations(site)).length, 1);
});

test("a template replaces the prompt, and stays until signing out", async ({ visitor }) => {
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
