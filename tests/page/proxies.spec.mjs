import { expect } from "@playwright/test";
import { test } from "./fixtures.mjs";
import { SMALL_SITE } from "./sites.mjs";

test.use({ siteOptions: SMALL_SITE });
const LOGIN = "https://login.example/cdn-cgi/access/login";
/** How proxies answer after their own session has ended. */
const ANSWERS = {
  "a redirect": { status: 302, headers: { location: LOGIN } },
  "an HTML page": { status: 200, contentType: "text/html", body: "<h1>Log in</h1>" },
  "a 401 in HTML": {
    status: 401,
    contentType: "text/html; charset=utf-8",
    body: "<h1>Log in</h1>",
  },
};

test("after an answer of a proxy, a report offers to reload the page", async ({ visitor }) => {
  const { page, startSession, openReport } = visitor;
  await startSession();
  for (const [name, answer] of Object.entries(ANSWERS)) {
    await openReport();
    await page.route("**/v1/**", (route) => route.fulfill(answer));
    await page.keyboard.press("q");
    const problem = page.getByRole("alert").filter({ hasText: "Your session ended" });
    await problem.waitFor();
    await expect(problem, name).not.toContainText("Mintlify");
    await page.unrouteAll();
    await problem.getByRole("button", { name: "Reload" }).click();
    await page.locator(".report_table-table").waitFor();
    await page.waitForURL(/range=last-90-days/);
  }
});

test("a proxy’s sign-in page does not sign the page out", async ({ visitor }) => {
  const { page, signIn } = visitor;
  await signIn();
  await page.route("**/session", (route) => route.fulfill(ANSWERS["a 401 in HTML"]));
  await page.reload();
  await page.getByRole("alert").filter({ hasText: "Your session ended" }).waitFor();
  await page.unrouteAll();
  await page.getByRole("button", { name: "Reload" }).click();
  await page.getByRole("button", { name: "Sign out" }).waitFor();
});
