/** Sign-in at an issuer of another site, in one browser: from the button to the cookie, and out again. */
import assert from "node:assert/strict";
import { after, describe } from "node:test";
import { startIssuer } from "../harness/issuer.mjs";
import { startSite } from "./site.mjs";

const COOKIE = "__Host-quillgate";
const issuer = await startIssuer();
after(() => issuer.stop());
const rules = [{ claims: { sub: "carol" }, projects: ["docs-0"], scope: "analytics:read" }];
const site = startSite({
  vars: {
    TRUSTED_ISSUERS: JSON.stringify([
      { issuer: issuer.url, audience: "quillgate", jwks: issuer.jwksUrl, rules },
    ]),
    SIGN_IN_ISSUERS: JSON.stringify([
      {
        name: "Acme SSO",
        issuer: issuer.url,
        clientId: "quillgate-page",
        authorizationEndpoint: issuer.authorizeUrl,
        tokenEndpoint: issuer.tokenUrl,
        scope: "openid",
      },
    ]),
  },
});

/** The page under a name that makes the issuer, at 127.0.0.1, another site. */
function pageUrl() {
  const url = new URL(site.gateway.url);
  url.hostname = "localhost";
  return url.origin;
}

function cookieOf(page) {
  return page
    .context()
    .cookies()
    .then((cookies) => cookies.find(({ name }) => name === COOKIE));
}

describe("sign-in at an issuer", () => {
  site.visiting(
    "leads from the button to the cookie, and back to what was asked for",
    async (visitor) => {
      const { page, record } = visitor;
      await page.goto(`${pageUrl()}/?route=views&range=last-7-days`);
      await page.getByRole("link", { name: "Sign in with Acme SSO" }).click();
      await page.getByRole("link", { name: "Continue as carol" }).click();
      await page.getByRole("heading", { level: 1, name: "Page views" }).waitFor();
      await page.locator(".report").waitFor();
      const { searchParams, origin } = new URL(page.url());
      assert.equal(origin, pageUrl());
      assert.equal(searchParams.get("range"), "last-7-days");
      for (const name of ["code", "state", "iss"]) assert.equal(searchParams.get(name), null);

      const cookie = await cookieOf(page);
      const { httpOnly, secure, sameSite, path } = cookie;
      assert.deepEqual(
        { httpOnly, secure, sameSite, path },
        {
          httpOnly: true,
          secure: true,
          sameSite: "Strict",
          path: "/",
        },
      );
      const [form] = issuer.tokenRequests;
      assert.ok(form.code_verifier, "the code was bound to this browser");
      for (const secret of [form.code_verifier, cookie.value]) {
        assert.ok(!record.urls.some((url) => url.includes(secret)), "no secret is in an address");
      }

      const other = await page.context().newPage();
      await other.goto(`${pageUrl()}/?route=visitors`);
      await other.getByRole("heading", { level: 1, name: "Visitors" }).waitFor();
      const ended = other.waitForResponse((answer) => answer.request().method() === "DELETE");
      await other.getByRole("button", { name: "Sign out" }).click();
      await ended;
      await other.getByRole("link", { name: "Sign in with Acme SSO" }).waitFor();
      await page.getByText("You signed out in another tab.").waitFor();
      assert.equal(await cookieOf(page), undefined);
      await page.reload();
      await page.getByRole("link", { name: "Sign in with Acme SSO" }).waitFor();
      await other.close();
    },
  );

  site.visiting("says so when it was declined, and signs nobody in", async ({ page }) => {
    await page.goto(pageUrl());
    await page.getByRole("link", { name: "Sign in with Acme SSO" }).click();
    await page.getByRole("link", { name: "Decline" }).click();
    await page.getByText("The sign-in was not completed").waitFor();
    assert.equal(await cookieOf(page), undefined);
    await page.getByRole("link", { name: "Sign in with Acme SSO" }).waitFor();
  });
});
