import assert from "node:assert/strict";
import { test } from "./fixtures.mjs";

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
  const { page, startAtReport } = visitor;
  await startAtReport();
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
