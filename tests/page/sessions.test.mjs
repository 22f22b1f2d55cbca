/** Signing in once per browser, what tabs share of it, and how it ends. */
import assert from "node:assert/strict";
import { describe } from "node:test";
import { newSecret } from "../harness/token.mjs";
import { EMPTY_PROJECT, openComposer, startSite } from "./site.mjs";

const site = startSite();
const { visiting } = site;
const heading = (page, name) => page.getByRole("heading", { level: 1, name });
const statusOfSession = (page) =>
  page.evaluate(async () => {
    const response = await fetch("/session");
    await response.text();
    return response.status;
  });
const seconds = () => Math.floor(Date.now() / 1000);

describe("a session", () => {
  visiting("lasts beyond the tab and is shared by all tabs", async ({ page, token }) => {
    const first = await page.context().newPage();
    await first.goto(site.gateway.url);
    await first.getByLabel("Access token").fill(token());
    await first.getByRole("button", { name: "Sign in" }).click();
    await heading(first, "Agent jobs").waitFor();
    await first.close();
    await page.goto(site.gateway.url);
    await heading(page, "Agent jobs").waitFor();
  });

  visiting("keeps its token where no script can read it", async ({ page, token, signIn }) => {
    const used = token();
    await signIn(used);
    const readable = await page.evaluate(() =>
      JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]),
    );
    assert.ok(!readable.includes(used));
    assert.ok(!readable.includes(used.split(".")[2]));
    assert.equal(await page.evaluate(() => document.cookie), "");
    const [cookie] = await page.context().cookies();
    const { name, httpOnly, secure, sameSite, path } = cookie;
    assert.deepEqual(
      { name, httpOnly, secure, sameSite, path },
      { name: "__Host-quillgate", httpOnly: true, secure: true, sameSite: "Strict", path: "/" },
    );
    assert.ok(!cookie.value.includes(used.split(".")[1]));
  });

  visiting("that ends in one tab ends in the others", async ({ page, signIn }) => {
    await signIn();
    const other = await page.context().newPage();
    await other.goto(site.gateway.url);
    await (await openComposer(other)).fill("Written in the other tab");
    await page.getByRole("button", { name: "Sign out" }).click();
    await heading(page, "Sign in").waitFor();
    await other.getByText("You signed out in another tab.").waitFor();
    assert.equal(await other.evaluate(() => sessionStorage.length + localStorage.length), 0);
    await other.reload();
    await heading(other, "Sign in").waitFor();
  });

  visiting("that begins in one tab begins in the others", async ({ page, token }) => {
    await page.goto(site.gateway.url);
    const other = await page.context().newPage();
    await other.goto(site.gateway.url);
    await other.getByLabel("Access token").fill(token());
    await other.getByRole("button", { name: "Sign in" }).click();
    await heading(page, "Agent jobs").waitFor();
  });

  visiting("that is renewed in another tab leaves this one as it is", async (visitor) => {
    const { page, token, signIn, openLastMonth } = visitor;
    await signIn();
    await openLastMonth();
    const table = await page.getByRole("table").elementHandle();
    const other = await page.context().newPage();
    await other.goto(site.gateway.url);
    await other.getByRole("button", { name: /Session of/ }).click();
    await other.getByRole("button", { name: "Use another token" }).click();
    const end = Math.floor(Date.now() / 1000) + 90;
    await other.getByLabel("Access token").fill(token({ exp: end }));
    await other.getByRole("button", { name: "Sign in" }).click();
    await page
      .getByRole("region", { name: "Messages" })
      .getByText(/session ends in/)
      .waitFor();
    assert.ok(await table.evaluate((element) => element.isConnected));
  });

  visiting("is not there for a token with a wrong signature", async (visitor) => {
    const { page, token, upstreamTargets } = visitor;
    await page.goto(site.gateway.url);
    await page.getByLabel("Access token").fill(token({}, newSecret()));
    await page.getByRole("button", { name: "Sign in" }).click();
    const alert = page.getByRole("alert").filter({ hasText: "did not accept this token" });
    await alert.getByText("Request id").waitFor();
    await heading(page, "Sign in").waitFor();
    assert.deepEqual(await page.context().cookies(), []);
    assert.deepEqual(await upstreamTargets(), []);
  });

  visiting("that ends midway says so and keeps what was written", async (visitor) => {
    const { page, token, signIn } = visitor;
    await page.clock.install();
    await signIn(token({ exp: seconds() + 600 }));
    await (await openComposer(page)).fill("Half a prompt");
    await page.clock.runFor(320_000);
    const messages = page.getByRole("region", { name: "Messages" });
    await messages.getByText(/Your session ends in/).waitFor();
    await page.clock.runFor(300_000);
    await page.getByText("Your session has ended").waitFor();
    await page.getByLabel("Access token").fill(token());
    await page.getByRole("button", { name: "Sign in" }).click();
    assert.equal(await (await openComposer(page)).inputValue(), "Half a prompt");
  });

  visiting("that was ended unheard is noticed by the next call", async (visitor) => {
    const { page, token, signIn, openComposer, upstreamTargets } = visitor;
    await signIn();
    await (await openComposer()).fill("Sent too late");
    await page.evaluate(() => fetch("/session", { method: "DELETE" }));
    await page.getByRole("button", { name: "Start job" }).click();
    const alert = page.getByRole("alert").filter({ hasText: "You are no longer signed in" });
    await alert.first().getByRole("button", { name: "Sign in again" }).click();
    await page.getByLabel("Access token").fill(token());
    await page.getByRole("button", { name: "Sign in" }).click();
    assert.equal(await (await openComposer()).inputValue(), "Sent too late");
    assert.deepEqual(await upstreamTargets(), []);
  });

  visiting("of another person finds nothing of the one before", async ({ page, token, signIn }) => {
    await signIn();
    await (await openComposer(page)).fill("Mine alone");
    await page.getByRole("button", { name: /Session of/ }).click();
    await page.getByRole("button", { name: "Use another token" }).click();
    await page.getByLabel("Access token").fill(token({ sub: "somebody else" }));
    await page.getByRole("button", { name: "Sign in" }).click();
    assert.equal(await (await openComposer(page)).inputValue(), "");
  });

  visiting("whose end the gateway did not hear of can be ended again", async (visitor) => {
    const { page, signIn } = visitor;
    await signIn();
    await page.route("**/session", (route) => route.abort());
    await page.getByRole("button", { name: "Sign out" }).click();
    const notice = page.getByRole("status").filter({ hasText: "may still be signed in" });
    await notice.waitFor();
    await page.unroute("**/session");
    const ended = page.waitForResponse((response) => response.request().method() === "DELETE");
    await notice.getByRole("button", { name: "Sign out again" }).click();
    assert.equal((await ended).status(), 204);
    await notice.waitFor({ state: "detached" });
    assert.deepEqual(await page.context().cookies(), []);
  });

  visiting(
    "is followed by another, however late the gateway says that it has ended",
    async (visitor) => {
      const { page, token, signIn } = visitor;
      await signIn();
      const writes = [];
      let release;
      const held = new Promise((resolve) => {
        release = resolve;
      });
      await page.route("**/session", async (route) => {
        const method = route.request().method();
        if (method === "GET") return route.continue();
        writes.push(method);
        if (method === "DELETE") await held;
        await route.continue();
      });
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.getByLabel("Access token").fill(token());
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("button", { name: "Signing in" }).waitFor();
      assert.deepEqual(writes, ["DELETE"]);
      release();
      await page.getByRole("button", { name: "Sign out" }).waitFor();
      assert.deepEqual(writes, ["DELETE", "POST"]);
      assert.equal(await statusOfSession(page), 200);
    },
  );

  visiting("that is left for another token goes on, says so, and can be ended", async (visitor) => {
    const { page, signIn } = visitor;
    await signIn();
    await page.getByRole("button", { name: /Session of/ }).click();
    await page.getByRole("button", { name: "Use another token" }).click();
    const notice = page.getByRole("status").filter({ hasText: "You are still signed in" });
    await notice.waitFor();
    assert.equal(await statusOfSession(page), 200);
    await notice.getByRole("button", { name: "Sign out" }).click();
    await notice.waitFor({ state: "detached" });
    assert.equal(await statusOfSession(page), 401);
  });

  visiting("ends for good where Cloudflare Access would begin another", async (visitor) => {
    const { page, token } = visitor;
    const context = page.context();
    let opened = 0;
    await context.route("**/session/methods", (route) =>
      route.fulfill({ json: { token: true, access: true, issuers: [] } }),
    );
    await context.route("**/session", async (route) => {
      if (route.request().method() !== "POST") return route.continue();
      opened += 1;
      await route.continue({ postData: JSON.stringify({ token: token() }) });
    });
    await page.goto(site.gateway.url);
    await heading(page, "Agent jobs").waitFor();
    const other = await context.newPage();
    await other.goto(site.gateway.url);
    await heading(other, "Agent jobs").waitFor();

    await page.getByRole("button", { name: "Sign out" }).click();
    for (const tab of [page, other]) {
      const button = tab.getByRole("button", { name: "Continue with Cloudflare Access" });
      await button.waitFor();
      await tab.reload();
      await button.waitFor();
    }
    assert.equal(opened, 1);
    await page.getByRole("button", { name: "Continue with Cloudflare Access" }).click();
    await heading(page, "Agent jobs").waitFor();
    assert.equal(opened, 2);
  });

  visiting("is asked for again when the gateway is out of reach", async ({ page, signIn }) => {
    await signIn();
    await page.route("**/session", (route) => route.abort());
    await page.reload();
    const alert = page.getByRole("alert").filter({ hasText: "could not be reached" });
    await alert.waitFor();
    await page.unroute("**/session");
    await alert.getByRole("button", { name: "Retry" }).click();
    await heading(page, "Agent jobs").waitFor();
  });
});

