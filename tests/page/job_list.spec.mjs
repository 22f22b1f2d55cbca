import assert from "node:assert/strict";
import { checkBothSchemes, matrixOf } from "./browser.mjs";
import { expect, test } from "./fixtures.mjs";

const untilTitles = (page, titles) =>
  page.waitForFunction((expected) => {
    const shown = [...document.querySelectorAll("li .live_rows-title")];
    return JSON.stringify(shown.map(({ textContent }) => textContent)) === expected;
  }, JSON.stringify(titles));
/** Toggles a value of a filter. */
async function choose(page, filter, value) {
  await page.getByRole("button", { name: new RegExp(`^${filter}`) }).click();
  await page.getByLabel(value, { exact: true }).click();
  await page.keyboard.press("Escape");
}
const hideTab = (page) =>
  page.evaluate(() => {
    Object.defineProperty(document, "hidden", { value: true, configurable: true });
  });

test("the list shows each job's author, time and result", async ({ visitor }) => {
  const { page, signIn, startElsewhere, endJob, rowOf } = visitor;
  await startElsewhere("Fix the typos\nin all pages", "zoë");
  await startElsewhere("Break it", "bot");
  await signIn();
  const row = rowOf("Fix the typos");
  await row.getByText("zoë", { exact: true }).waitFor();
  await row.locator("time").waitFor();
  await untilTitles(page, ["Break it", "Fix the typos"]);

  const { prLink } = await endJob("Fix the typos");
  await endJob("Break it", { status: "failed" });
  await row.getByText("Pull request ready").waitFor();
  const link = row.getByRole("link", { name: /^Pull request acme\/docs#\d+$/ });
  await expect(link).toHaveAttribute("href", prLink);
  await rowOf("Break it").getByText("Failed").waitFor();
});

test("a job created elsewhere is listed while the stream delivers nothing", async ({ visitor }) => {
  const { page, signIn, startElsewhere, rowOf } = visitor;
  await page.clock.install();
  // Never answers, like a proxy that buffers the response.
  await page.route("**/jobs/events", () => {});
  await signIn();
  await page.getByText("No jobs yet").waitFor();
  assert.equal(await page.getByText("Live", { exact: true }).count(), 0);
  await startElsewhere("Started by a colleague", "zoë");
  await page.clock.runFor(15_000);
  await rowOf("Started by a colleague").waitFor();
  await page.getByText(/^Updated /).waitFor();
});

test("filters by state, author and text are part of the address", async ({ visitor }) => {
  const { page, signIn, startElsewhere, endJob, rowOf } = visitor;
  await startElsewhere("Fix the typos", "zoë");
  await startElsewhere("Fix the links", "bot");
  await startElsewhere("Break it", "bot");
  await endJob("Break it", { status: "failed" });
  await signIn();
  await rowOf("Break it").getByText("Failed").waitFor();

  await choose(page, "Started by", "bot");
  await untilTitles(page, ["Break it", "Fix the links"]);
  await page.getByRole("heading", { level: 1 }).click();
  await page.keyboard.press("/");
  await page.keyboard.type("FIX");
  await untilTitles(page, ["Fix the links"]);
  await page.waitForURL(/author=bot.*text=FIX/);
  await page.reload();
  await untilTitles(page, ["Fix the links"]);

  await page.getByLabel("Search prompts").fill("nothing like it");
  await page.getByText("No jobs match").waitFor();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await rowOf("Fix the typos").waitFor();
  await expect(page.getByLabel("Search prompts")).toHaveValue("");
  await choose(page, "Status", "Failed");
  await untilTitles(page, ["Break it"]);
  await page.goBack();
  await rowOf("Fix the typos").waitFor();
});

test("clearing the filters cancels a search that is not sent yet", async ({ visitor }) => {
  const { page, signIn, startElsewhere, rowOf } = visitor;
  await startElsewhere("Fix the typos", "zoë");
  await signIn();
  await choose(page, "Status", "Failed");
  const search = page.getByLabel("Search prompts");
  const clear = page.getByRole("button", { name: "Clear filters" });
  await clear.waitFor();
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 1000);
  await search.fill("x");
  await clear.dispatchEvent("click");
  await page.clock.runFor(1000);
  await rowOf("Fix the typos").waitFor();
  await expect(search).toHaveValue("");
});

test("neither the list nor a job links to an unsafe pull request address", async ({ visitor }) => {
  const { page, signIn, startElsewhere, endJob, rowOf, openJob } = visitor;
  await startElsewhere("Be tricked");
  await endJob("Be tricked", { prLink: "javascript:alert(1)" });
  await signIn();
  await page.getByText("Unsafe pull request link").waitFor();
  await expect(rowOf("Be tricked").getByRole("link")).toHaveCount(1);
  const job = await openJob("Be tricked");
  await job.getByText("its address looks unsafe").waitFor();
  assert.equal(await job.getByRole("link").count(), 0);
});

test("three tabs share one event stream", async ({ visitor }) => {
  const { page, signIn, startElsewhere } = visitor;
  const open = new Set();
  let most = 0;
  page.context().on("request", (request) => {
    if (!new URL(request.url()).pathname.endsWith("/events")) return;
    open.add(request);
    most = Math.max(most, open.size);
  });
  page.context().on("requestfinished", (request) => open.delete(request));
  page.context().on("requestfailed", (request) => open.delete(request));
  await signIn();
  const tabs = [page, await page.context().newPage(), await page.context().newPage()];
  for (const tab of tabs.slice(1)) await tab.goto(page.url());
  for (const tab of tabs) await tab.getByText("No jobs yet").waitFor();
  await startElsewhere("News for all", "zoë");
  for (const tab of tabs) await tab.getByRole("link", { name: "News for all" }).waitFor();
  assert.ok(most <= 1, `${most} streams`);
});

test("a message announces the end, and the title in a hidden tab", async ({ visitor }) => {
  const { page, signIn, startJob, endJob } = visitor;
  const prompt = "Tell me when you are done";
  await signIn();
  await startJob(prompt);
  await page.waitForFunction(() => document.title.startsWith("(1) "));
  await hideTab(page);
  await endJob(prompt);
  await page.waitForFunction(() => document.title.startsWith("✓ "));
  await page.evaluate(() => {
    delete document.hidden;
    document.dispatchEvent(new Event("visibilitychange"));
  });
  await page.waitForFunction(() => document.title.startsWith("Agent jobs"));
  const messages = page.getByRole("region", { name: "Messages" });
  await messages.getByText(`Pull request ready: ${prompt}`).waitFor();
  await messages.getByRole("button", { name: "Open" }).click();
  await page.getByRole("article", { name: prompt }).waitFor();
});

test("system notifications appear only after the visitor allows them", async ({ visitor }) => {
  const { page, signIn, startJob, endJob } = visitor;
  await page.addInitScript(() => {
    const shown = [];
    const permissionRequests = [];
    class Notification extends EventTarget {
      static permission = "default";
      static async requestPermission() {
        permissionRequests.push("permission");
        Notification.permission = "granted";
        return "granted";
      }
      constructor(title, { body }) {
        super();
        shown.push(`${title}: ${body}`);
      }
    }
    Object.assign(window, { Notification, shown, permissionRequests });
  });
  await signIn();
  const button = page.getByRole("button", { name: "Notify me when my jobs finish" });
  await button.waitFor();
  assert.deepEqual(await page.evaluate(() => window.permissionRequests), []);
  await button.click();
  await page.getByRole("button", { name: "Stop notifying me" }).waitFor();
  await startJob("Notify me");
  await hideTab(page);
  await endJob("Notify me");
  await page.waitForFunction(() => window.shown.length === 1);
  assert.deepEqual(await page.evaluate(() => window.shown), ["Pull request ready: Notify me"]);
  assert.deepEqual(await page.evaluate(() => window.permissionRequests), ["permission"]);
});

for (const [width, options] of matrixOf([360, 1280])) {
  test(`job lists and jobs have no axe fault at ${width} pixels`, options, async ({ visitor }) => {
    const { site, page, signIn, startElsewhere, startJob, endJob, rowOf } = visitor;
    await page.setViewportSize({ width, height: 720 });
    const { openJob, openComposer, sendPrompt } = visitor;
    const check = (state) => checkBothSchemes(page, state);
    await signIn();
    await page.getByText("No jobs yet").waitFor();
    await check("an empty list");
    await startElsewhere("Fail", "colleague-with-a-long-name@subdomain.example.com");
    await startElsewhere("Ask");
    await startElsewhere(`Rename ${"averyveryverylongword".repeat(5)}`);
    await startJob("Check it all\n\nLine by line.");
    await endJob("Fail", { status: "failed" });
    await endJob("Ask", { status: "needs review" });
    await endJob("Check it all");
    await rowOf("Fail").getByText("Failed").waitFor();
    await rowOf("Check it all").getByText("Pull request ready").waitFor();
    await check("a list of jobs");
    await (await openComposer()).fill("Half a thought");
    await page.getByText("Templates", { exact: true }).click();
    await check("templates");
    await page.getByRole("button", { name: "Add an example" }).click();
    await page.getByRole("list", { name: "Drafts" }).waitFor();
    await check("drafts");
    const fault = { kind: "reset", process: true };
    await site.upstream.fault({ operation: "agentJobs.create", fault });
    await sendPrompt("In doubt");
    await page.getByRole("button", { name: "Send again" }).waitFor();
    await check("a job in doubt");
    await page.keyboard.press("Escape");
    const job = await openJob("Check it all");
    await job.getByLabel("Follow-up message").fill("Also the images");
    await job.getByRole("button", { name: "Send follow-up" }).click();
    await job.getByRole("list", { name: "Follow-ups sent" }).waitFor();
    await check("a job");
    await page.goBack();
    const failed = await openJob("Fail");
    await failed.getByText(/^This job failed/).waitFor();
    await check("a failed job");
  });
}
