import assert from "node:assert/strict";
import { expect, test } from "./fixtures.mjs";

const COOKIE = "__Host-quillgate";
test.use({ siteOptions: { issuer: true } });

/** Returns the page's origin on `localhost`, so that the issuer at 127.0.0.1 is another site. */
function pageUrl(site) {
  const url = new URL(site.url);
  url.hostname = "localhost";
  return url.origin;
}

async function cookieOf(page) {
  const cookies = await page.context().cookies();
  return cookies.find(({ name }) => name === COOKIE);
}

test("signing in at an issuer sets the cookie and returns to the report", async ({ visitor }) => {
  const { site, page, record } = visitor;
  await page.goto(`${pageUrl(site)}/?route=views&range=last-7-days`);
  await page.getByRole("link", { name: "Sign in with Acme SSO" }).click();
  await page.getByRole("link", { name: "Continue as carol" }).click();
  await page.getByRole("heading", { level: 1, name: "Page views" }).waitFor();
  await page.locator(".report_table-table").waitFor();
  const { searchParams, origin } = new URL(page.url());
  assert.equal(origin, pageUrl(site));
  assert.equal(searchParams.get("range"), "last-7-days");
  for (const name of ["code", "state", "iss"]) assert.equal(searchParams.get(name), null);

  const cookie = await cookieOf(page);
  expect(cookie).toMatchObject({ httpOnly: true, secure: true, sameSite: "Strict", path: "/" });
  const form = site.issuer.tokenRequests.at(-1);
  assert.ok(form.code_verifier, "the code was bound to this browser");
  for (const secret of [form.code_verifier, cookie.value]) {
    assert.ok(!record.urls.some((url) => url.includes(secret)), "no address contains a secret");
  }

  const other = await page.context().newPage();
  await other.goto(`${pageUrl(site)}/?route=visitors`);
  await other.getByRole("heading", { level: 1, name: "Visitors" }).waitFor();
  const deleted = other.waitForResponse((response) => response.request().method() === "DELETE");
  await other.getByRole("button", { name: "Sign out" }).click();
  await deleted;
  await other.getByRole("link", { name: "Sign in with Acme SSO" }).waitFor();
  await page.getByText("You signed out in another tab.").waitFor();
  assert.equal(await cookieOf(page), undefined);
  await page.reload();
  await page.getByRole("link", { name: "Sign in with Acme SSO" }).waitFor();
  await other.close();
});
