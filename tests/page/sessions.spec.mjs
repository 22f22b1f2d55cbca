import assert from "node:assert/strict";
import { newSecret } from "../harness/token.mjs";
import { accessibilityFaults } from "./browser.mjs";
import { expect, test } from "./fixtures.mjs";
import { EMPTY_PROJECT } from "./sites.mjs";
import { openComposer, submitToken } from "./visitor.mjs";
import { createGate } from "./waiting.mjs";

const heading = (page, name) => page.getByRole("heading", { level: 1, name });
const nowSeconds = () => Math.floor(Date.now() / 1000);
test("a session opens in the next tab, and scripts cannot read its token", async ({ visitor }) => {
  const { site, page, token } = visitor;
  const used = token();
  const first = await page.context().newPage();
  await first.goto(`${site.url}/?route=jobs`);
  await submitToken(first, used);
  await heading(first, "Agent jobs").waitFor();
  await first.close();
  await page.goto(`${site.url}/?route=jobs`);
  await heading(page, "Agent jobs").waitFor();

  const readable = await page.evaluate(() =>
    JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]),
  );
  assert.ok(!readable.includes(used));
  assert.ok(!readable.includes(used.split(".")[2]));
  assert.equal(await page.evaluate(() => document.cookie), "");
  const [cookie] = await page.context().cookies();
  const attributes = { httpOnly: true, secure: true, sameSite: "Strict", path: "/" };
  expect(cookie).toMatchObject({ name: "__Host-quillgate", ...attributes });
  assert.ok(!cookie.value.includes(used.split(".")[1]));
});

test("signing out asks before it deletes drafts, and signs out all tabs", async ({ visitor }) => {
  const { site, page, signIn } = visitor;
  await signIn();
  const other = await page.context().newPage();
  await other.goto(`${site.url}/?route=jobs`);
  await (await openComposer(other)).fill("Written in the other tab");
  await page.getByRole("button", { name: "Sign out" }).click();
  const dialog = page.getByRole("dialog", { name: "Sign out?" });
  await dialog.getByText("deletes 1 draft").waitFor();
  assert.deepEqual(await accessibilityFaults(page), []);
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await dialog.waitFor({ state: "detached" });
  await expect(await openComposer(other)).toHaveValue("Written in the other tab");

  await page.getByRole("button", { name: "Sign out" }).click();
  await dialog.getByRole("button", { name: "Sign out and delete 1 draft" }).click();
  await heading(page, "Sign in").waitFor();
  await other.getByText("You signed out in another tab.").waitFor();
  const stored = () => [...Object.keys(sessionStorage), ...Object.keys(localStorage)];
  assert.deepEqual(await other.evaluate(stored), ["quillgate.era"]);
  await other.reload();
  await heading(other, "Sign in").waitFor();
});

test("signing in in one tab signs in all tabs", async ({ visitor }) => {
  const { site, page, token } = visitor;
  await page.goto(`${site.url}/?route=jobs`);
  const other = await page.context().newPage();
  await other.goto(`${site.url}/?route=jobs`);
  await submitToken(other, token());
  await heading(page, "Agent jobs").waitFor();
});

test("a tab shows no person until it can check another tab's sign-in", async ({ visitor }) => {
  const { site, page, token, signIn } = visitor;
  await signIn();
  await page.route(/\/(session|healthz)$/, (route) => route.abort());
  const other = await page.context().newPage();
  await other.goto(`${site.url}/?route=jobs`);
  await other.getByRole("button", { name: /^Account:/ }).click();
  await other.getByRole("button", { name: "Use another token" }).click();
  await submitToken(other, token({ sub: "next-person" }));
  await page.getByRole("alert").filter({ hasText: "couldn’t reach" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "New job" }).count(), 0);
  await page.unrouteAll();
  await page.evaluate(() => dispatchEvent(new Event("online")));
  await page.getByRole("button", { name: "Account: next-person" }).waitFor();
});

test("a token with a wrong signature opens no session", async ({ visitor }) => {
  const { site, page, token, upstreamTargets } = visitor;
  await page.goto(site.url);
  await page.getByText("How do I get a token?").click();
  await page.getByText("Ask your gateway admin.").waitFor();
  await page.getByText("quillgate token mint").waitFor();
  await submitToken(page, token({}, newSecret()));
  const alert = page.getByRole("alert").filter({ hasText: "didn’t accept this token" });
  await alert.getByText("Request ID").waitFor();
  await heading(page, "Sign in").waitFor();
  assert.deepEqual(await page.context().cookies(), []);
  assert.deepEqual(await upstreamTargets(), []);
});

