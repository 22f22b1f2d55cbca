import assert from "node:assert/strict";
import { expect, test } from "./fixtures.mjs";
import { submitToken } from "./visitor.mjs";

const SILENCE_MS = 2000;

test("an expired token and a Mintlify API key are rejected", async ({ visitor }) => {
  const { site, page, record, token } = visitor;
  const now = Math.floor(Date.now() / 1000);
  await page.goto(site.url);
  await submitToken(page, token({ iat: now - 100, exp: now - 10 }));
  const alert = page.getByRole("alert");
  await alert.getByText("The access token has expired (401)").waitFor();
  assert.ok(!record.urls.some((url) => /\/v[12]\//.test(url)));

  await submitToken(page, "mint_not_a_real_key");
  await alert.getByText(/Mintlify API key/).waitFor();
  assert.ok(!record.urls.some((url) => /\/v[12]\//.test(url)));
});

test("a route names the missing scope without a request", async ({ visitor }) => {
  const { site, page, token, signIn, upstreamTargets } = visitor;
  await signIn(token({ scope: "jobs:read" }));
  await page.getByText("jobs:create", { exact: true }).waitFor();
  assert.equal(await page.locator("main .notice").count(), 0, "reading jobs needs no warning");
  assert.equal(await page.getByRole("button", { name: "New job" }).count(), 0);
  await page.goto(`${site.url}/?route=views`);
  await page.getByText("analytics:read", { exact: true }).waitFor();
  await page.getByRole("link", { name: "Go to agent jobs" }).click();
  await page.getByRole("heading", { level: 1, name: "Agent jobs" }).waitFor();
  assert.deepEqual(await upstreamTargets(), []);
});

test("signing out clears the browser's storage and ends polling", async ({ visitor }) => {
  const { site, page, project, token, signIn, startJob } = visitor;
  const used = token();
  await signIn(used);
  await startJob("Leave no trace");
  await page.reload();
  await page.getByRole("heading", { level: 1, name: "Agent jobs" }).waitFor();
  assert.ok(!page.url().includes(used));
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
  // The era tells the history entries of two sessions apart.
  assert.deepEqual(await page.evaluate(() => Object.keys(sessionStorage)), ["quillgate.era"]);
  assert.equal(await page.evaluate(() => localStorage.length), 0);
  await expect(page.getByLabel("Access token")).toHaveValue("");
  const [{ id }] = await site.upstream.jobs();
  let changes = 0;
  const timeSinceLastRequest = async () => {
    // The gateway notices that the page has disconnected when it sends a change. It may have sent
    // the first one just before.
    changes += 1;
    const prLink = `https://github.com/acme/docs/pull/${changes}`;
    await site.upstream.setJob(id, { prLink });
    const requests = await site.upstream.requests();
    const ofProject = requests.filter(({ target }) => target.includes(`/${project}/`));
    const { now } = await site.upstream.clock();
    return now - ofProject.at(-1).at;
  };
  await expect.poll(timeSinceLastRequest, { intervals: [250] }).toBeGreaterThan(SILENCE_MS);
});

test("a keyboard is enough to sign in and start a job, which opens", async ({ visitor }) => {
  const { site, page, token } = visitor;
  const untilFocused = (name) =>
    page.waitForFunction((name) => {
      const { tagName, id, textContent } = document.activeElement;
      return [id, `${tagName} ${textContent?.trim()}`].includes(name);
    }, name);
  await page.goto(`${site.url}/?route=jobs`);
  await page.getByLabel("Access token").waitFor();
  await page.keyboard.press("Tab");
  await untilFocused("A Skip to content");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  await untilFocused("token");
  await page.keyboard.insertText(token());
  await page.keyboard.press("Enter");
  await untilFocused("H1 Agent jobs");
  await page.getByRole("button", { name: "New job" }).waitFor();
  await page.keyboard.press("n");
  await untilFocused("prompt");
  await page.keyboard.type("By keyboard");
  await page.keyboard.press("Control+Enter");
  await page.getByRole("article", { name: "By keyboard" }).waitFor();
  await untilFocused("H1 By keyboard");
});

test("the page has a strict policy, and its assets are immutable", async ({ visitor }) => {
  const { site, page } = visitor;
  const response = await page.goto(site.url);
  const headers = response.headers();
  const policy = headers["content-security-policy"];
  assert.match(policy, /default-src 'none'/);
  assert.doesNotMatch(policy, /'unsafe-inline'|'unsafe-eval'|\*|https?:/);
  assert.equal(headers["x-content-type-options"], "nosniff");
  assert.equal(headers["referrer-policy"], "no-referrer");
  assert.equal(headers["x-frame-options"], "DENY");
  const html = await response.text();
  const script = /src="(\/assets\/[^"]+\.js)"/.exec(html)?.[1];
  assert.ok(script, "the page has a script");
  const asset = await fetch(new URL(script, site.url));
  await asset.body?.cancel();
  assert.match(asset.headers.get("cache-control") ?? "", /immutable/);
  const robots = await (await fetch(new URL("/robots.txt", site.url))).text();
  assert.match(robots, /^Disallow: \/$/m);
});
