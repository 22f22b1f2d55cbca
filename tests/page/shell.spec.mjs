import assert from "node:assert/strict";
import { accessibilityFaults, overflow } from "./browser.mjs";
import { expect, test } from "./fixtures.mjs";

const heading = (page, name) => page.getByRole("heading", { level: 1, name });

test("shortcuts open routes, but not in text boxes or when turned off", async ({ visitor }) => {
  const { page, signIn, openComposer } = visitor;
  await signIn();
  await page.keyboard.press("g");
  await page.keyboard.press("v");
  await heading(page, "Page views").waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("j");
  await heading(page, "Agent jobs").waitFor();

  const box = await openComposer();
  await box.pressSequentially("gvn?");
  await expect(box).toHaveValue("gvn?");
  await box.evaluate((element) => element.blur());
  await page.keyboard.press("g");
  await page.keyboard.press("Alt+v");
  assert.equal(await page.getByRole("dialog").count(), 0);
  await heading(page, "Agent jobs").waitFor();
  await page.getByRole("button", { name: "Close new job" }).click();
  // The focus returns in the next frame.
  await expect(page.getByRole("button", { name: "New job" })).toBeFocused();

  const link = page.getByRole("link", { name: "Page views" });
  await link.focus();
  await page.keyboard.press("?");
  const dialog = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  await dialog.getByRole("term").filter({ hasText: "Agent jobs" }).waitFor();
  const groups = await dialog.getByRole("heading", { level: 3 }).allTextContents();
  assert.deepEqual(groups, ["General", "Go to", "Agent jobs"]);
  await page.getByLabel("Enable keyboard shortcuts").uncheck();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await expect(link).toBeFocused();

  await page.reload();
  await heading(page, "Agent jobs").waitFor();
  await page.keyboard.press("?");
  await page.keyboard.press("g");
  await page.keyboard.press("v");
  await heading(page, "Agent jobs").waitFor();
  assert.equal(await page.getByRole("dialog").count(), 0);
});

test("a route that failed offline loads once the connection is stable", async ({ visitor }) => {
  const { page, signIn } = visitor;
  await signIn();
  await page.context().setOffline(true);
  await page.keyboard.press("g");
  await page.keyboard.press("v");
  await page.getByRole("alert").getByText("You’re offline").waitFor();
  // The first request after the connection returns fails.
  let requests = 0;
  await page.route(/\/assets\/.*\.js$/, (route) => {
    requests += 1;
    return requests === 1 ? route.abort("internetdisconnected") : route.continue();
  });
  await page.context().setOffline(false);
  await page.getByRole("button", { name: /^Period/ }).waitFor();
  assert.ok(requests > 1);
  assert.equal(await page.getByRole("alert").count(), 0);
});

test("a theme applies immediately and after a reload", async ({ visitor }) => {
  const { page, signIn } = visitor;
  await page.emulateMedia({ colorScheme: "light" });
  await signIn();
  const background = () =>
    page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const toolbarColor = () =>
    page.evaluate(() => {
      const colors = [...document.querySelectorAll("meta[name=theme-color]")];
      return colors.find(({ media }) => matchMedia(media).matches).content;
    });
  const [lightBar, darkBar] = ["#ffffff", "#1a2124"];
  assert.equal(await toolbarColor(), lightBar);
  const light = await background();
  await page.getByRole("button", { name: /^Account:/ }).click();
  await page.getByLabel("Dark").check();
  const dark = await background();
  assert.notEqual(dark, light);
  assert.equal(await toolbarColor(), darkBar);
  const ink = () => page.evaluate(() => getComputedStyle(document.body).color);
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme, media: "print" });
    assert.equal(await background(), "rgb(255, 255, 255)", colorScheme);
    assert.equal(await ink(), "rgb(28, 36, 38)", colorScheme);
  }
  await page.emulateMedia({ colorScheme: "light", media: "screen" });
  assert.deepEqual(await accessibilityFaults(page), []);
  await page.reload();
  await heading(page, "Agent jobs").waitFor();
  assert.equal(await background(), dark);
  await page.getByRole("button", { name: /^Account:/ }).click();
  await page.getByLabel("System").check();
  assert.equal(await background(), light);
  assert.equal(await toolbarColor(), lightBar);
  await page.getByLabel("Light").check();
  await page.emulateMedia({ colorScheme: "dark" });
  assert.deepEqual([await background(), await toolbarColor()], [light, lightBar]);
});

test("forced colours hide nothing in a wide and a narrow window", async ({ visitor }) => {
  const { site, page, signIn } = visitor;
  await page.emulateMedia({ forcedColors: "active" });
  await page.goto(site.url);
  await page.getByLabel("Access token").waitFor();
  assert.deepEqual(await accessibilityFaults(page), []);
  await signIn();
  for (const width of [1280, 360]) {
    await page.setViewportSize({ width, height: 720 });
    const underlines = await page
      .getByRole("navigation", { name: "Main" })
      .getByRole("link")
      .evaluateAll((links) => links.map((link) => getComputedStyle(link).borderBottomWidth));
    assert.deepEqual(underlines, ["0px", "3px", "0px", "0px", "0px", "0px"]);
    assert.deepEqual(await accessibilityFaults(page), []);
    assert.ok((await overflow(page)) <= 0);
  }
});