test("a prompt survives the end of the session", async ({ visitor }) => {
  const { page, token, followBrowserClock, signIn } = visitor;
  await followBrowserClock();
  await page.clock.install();
  await signIn(token({ exp: nowSeconds() + 600 }));
  await (await openComposer(page)).fill("Half a prompt");
  await page.clock.runFor(320_000);
  const messages = page.getByRole("region", { name: "Messages" });
  await messages.getByText(/Your session expires in/).waitFor();
  await page.clock.runFor(300_000);
  await page.getByText("Your session has expired").waitFor();
  await submitToken(page, token());
  await expect(await openComposer(page)).toHaveValue("Half a prompt");
});

test("the next request notices that the session has ended", async ({ visitor }) => {
  const { page, token, signIn, upstreamTargets } = visitor;
  await signIn();
  await (await openComposer(page)).fill("Sent too late");
  await page.evaluate(() => fetch("/session", { method: "DELETE" }));
  await page.getByRole("button", { name: "Start job" }).click();
  const alert = page.getByRole("alert").filter({ hasText: "You’re no longer signed in" });
  await alert.first().getByRole("button", { name: "Sign in again" }).click();
  await submitToken(page, token());
  await expect(await openComposer(page)).toHaveValue("Sent too late");
  assert.deepEqual(await upstreamTargets(), []);
});

test("only the same person returns to the address of a session that ended", async ({ visitor }) => {
  const { site, page, token, signIn, project } = visitor;
  const endSession = async () => {
    await page.evaluate(() => fetch("/session", { method: "DELETE" }));
    await page.reload();
    await page.waitForURL((url) => url.search === "");
  };
  await signIn();
  await page.goto(`${site.url}/?route=jobs&project=${project}&text=zebrafish`);
  await page.getByLabel("Search prompts").waitFor();
  await endSession();
  await submitToken(page, token());
  await expect(page.getByLabel("Search prompts")).toHaveValue("zebrafish");
  await page.waitForURL(/text=zebrafish/);
  await endSession();
  await submitToken(page, token({ sub: "next-person" }));
  await heading(page, "Today").waitFor();
  await page.waitForURL(({ href }) => !/zebrafish|jobs/.test(href));
  const stored = await page.evaluate(() => JSON.stringify({ ...sessionStorage }));
  assert.doesNotMatch(stored, /zebrafish/);
  await page.goBack();
  await heading(page, "Agent jobs").or(heading(page, "Today")).waitFor();
  await page.waitForURL(({ href }) => !href.includes("zebrafish"));
});

test("a restored tab loses the address of an earlier person", async ({ visitor }) => {
  const { site, page, token, signIn, startSession, project } = visitor;
  await signIn();
  await page.goto(`${site.url}/?route=jobs&project=${project}&text=zebrafish`);
  await page.getByLabel("Search prompts").waitFor();
  await startSession(token({ sub: "next-person" }));
  await page.goBack();
  await page.getByRole("button", { name: "Sign out" }).waitFor();
  await page.waitForURL(({ href }) => !href.includes("zebrafish"));
});

test("a sign-out that did not reach the gateway can be repeated", async ({ visitor }) => {
  const { page, signIn } = visitor;
  await signIn();
  await page.route("**/session", (route) => route.abort());
  await page.getByRole("button", { name: "Sign out" }).click();
  const notice = page.getByRole("status").filter({ hasText: "may still be signed in" });
  await notice.waitFor();
  await page.unroute("**/session");
  const deleted = page.waitForResponse((response) => response.request().method() === "DELETE");
  await notice.getByRole("button", { name: "Sign out again" }).click();
  assert.equal((await deleted).status(), 204);
  await notice.waitFor({ state: "detached" });
  assert.deepEqual(await page.context().cookies(), []);
});

test("signing in waits until a slow sign-out has finished", async ({ visitor }) => {
  const { page, token, signIn } = visitor;
  await signIn();
  const writes = [];
  const gate = createGate();
  await page.route("**/session", async (route) => {
    const method = route.request().method();
    if (method === "GET") return route.continue();
    writes.push(method);
    if (method === "DELETE") await gate.opened;
    await route.continue();
  });
  await page.getByRole("button", { name: "Sign out" }).click();
  await submitToken(page, token());
  await page.getByRole("button", { name: "Signing in" }).waitFor();
  assert.deepEqual(writes, ["DELETE"]);
  gate.open();
  await page.getByRole("button", { name: "Sign out" }).waitFor();
  assert.deepEqual(writes, ["DELETE", "POST"]);
});

/** Makes the gateway accept Cloudflare Access. Returns the bodies of the page's sign-ins. */
async function offerAccess(target, token, issuers = []) {
  const posted = [];
  const json = { token: true, access: true, issuers };
  await target.route("**/session/methods", (route) => route.fulfill({ json }));
  await target.route("**/session", async (route) => {
    if (route.request().method() !== "POST") return route.continue();
    posted.push(route.request().postData());
    await route.continue({ postData: JSON.stringify({ token: token() }) });
  });
  return posted;
}

