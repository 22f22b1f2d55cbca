/**
 * The frame around every route: keyboard shortcuts, loading after an outage, themes, font sizes and
 * forced colours.
 */
import assert from "node:assert/strict";
import { accessibilityFaults, overflow } from "./browser.mjs";
import { test } from "./fixtures.mjs";

const heading = (page, name) => page.getByRole("heading", { level: 1, name });

test.describe("keyboard shortcuts", () => {
  test("shortcuts open routes", async ({ visitor }) => {
    const { page, signIn } = visitor;
    await signIn();
    await page.keyboard.press("g");
    await page.keyboard.press("v");
    await heading(page, "Page views").waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("j");
    await heading(page, "Agent jobs").waitFor();
  });

  test("shortcuts ignore text boxes and keys with Alt", async ({ visitor }) => {
    const { page, signIn, openComposer } = visitor;
    await signIn();
    const box = await openComposer();
    await box.pressSequentially("gvn?");
    assert.equal(await box.inputValue(), "gvn?");
    await box.evaluate((element) => element.blur());
    await page.keyboard.press("g");
    await page.keyboard.press("Alt+v");
    assert.equal(await page.getByRole("dialog").count(), 0);
    await heading(page, "Agent jobs").waitFor();
  });

  test("the list of shortcuts returns the focus when it closes", async ({ visitor }) => {
    const { page, signIn } = visitor;
    await signIn();
    const link = page.getByRole("link", { name: "Page views" });
    await link.focus();
    await page.keyboard.press("?");
    const dialog = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    await dialog.getByRole("term").filter({ hasText: "Agent jobs" }).waitFor();
    const groups = await dialog.getByRole("heading", { level: 3 }).allTextContents();
    assert.deepEqual(groups, ["General", "Go to", "Agent jobs"]);
    assert.deepEqual(await accessibilityFaults(page), []);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    assert.ok(await link.evaluate((element) => element === document.activeElement));
  });

  test("shortcuts stay off after a reload", async ({ visitor }) => {
    const { page, signIn } = visitor;
    await signIn();
    await page.getByRole("button", { name: /^Account:/ }).click();
    await page.getByRole("button", { name: "Keyboard shortcuts" }).click();
    await page.getByLabel("Enable keyboard shortcuts").uncheck();
    await page.getByRole("button", { name: "Close" }).click();
    await page.reload();
    await heading(page, "Agent jobs").waitFor();
    await page.keyboard.press("?");
    await page.keyboard.press("g");
    await page.keyboard.press("v");
    await heading(page, "Agent jobs").waitFor();
    assert.equal(await page.getByRole("dialog").count(), 0);
  });
});

/** Opens a route whose code cannot be loaded, because the browser is offline. */
async function openViewsOffline({ page, signIn }) {
  await signIn();
  await page.context().setOffline(true);
  await page.keyboard.press("g");
  await page.keyboard.press("v");
  await page.getByRole("alert").getByText("You’re offline").waitFor();
}

test("a route that could not load offline appears when the browser is back online", async ({
  visitor,
}) => {
  const { page } = visitor;
  await openViewsOffline(visitor);
  await page.context().setOffline(false);
  await page.getByRole("button", { name: /^Period/ }).waitFor();
  assert.equal(await page.getByRole("alert").count(), 0);
});

test("a route appears although the first request after the connection returns fails", async ({
  visitor,
}) => {
  const { page } = visitor;
  await openViewsOffline(visitor);
  let requests = 0;
  await page.route(/\/assets\/.*\.js$/, (route) => {
    requests += 1;
    return requests === 1 ? route.abort("internetdisconnected") : route.continue();
  });
  await page.context().setOffline(false);
  await page.getByRole("button", { name: /^Period/ }).waitFor();
  assert.ok(requests > 1);
});