describe("a browser without cookies", () => {
  visiting("is told so when somebody signed in elsewhere", async ({ page }) => {
    await page.goto(`${site.gateway.url}/?route=views&signed-in=`);
    await page.getByRole("status").filter({ hasText: "did not keep the session" }).waitFor();
    await heading(page, "Sign in").waitFor();
  });

  visiting("is told so, and not left with calls that fail", async ({ page, token }) => {
    await page.route("**/session", async (route) => {
      if (route.request().method() !== "POST") return route.continue();
      const response = await route.fetch();
      const { "set-cookie": _, ...headers } = response.headers();
      await page.context().clearCookies();
      await route.fulfill({ response, headers });
    });
    await page.goto(site.gateway.url);
    await page.getByLabel("Access token").fill(token());
    await page.getByRole("button", { name: "Sign in" }).click();
    const alert = page.getByRole("alert").filter({ hasText: "did not keep the session" });
    await alert.getByText("allow cookies").waitFor();
    await heading(page, "Sign in").waitFor();
  });
});

describe("the project", () => {
  visiting("is switched on the same route", async ({ page, token, signIn, project }) => {
    await signIn(token({ projects: [project, EMPTY_PROJECT] }));
    await page.getByRole("link", { name: "Page views" }).click();
    await heading(page, "Page views").waitFor();
    await page.getByLabel("Project", { exact: true }).selectOption(EMPTY_PROJECT);
    await page.waitForURL(/project=empty-docs/);
    await heading(page, "Page views").waitFor();
    await page.goBack();
    await page.waitForURL(new RegExp(`project=${project}`));
    assert.equal(await page.getByLabel("Project", { exact: true }).inputValue(), project);
  });

  visiting("is kept by a shared link", async ({ page, token, signIn, project }) => {
    await signIn(token({ projects: [project, EMPTY_PROJECT] }));
    await page.getByLabel("Project", { exact: true }).selectOption(EMPTY_PROJECT);
    await page.getByRole("link", { name: "Page views" }).click();
    await page.waitForURL(/route=views&project=empty-docs/);
    const other = await page.context().newPage();
    await other.goto(page.url());
    await heading(other, "Page views").waitFor();
    assert.equal(await other.getByLabel("Project", { exact: true }).inputValue(), EMPTY_PROJECT);
  });

  visiting("of a link that the session lacks is named, with a way out", async (visitor) => {
    const { page, signIn, project, upstreamTargets } = visitor;
    await signIn();
    await page.goto(`${site.gateway.url}/?route=jobs&project=secret-docs`);
    await page.getByText("which your session does not include").waitFor();
    await page.getByRole("button", { name: `Open ${project}` }).click();
    await page.getByRole("button", { name: "New job" }).waitFor();
    assert.deepEqual(await upstreamTargets("secret-docs"), []);
  });
});