test("Cloudflare Access does not undo a sign-out", async ({ visitor }) => {
  const { site, page, token } = visitor;
  const context = page.context();
  const posted = await offerAccess(context, token);
  await page.goto(`${site.url}/?route=jobs`);
  await heading(page, "Agent jobs").waitFor();
  const other = await context.newPage();
  await other.goto(`${site.url}/?route=jobs`);
  await heading(other, "Agent jobs").waitFor();

  await page.getByRole("button", { name: "Sign out" }).click();
  for (const tab of [page, other]) {
    const button = tab.getByRole("button", { name: "Continue with Cloudflare Access" });
    await button.waitFor();
    await tab.reload();
    await button.waitFor();
  }
  assert.equal(posted.length, 1);
  await page.getByRole("button", { name: "Continue with Cloudflare Access" }).click();
  await heading(page, "Agent jobs").waitFor();
  assert.equal(posted.length, 2);
});

test("a sign-in whose code is gone after a deployment offers a reload", async ({ visitor }) => {
  const { site, page, token } = visitor;
  const code = "**/open_session-*";
  await page.route(code, (route) => route.fulfill({ status: 404, body: "" }));
  await page.goto(`${site.url}/?route=jobs`);
  await submitToken(page, token());
  const alert = page.getByRole("alert").filter({ hasText: "This part of the page didn’t load" });
  await alert.waitFor();
  assert.equal(await alert.getByRole("button", { name: "Try again" }).count(), 0);
  await page.unroute(code);
  await alert.getByRole("button", { name: "Reload" }).click();
  await heading(page, "Agent jobs").waitFor();
});

test("returning from an issuer without a cookie shows a notice", async ({ visitor }) => {
  const { site, page } = visitor;
  await page.goto(`${site.url}/?route=views&signed-in=`);
  await page.getByRole("status").filter({ hasText: "didn’t keep the session" }).waitFor();
  await heading(page, "Sign in").waitFor();
});

test("switching projects keeps the route, and a link has its project", async ({ visitor }) => {
  const { page, token, signIn, project } = visitor;
  await signIn(token({ projects: [project, EMPTY_PROJECT] }));
  await page.getByRole("link", { name: "Page views" }).click();
  await heading(page, "Page views").waitFor();
  await page.getByLabel("Project", { exact: true }).selectOption(EMPTY_PROJECT);
  await page.waitForURL(/project=empty-docs/);
  await heading(page, "Page views").waitFor();
  await page.goBack();
  await page.waitForURL(new RegExp(`project=${project}`));
  await expect(page.getByLabel("Project", { exact: true })).toHaveValue(project);

  await page.goForward();
  await page.waitForURL(/route=views&project=empty-docs/);
  const other = await page.context().newPage();
  await other.goto(page.url());
  await heading(other, "Page views").waitFor();
  await expect(other.getByLabel("Project", { exact: true })).toHaveValue(EMPTY_PROJECT);
});

test("the page explains why signing in at an issuer failed", async ({ visitor }) => {
  const { site, page } = visitor;
  for (const [kind, text] of [
    ["issuer-unavailable", "The sign-in service didn’t respond"],
    ["sign-in-failed", "The sign-in wasn’t completed"],
    ["<b>else</b>", "Your account can’t sign in here"],
  ]) {
    await page.goto(`${site.url}/?sign-in-failed=${encodeURIComponent(kind)}`);
    await page.getByRole("status").filter({ hasText: text }).waitFor();
  }
});

test("the sign-in form offers the gateway's issuers and Access", async ({ visitor }) => {
  const { site, page, token } = visitor;
  const issuers = [
    { name: "Okta", href: "/session/start?issuer=Okta" },
    { name: "Elsewhere", href: "https://elsewhere.example/start?issuer=x" },
  ];
  const posted = await offerAccess(page, token, issuers);
  await page.goto(`${site.url}/?route=jobs`);
  await heading(page, "Agent jobs").waitFor();
  assert.deepEqual(posted, ["{}"]);

  await page.getByRole("button", { name: "Sign out" }).click();
  const link = page.getByRole("link", { name: "Sign in with Okta" });
  const href = new URL(await link.getAttribute("href"), site.url);
  assert.equal(href.pathname, "/session/start");
  assert.match(href.searchParams.get("return"), /^\/\?route=jobs/);
  assert.equal(await page.getByRole("link", { name: /Elsewhere/ }).count(), 0);
  await page.getByRole("button", { name: "Continue with Cloudflare Access" }).waitFor();
});
