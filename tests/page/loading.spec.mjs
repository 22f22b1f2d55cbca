/** Parts of the page with code that cannot be loaded: without a network, or after a new version. */
import assert from "node:assert/strict";
import { expect } from "@playwright/test";
import { test } from "./fixtures.mjs";
import { SMALL_SITE } from "./sites.mjs";

test.use({ siteOptions: SMALL_SITE });

/** Removes a file of the page, as a new version does. Returns a function that restores it. */
async function removeCode(page, name) {
  const pattern = new RegExp(`/assets/${name}-[^/]+\\.js$`);
  await page.route(pattern, (route) => route.fulfill({ status: 404, body: "" }));
  return () => page.unroute(pattern);
}

test("the masthead appears before the scripts, and stays in place", async ({ visitor }) => {
  const { page, site } = visitor;
  const scripts = /\/assets\/.*\.js$/;
  await page.route(scripts, (route) => route.abort());
  await page.goto(site.url);
  const places = () =>
    page.locator("header, header svg, header span").evaluateAll((parts) =>
      parts.map((part) => {
        const { x, y, width, height } = part.getBoundingClientRect();
        return [part.textContent.trim(), x, y, width, height];
      }),
    );
  const before = await places();
  assert.equal(before[0][0], "Quillgate");
  await page.unroute(scripts);
  await page.reload();
  await page.getByLabel("Access token").waitFor();
  assert.deepEqual(await places(), before);
});

test("a page without its code shows a notice and offers to reload", async ({ visitor }) => {
  const { page, site } = visitor;
  const restore = await removeCode(page, "shell");
  await page.goto(site.url);
  const alert = page.getByRole("alert").filter({ hasText: "This page didn’t load" });
  await alert.waitFor();
  await restore();
  await alert.getByRole("link", { name: "Reload the page" }).click();
  await page.getByLabel("Access token").waitFor();
});

test("a part without its code offers to reload the page", async ({ visitor }) => {
  const { page, startSession, openReport } = visitor;
  await startSession();
  await openReport();
  const restore = await removeCode(page, "site_dialog");
  await page.getByRole("button", { name: "Set site URL" }).click();
  const alert = page.getByRole("alert").filter({ hasText: "This part of the page didn’t load" });
  await alert.getByText("A new version may be available.").waitFor();
  await restore();
  await alert.getByRole("button", { name: "Reload" }).click();
  // Until the page has reloaded, a click would open the dialog of the old page.
  await alert.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Set site URL" }).click();
  await page.getByRole("dialog").waitFor();
});

test("the command palette without its code offers to reload the page in sight", async ({
  visitor,
}) => {
  const { page, startSession, openReport } = visitor;
  await startSession();
  await openReport();
  await removeCode(page, "palette");
  await page.keyboard.press("Control+k");
  const reload = page.getByRole("alert").getByRole("button", { name: "Reload" });
  await expect(reload).toBeInViewport();
});

for (const [name, file, key] of [
  ["command palette", "palette", "Control+k"],
  ["list of shortcuts", "key_list", "?"],
]) {
  test(`the ${name} without its code can be closed and returns the focus`, async ({ visitor }) => {
    const { page, startSession, openReport } = visitor;
    await startSession();
    await openReport();
    await removeCode(page, file);
    const opener = page.getByRole("button", { name: "Set site URL" });
    await opener.focus();
    const alert = page.getByRole("alert").filter({ hasText: "This part of the page didn’t load" });
    await page.keyboard.press(key);
    await alert.waitFor();
    await page.keyboard.press("Escape");
    await alert.waitFor({ state: "detached" });
    await expect(opener).toBeFocused();
    await page.keyboard.press(key);
    await alert.waitFor();
    await page.getByRole("button", { name: "Close" }).click();
    await alert.waitFor({ state: "detached" });
    await expect(opener).toBeFocused();
  });
}

test("the command palette opens when the browser is back online, and returns the focus", async ({
  visitor,
}) => {
  const { page, startSession, openReport } = visitor;
  await startSession();
  await openReport();
  const opener = page.getByRole("button", { name: "Set site URL" });
  await opener.focus();
  await page.context().setOffline(true);
  await page.keyboard.press("Control+k");
  await page.getByRole("alert").getByText("You’re offline").waitFor();
  await page.context().setOffline(false);
  await expect(page.getByRole("combobox", { name: /^Search jobs/ })).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(opener).toBeFocused();
});

test("a menu without its code opens offline as soon as the browser is back online", async ({
  visitor,
}) => {
  const { page, startSession, openReport } = visitor;
  await startSession();
  await openReport();
  await page.context().setOffline(true);
  await page.getByRole("button", { name: /^Views:/ }).click();
  await page.getByRole("alert").getByText("You’re offline").waitFor();
  await page.context().setOffline(false);
  await page.getByLabel("Save this report as").waitFor();
  // Its styles have loaded, too.
  await expect(page.locator(".views_panel-panel")).toHaveCSS("display", "grid");
});

test("an action without its code shows a notice offline, although messages are not loaded either", async ({
  visitor,
}) => {
  const { page, startSession, openReport } = visitor;
  await startSession();
  await openReport({ route: "searches" });
  await page.context().setOffline(true);
  await page
    .getByRole("button", { name: /^Start a job about/ })
    .first()
    .click();
  await expect(page.getByRole("alert").getByText("You’re offline")).toBeInViewport();
  await page.context().setOffline(false);
  const messages = page.getByRole("region", { name: "Messages" });
  await messages.getByText("Couldn’t open a new job. You’re offline.").waitFor();
});

test("a job about a row without its code stays on the report and offers to reload", async ({
  visitor,
}) => {
  const { page, startSession, openReport } = visitor;
  await startSession();
  await removeCode(page, "open_composer");
  await openReport({ route: "searches" });
  await page
    .getByRole("button", { name: /^Start a job about/ })
    .first()
    .click();
  const messages = page.getByRole("region", { name: "Messages" });
  await messages.getByText("Couldn’t open a new job. A new version may be available.").waitFor();
  await messages.getByRole("button", { name: "Reload" }).waitFor();
  await page.waitForURL(/route=searches/);
});

test("a session without its code offers a reload", async ({ visitor }) => {
  const { site, page, startSession } = visitor;
  await startSession();
  const restore = await removeCode(page, "(open_session|package)");
  await page.goto(`${site.url}/?route=jobs`);
  const alert = page.getByRole("alert").filter({ hasText: "This part of the page didn’t load" });
  await alert.waitFor();
  await restore();
  await alert.getByRole("button", { name: "Reload" }).click();
  await page.getByText("No jobs yet").waitFor();
});
