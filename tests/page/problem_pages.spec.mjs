/** The pages about problems, which the gateway serves at the address in each problem's `type`. */
import assert from "node:assert/strict";
import { checkBothSchemes } from "./browser.mjs";
import { test } from "./fixtures.mjs";

for (const width of [1440, 390]) {
  test(`axe finds no fault in the pages about problems at ${width} pixels`, async ({ visitor }) => {
    const { site, page } = visitor;
    await page.setViewportSize({ width, height: 844 });
    for (const [path, title] of [
      ["/problems/", "Problems"],
      ["/problems/quota-exceeded", "Quota exceeded"],
    ]) {
      await page.goto(`${site.url}${path}`);
      await page.getByRole("heading", { name: title, exact: true, level: 1 }).waitFor();
      await checkBothSchemes(page, path);
    }
  });
}

test("an error on the page links to the page about its problem", async ({ visitor }) => {
  const { site, page, signIn } = visitor;
  await signIn();
  await page.route("**/v1/analytics/**", (route) =>
    route.fulfill({
      status: 503,
      contentType: "application/problem+json",
      body: JSON.stringify({
        type: "/problems/gateway-busy",
        title: "Gateway busy",
        status: 503,
        detail: "all connections to Mintlify are in use; nothing was sent",
      }),
    }),
  );
  await page.getByRole("link", { name: "Searches" }).click();
  const link = page.getByRole("link", { name: "About this problem" }).first();
  const [tab] = await Promise.all([page.waitForEvent("popup"), link.click()]);
  await tab.getByRole("heading", { name: "Gateway busy" }).waitFor();
  assert.equal(tab.url(), `${site.url}/problems/gateway-busy`);
});
