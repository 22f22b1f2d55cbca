/** The page as a whole: its door, its looks, its policy. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { accessibilityFaults, overflow } from "./browser.mjs";
import { startSite } from "./site.mjs";

const site = startSite();
const { visiting } = site;

describe("a token", () => {
  visiting("that has expired is refused without a request", async ({ page, record, token }) => {
    const now = Math.floor(Date.now() / 1000);
    await page.goto(site.gateway.url);
    await page.getByLabel("Access token").fill(token({ iat: now - 100, exp: now - 10 }));
    await page.getByRole("button", { name: "Sign in" }).click();
    await page
      .getByRole("alert")
      .getByText(/This access token expired on/)
      .waitFor();
    assert.ok(!record.urls.some((url) => /\/v[12]\//.test(url)));
  });

  visiting("that is the platform's own key is refused", async ({ page, record }) => {
    await page.goto(site.gateway.url);
    await page.getByLabel("Access token").fill("mint_not_a_real_key");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page
      .getByRole("alert")
      .getByText(/key of the platform/)
      .waitFor();
    assert.ok(!record.urls.some((url) => /\/v[12]\//.test(url)));
  });

  visiting(
    "without a scope says which one is missing, without a request",
    async ({ page, token, signIn, upstreamTargets }) => {
      await signIn(token({ scope: "jobs:read" }));
      await page.getByText("jobs:create", { exact: true }).waitFor();
      assert.equal(await page.getByRole("button", { name: "New job" }).count(), 0);
      await page.goto(`${site.gateway.url}/?route=views`);
      await page.getByText("analytics:read", { exact: true }).waitFor();
      await page.getByRole("link", { name: "Go to agent jobs" }).click();
      await page.getByRole("heading", { level: 1, name: "Agent jobs" }).waitFor();
      assert.deepEqual(await upstreamTargets(), []);
    },
  );

  visiting(
    "is in no address, and everything is forgotten on signing out",
    async ({ page, token, signIn, startJob }) => {
      const kept = token();
      await signIn(kept);
      await startJob("Leave no trace");
      const [{ id }] = await site.upstream.jobs();
      await site.upstream.setJob(id, { status: "never finished" });
      await page.reload();
      await page.getByRole("heading", { level: 1, name: "Agent jobs" }).waitFor();
      assert.ok(!page.url().includes(kept));
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
      assert.equal(await page.evaluate(() => sessionStorage.length), 0);
      assert.equal(await page.evaluate(() => localStorage.length), 0);
      assert.equal(await page.getByLabel("Access token").inputValue(), "");
      await untilQuiet();
    },
  );

  /** Waits until nobody asks the platform any more, where a watched job is looked at each second. */
  async function untilQuiet() {
    for (let before = -1, attempt = 0; attempt < 5; attempt++) {
      const { requests } = await site.upstream.counters();
      if (requests === before) return;
      before = requests;
      await new Promise((resolve) => setTimeout(resolve, 2500));
    }
    assert.fail("watching has not stopped");
  }
});

describe("the page", () => {
  for (const colorScheme of ["light", "dark"]) {
    const options = { colorScheme, viewport: { width: 375, height: 720 } };
    visiting(
      `fits a narrow window in ${colorScheme} colours`,
      async ({ page, signIn, startJob, openLastMonth }) => {
        await page.goto(site.gateway.url);
        await page.getByLabel("Access token").waitFor();
        assert.ok((await overflow(page)) <= 0, "sign in");
        await signIn();
        await startJob(`Add ${"averyveryverylongword".repeat(6)} to the guide`);
        assert.ok((await overflow(page)) <= 0, "jobs");
        await openLastMonth();
        assert.ok((await overflow(page)) <= 0, "page views");
        assert.equal(await page.getByRole("heading", { level: 1 }).count(), 1);
      },
      options,
    );
  }

  for (const colorScheme of ["light", "dark"]) {
    visiting(
      `breaks no rule of WCAG 2.2 AA that axe checks in ${colorScheme} colours`,
      async ({ page, signIn, startJob, sendPrompt, openLastMonth }) => {
        await page.goto(site.gateway.url);
        await page.getByLabel("Access token").waitFor();
        assert.deepEqual(await accessibilityFaults(page), [], "sign in");
        await signIn();
        const row = await startJob("Check the contrast");
        await row.getByRole("link", { name: /pull request/i }).waitFor();
        assert.deepEqual(await accessibilityFaults(page), [], "jobs");
        const fault = { kind: "reset", process: true };
        await site.upstream.fault({ operation: "agentJobs.create", fault });
        await sendPrompt("In doubt");
        await page.getByRole("button", { name: "Send anyway" }).waitFor();
        assert.deepEqual(await accessibilityFaults(page), [], "a job in doubt");
        await openLastMonth();
        assert.deepEqual(await accessibilityFaults(page), [], "page views");
      },
      { colorScheme },
    );
  }

  visiting("is used by keyboard alone", async ({ page, token }) => {
    const untilFocused = (name) =>
      page.waitForFunction((name) => {
        const { tagName, id, textContent } = document.activeElement;
        return [id, `${tagName} ${textContent?.trim()}`].includes(name);
      }, name);
    await page.goto(site.gateway.url);
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
    await untilFocused("A By keyboard");
    await page.keyboard.press("Enter");
    await page.getByRole("article", { name: "By keyboard" }).waitFor();
    await untilFocused("job-title");
  });

  test("is served with a strict policy, and its parts for ever", async () => {
    const response = await fetch(site.gateway.url);
    const policy = response.headers.get("content-security-policy");
    assert.match(policy, /default-src 'none'/);
    assert.doesNotMatch(policy, /'unsafe-inline'|'unsafe-eval'|\*|https?:/);
    assert.equal(response.headers.get("x-content-type-options"), "nosniff");
    assert.equal(response.headers.get("referrer-policy"), "no-referrer");
    assert.equal(response.headers.get("x-frame-options"), "DENY");
    const html = await response.text();
    const script = /src="(\/assets\/[^"]+\.js)"/.exec(html)?.[1];
    assert.ok(script, "the page has a script");
    const asset = await fetch(new URL(script, site.gateway.url));
    await asset.body?.cancel();
    assert.match(asset.headers.get("cache-control") ?? "", /immutable/);
    const robots = await (await fetch(new URL("/robots.txt", site.gateway.url))).text();
    assert.match(robots, /^Disallow: \/$/m);
  });
});