describe("signing in", () => {
  visiting("lands on the first route that the scopes allow", async ({ page, token, signIn }) => {
    await signIn(token({ scope: "analytics:read" }));
    await heading(page, "Page views").waitFor();
    assert.equal(await page.getByText(/lacks the scope/).count(), 0);
    assert.equal(await page.getByRole("link", { name: "Agent jobs" }).count(), 0);
  });

  visiting("keeps the place that a link leads to", async ({ page, token }) => {
    await page.goto(`${site.gateway.url}/?view=views&range=last-month`);
    await page.getByLabel("Access token").fill(token());
    await page.getByRole("button", { name: "Sign in" }).click();
    await heading(page, "Page views").waitFor();
  });

  visiting("says why an issuer has not signed anybody in", async ({ page }) => {
    for (const [kind, text] of [
      ["issuer-unavailable", "The issuer did not answer"],
      ["sign-in-failed", "The sign-in was not completed"],
      ["<b>else</b>", "The gateway did not let you in"],
    ]) {
      await page.goto(`${site.gateway.url}/?sign-in-failed=${encodeURIComponent(kind)}`);
      await page.getByRole("status").filter({ hasText: text }).waitFor();
    }
  });

  visiting("says in place how to get a token", async ({ page }) => {
    await page.goto(site.gateway.url);
    await page.getByText("How do I get a token?").click();
    await page.getByText("Ask whoever runs this gateway").waitFor();
    await page.getByText("quillgate token mint").waitFor();
  });

  visiting("offers the issuers and Access that the gateway knows", async ({ page, token }) => {
    const issuers = [
      { name: "Okta", href: "/session/start?issuer=Okta" },
      { name: "Elsewhere", href: "https://elsewhere.example/start?issuer=x" },
    ];
    await page.route("**/session/methods", (route) =>
      route.fulfill({ json: { token: true, access: true, issuers } }),
    );
    const asked = [];
    await page.route("**/session", async (route) => {
      if (route.request().method() !== "POST") return route.continue();
      asked.push(route.request().postData());
      await route.continue({ postData: JSON.stringify({ token: token() }) });
    });
    await page.goto(`${site.gateway.url}/?route=jobs`);
    await heading(page, "Agent jobs").waitFor();
    assert.deepEqual(asked, ["{}"]);

    await page.getByRole("button", { name: "Sign out" }).click();
    const link = page.getByRole("link", { name: "Sign in with Okta" });
    const href = new URL(await link.getAttribute("href"), site.gateway.url);
    assert.equal(href.pathname, "/session/start");
    assert.match(href.searchParams.get("return"), /^\/\?route=jobs/);
    assert.equal(await page.getByRole("link", { name: /Elsewhere/ }).count(), 0);
    await page.getByRole("button", { name: "Continue with Cloudflare Access" }).waitFor();
  });
});

