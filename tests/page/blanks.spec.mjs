/** Blanks of prompts are fields, and the panel for a new job is a sheet on narrow windows. */
import assert from "node:assert/strict";
import { expect } from "@playwright/test";
import { accessibilityFaults } from "./browser.mjs";
import { test } from "./fixtures.mjs";
import { show } from "./reports.mjs";
import { SMALL_SITE } from "./sites.mjs";

test.use({ siteOptions: SMALL_SITE });

const MAY_READ_ALL = "jobs:create jobs:read analytics:read analytics:conversations";

/** Waits until the focused text box has a selection. */
const untilSelected = (page, text) =>
  page.waitForFunction((text) => {
    const { value, selectionStart, selectionEnd } = document.activeElement ?? {};
    return value?.slice(selectionStart, selectionEnd) === text;
  }, text);
const promptOf = (page) => page.getByLabel("Prompt", { exact: true });
const creations = async ({ upstream }) =>
  (await upstream.requests()).filter(
    ({ method, target }) => method === "POST" && /\/job$/.test(target),
  );

test("a job about a page opens with its blank selected, and typing replaces it", async ({
  visitor,
}) => {
  const { site, page, project, startSession } = visitor;
  await startSession();
  await page.goto(`${site.url}/?route=views&range=last-month&project=${project}&page=/quickstart`);
  await page.getByRole("button", { name: "Start a job about this page" }).click();
  await untilSelected(page, "[What should change, and why.]");
  await page.keyboard.type("Rewrite the intro.");
  await expect(promptOf(page)).toHaveValue(/\n\nRewrite the intro\.$/);
});

test("a job about a row opens with its blank selected", async ({ visitor }) => {
  const { page, token, startSession, openReport } = visitor;
  await startSession(token({ scope: MAY_READ_ALL }));
  for (const [route, blank] of [
    ["searches", "[path]"],
    ["feedback", "[What should change, and why.]"],
    ["conversations", "[path]"],
    ["views", "[What should change, and why.]"],
  ]) {
    await openReport({ range: "last-month", route });
    await page
      .getByRole("button", { name: /^Start a job about/ })
      .first()
      .click();
    await untilSelected(page, blank);
  }
});

test("a feedback entry starts a job from its dialog", async ({ visitor }) => {
  const { page, startSession, openReport } = visitor;
  await startSession();
  await openReport({ range: "last-month", route: "feedback" });
  const row = page
    .getByRole("row")
    .filter({ has: page.getByRole("button", { name: /^Start a job about/ }) })
    .filter({ has: page.locator("[data-column=comment] button") })
    .first();
  await row.locator("[data-column=comment] button").click();
  const dialog = page.getByRole("dialog", { name: "Feedback" });
  assert.deepEqual(await accessibilityFaults(page), []);
  await dialog.getByRole("button", { name: "Start a job" }).click();
  await untilSelected(page, "[What should change, and why.]");
  await expect(promptOf(page)).toHaveValue(/^Improve the page /);
});

test("Tab goes from blank to blank of a template, and then leaves the box", async ({ visitor }) => {
  const { page, signIn, openComposer } = visitor;
  await signIn();
  await openComposer();
  await page.getByRole("button", { name: "Templates" }).click();
  await page.getByRole("button", { name: "Document a new feature" }).click();
  await untilSelected(page, "[feature]");
  await page.getByText("Tab goes to the next blank.").waitFor();
  await page.keyboard.type("webhooks");
  for (const blank of ["[section]", "[page]"]) {
    await page.keyboard.press("Tab");
    await untilSelected(page, blank);
  }
  await page.keyboard.press("Shift+Tab");
  await untilSelected(page, "[section]");
  await page.keyboard.press("Tab");
  await untilSelected(page, "[page]");
  await page.keyboard.press("Tab");
  await page.waitForFunction(() => document.activeElement?.tagName !== "TEXTAREA");
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

test("a job from Lost people names the difference that its row shows", async ({ visitor }) => {
  const { page, startSession, openReport } = visitor;
  await startSession();
  await openReport({ range: "last-month", compare: "previous-period" });
  await show(page, /^Lost people/);
  await page.getByRole("columnheader", { name: "People change" }).waitFor();
  const row = page.locator("tbody tr").first();
  const change = await row.locator("[data-column=change]").textContent();
  await row.getByRole("rowheader").getByRole("link").click();
  await page.getByRole("button", { name: "Start a job about this page" }).click();
  await expect(promptOf(page)).toHaveValue(new RegExp(`, ${change} people vs `));
});

test.describe("on a phone", () => {
  test.use({ viewport: { width: 390, height: 844 } });

  test("the panel for a new job covers the list, and closes on navigation", async ({ visitor }) => {
    const { site, page, project, signIn, startElsewhere, rowOf, openComposer } = visitor;
    await startElsewhere("Listed");
    await signIn();
    await rowOf("Listed").waitFor();
    const box = await openComposer();
    await box.fill("Half a thought");
    await rowOf("Listed").waitFor({ state: "hidden" });
    assert.deepEqual(await accessibilityFaults(page), []);
    await page.getByRole("button", { name: "Close new job" }).click();
    await rowOf("Listed").waitFor();
    await openComposer();
    await page.getByRole("link", { name: "Page views" }).click();
    await page.goBack();
    await rowOf("Listed").waitFor();
    assert.equal(await box.count(), 0);
    await openComposer();
    await expect(box).toHaveValue("Half a thought");
    await page.goto(`${site.url}/?route=jobs&project=${project}`);
    await page.getByRole("button", { name: "Close new job" }).click();
    await rowOf("Listed").getByRole("link").click();
    await page.getByRole("article").getByText("Details").waitFor();
    assert.equal(await box.count(), 0);
  });
});