test("a theme applies immediately and after a reload", async ({ visitor }) => {
  const { page, signIn } = visitor;
  await page.emulateMedia({ colorScheme: "light" });
  await signIn();
  const background = () =>
    page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const light = await background();
  await page.getByRole("button", { name: /^Account:/ }).click();
  await page.getByLabel("Dark").check();
  const dark = await background();
  assert.notEqual(dark, light);
  assert.deepEqual(await accessibilityFaults(page), []);
  await page.reload();
  await heading(page, "Agent jobs").waitFor();
  assert.equal(await background(), dark);
  await page.getByRole("button", { name: /^Account:/ }).click();
  await page.getByLabel("System").check();
  assert.equal(await background(), light);
});

test("an unknown path leads back to the page", async ({ visitor }) => {
  const { site, page } = visitor;
  const response = await page.goto(`${site.url}/some/path`);
  assert.equal(response.status(), 404);
  await heading(page, "Page not found").waitFor();
  assert.deepEqual(await accessibilityFaults(page), []);
  const looks = () =>
    page.evaluate(() => {
      const [root, link] = [document.documentElement, document.querySelector("main a")];
      return [getComputedStyle(root).backgroundColor, link && getComputedStyle(link).color];
    });
  const [background, color] = await looks();
  await page.getByRole("link", { name: "Go to Quillgate" }).click();
  await page.getByLabel("Access token").waitFor();
  assert.deepEqual([background, color], [(await looks())[0], "rgb(11, 101, 88)"]);
});

test("the root font has 16 pixels, hints 13 and table cells 14", async ({ visitor }) => {
  const { site, page, signIn } = visitor;
  await page.goto(site.url);
  await page.getByLabel("Access token").waitFor();
  const sizes = await page.evaluate(() => {
    const size = (element) => getComputedStyle(element).fontSize;
    return [document.documentElement, document.querySelector(".hint")].map(size);
  });
  assert.deepEqual(sizes, ["16px", "13px"]);
  await signIn();
  await page.getByRole("link", { name: "Page views" }).click();
  await page.getByRole("table").waitFor();
  const { cell, serif } = await page.evaluate(() => ({
    cell: getComputedStyle(document.querySelector("td")).fontSize,
    serif: [...document.querySelectorAll("main *")]
      .filter((element) => /Georgia/.test(getComputedStyle(element).fontFamily))
      .map((element) => element.className),
  }));
  assert.equal(cell, "14px");
  assert.deepEqual(serif, []);
});

test.describe("on a phone", () => {
  test.use({ viewport: { width: 360, height: 720 } });

  test("inputs are large enough that a phone does not zoom in", async ({ visitor }) => {
    const { site, page, signIn } = visitor;
    const smallInputs = () =>
      page.evaluate(() =>
        [...document.querySelectorAll("input, select, textarea")]
          .filter((input) => Number.parseFloat(getComputedStyle(input).fontSize) < 16)
          .map((input) => input.id || input.className),
      );
    await page.goto(site.url);
    await page.getByLabel("Access token").waitFor();
    assert.deepEqual(await smallInputs(), []);
    await signIn();
    assert.deepEqual(await smallInputs(), []);
    await page.getByRole("link", { name: "Page views" }).click();
    await page.getByRole("table").waitFor();
    assert.deepEqual(await smallInputs(), []);
  });
});

for (const width of [1280, 360]) {
  test.describe(`${width} pixels`, () => {
    test.use({ forcedColors: "active", viewport: { width, height: 720 } });

    test(`forced colours hide nothing at ${width} pixels`, async ({ visitor }) => {
      const { site, page, signIn } = visitor;
      await page.goto(site.url);
      await page.getByLabel("Access token").waitFor();
      assert.deepEqual(await accessibilityFaults(page), []);
      await signIn();
      const underlines = await page
        .getByRole("navigation", { name: "Main" })
        .getByRole("link")
        .evaluateAll((links) => links.map((link) => getComputedStyle(link).borderBottomWidth));
      assert.deepEqual(underlines, ["0px", "3px", "0px", "0px", "0px", "0px"]);
      assert.deepEqual(await accessibilityFaults(page), []);
      assert.ok((await overflow(page)) <= 0);
    });
  });
}