describe("the session menu", () => {
  visiting("closes on Escape, on a click elsewhere and when the focus leaves", async (visitor) => {
    const { page, signIn } = visitor;
    await signIn();
    const toggle = page.getByRole("button", { name: /Session of/ });
    const panel = page.getByText("Signed in as");
    await toggle.click();
    await panel.waitFor();
    await page.keyboard.press("Escape");
    await panel.waitFor({ state: "hidden" });
    assert.ok(await toggle.evaluate((button) => button === document.activeElement));
    await toggle.click();
    await panel.waitFor();
    await heading(page, "Agent jobs").click();
    await panel.waitFor({ state: "hidden" });
    await toggle.click();
    await panel.waitFor();
    await page.getByRole("button", { name: "Sign out" }).focus();
    await panel.waitFor({ state: "hidden" });
  });

  visiting(
    "and signing out fit on one line of a phone",
    async ({ page, token, signIn, project }) => {
      await signIn(
        token({ projects: [project, EMPTY_PROJECT], sub: "a-rather-long-name@example" }),
      );
      const button = page.getByRole("button", { name: "Sign out" });
      const lines = await button.evaluate((element) => {
        const range = document.createRange();
        range.selectNodeContents(element);
        return range.getClientRects().length;
      });
      assert.equal(lines, 1);
      const box = await button.boundingBox();
      assert.ok(box.x >= 0 && box.x + box.width <= 360);
    },
    { viewport: { width: 360, height: 720 } },
  );
});
