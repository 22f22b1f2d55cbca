/** The list of a project's jobs, and the page of one job. */
import assert from "node:assert/strict";
import { expect } from "@playwright/test";
import { accessibilityFaults, checkBothSchemes, repeats } from "./browser.mjs";
import { test } from "./fixtures.mjs";
import { untilFocused } from "./visitor.mjs";

const PAGE_LENGTH = 25;

const rowsOf = (page) =>
  page.getByRole("region", { name: "Jobs in this project" }).getByRole("listitem");
/** Waits until the list has exactly these titles. */
const untilTitles = (page, titles) =>
  page.waitForFunction((expected) => {
    const shown = [...document.querySelectorAll("li .live_rows-title")];
    return JSON.stringify(shown.map(({ textContent }) => textContent)) === expected;
  }, JSON.stringify(titles));
const jobUrl = (site, project, id) => `${site.url}/?route=jobs&project=${project}&job=${id}`;
/** Toggles a value of a filter. */
async function choose(page, filter, value) {
  await page.getByRole("button", { name: new RegExp(`^${filter}`) }).click();
  await page.getByLabel(value, { exact: true }).click();
  await page.keyboard.press("Escape");
}
/** Makes the page believe that its tab is hidden. */
const hideTab = (page) =>
  page.evaluate(() => {
    Object.defineProperty(document, "hidden", { value: true, configurable: true });
  });

test.describe("list", () => {
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

  test("a job created elsewhere is listed while the stream delivers nothing", async ({
    visitor,
  }) => {
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

  test("no control moves on a phone when the list becomes live; it says when it is offline", async ({
    visitor,
  }) => {
    const { page, signIn } = visitor;
    let release;
    const isReleased = new Promise((resolve) => {
      release = resolve;
    });
    await page.setViewportSize({ width: 412, height: 823 });
    await page.route("**/jobs/events", async (route) => {
      await isReleased;
      await route.continue();
    });
    await signIn();
    const foot = page.locator(".list_foot-foot");
    const readBoxes = () =>
      foot.locator("button:visible, summary").evaluateAll((controls) =>
        controls.map((control) => {
          const { left, top } = control.getBoundingClientRect();
          return { text: control.textContent, left, top };
        }),
      );
    await foot.getByText("Connecting…", { exact: true }).waitFor();
    const before = await readBoxes();
    release();
    await foot.getByText("Live", { exact: true }).waitFor();
    assert.deepEqual(await readBoxes(), before);
    await page.context().setOffline(true);
    await foot.getByText("Offline", { exact: true }).waitFor();
    await page.context().setOffline(false);
    await foot.getByText("Offline", { exact: true }).waitFor({ state: "detached" });
  });

  test("a filter takes several states and tells results with and without a change apart", async ({
    visitor,
  }) => {
    const { page, signIn, startElsewhere, endJob, rowOf } = visitor;
    for (const prompt of ["Working", "Changed", "Unchanged", "Broken"])
      await startElsewhere(prompt);
    await endJob("Changed");
    await endJob("Unchanged", { prLink: null });
    await endJob("Broken", { status: "failed" });
    await signIn();
    await rowOf("Unchanged").getByText("No changes").waitFor();
    await choose(page, "Status", "Pull request ready");
    await untilTitles(page, ["Changed"]);
    await choose(page, "Status", "Failed");
    await untilTitles(page, ["Broken", "Changed"]);
    await page.waitForURL(/state=ready&state=failed/);
    await page.reload();
    await untilTitles(page, ["Broken", "Changed"]);
    await page.getByRole("button", { name: "Status: 2 selected" }).waitFor();
    await choose(page, "Status", "Pull request ready");
    await choose(page, "Status", "Failed");
    await choose(page, "Status", "No changes");
    await untilTitles(page, ["Unchanged"]);
  });

  test("j and k move between rows, and Enter opens one", async ({ visitor }) => {
    const { page, signIn, startElsewhere, rowOf } = visitor;
    await startElsewhere("First");
    await startElsewhere("Second");
    await signIn();
    await rowOf("Second").waitFor();
    await page.getByRole("heading", { level: 3, name: "Today" }).waitFor();
    await page.getByText("2 jobs", { exact: true }).waitFor();
    await page.keyboard.press("j");
    await untilFocused(page, "Second");
    await page.keyboard.press("j");
    await untilFocused(page, "First");
    await page.keyboard.press("k");
    await page.keyboard.press("Enter");
    await page.getByRole("article", { name: "Second" }).waitFor();
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

  test("Show more during a refresh adds the next page without repeating a job", async ({
    visitor,
  }) => {
    const { page, signIn, startElsewhere } = visitor;
    const prompts = Array.from({ length: PAGE_LENGTH + 3 }, (_, at) => `Number ${at + 1}`);
    for (const prompt of prompts) await startElsewhere(prompt);
    await signIn();
    const more = page.getByRole("button", { name: "Show more" });
    await more.waitFor();
    await expect(rowsOf(page)).toHaveCount(PAGE_LENGTH);
    let release;
    const pressed = new Promise((resolve) => {
      release = resolve;
    });
    await page.route("**/jobs?*", async (route) => {
      await pressed;
      await route.continue();
    });
    await startElsewhere("Number 29");
    await page.getByRole("button", { name: "Refresh" }).click();
    await page.getByRole("link", { name: "Number 29" }).waitFor();
    await more.focus();
    await page.keyboard.press("Enter");
    release();
    await more.waitFor({ state: "detached" });
    await untilTitles(page, ["Number 29", ...prompts.reverse()]);
  });

  test("without the scope jobs:read the list explains why it is empty", async ({ visitor }) => {
    const { page, token, signIn, record } = visitor;
    await signIn(token({ scope: "jobs:create" }));
    await page.getByText("permission to see jobs").waitFor();
    assert.equal(await page.getByRole("button", { name: "Refresh" }).count(), 0);
    assert.ok(!record.urls.some((url) => url.includes("/v2/")));
  });

  test("Try again loads a list that could not be reached", async ({ visitor }) => {
    const { page, signIn, startElsewhere, rowOf } = visitor;
    await startElsewhere("Still here");
    // Only the request of the button passes.
    const isRetried = () => page.evaluate(() => "retried" in document.body.dataset);
    await page.route("**/jobs?*", async (route) => {
      if (await isRetried()) await route.continue();
      else await route.abort();
    });
    await signIn();
    const alert = page.getByRole("alert").filter({ hasText: "Something blocked this request" });
    const retry = alert.getByRole("button", { name: "Try again" });
    await retry.evaluate((button) =>
      button.addEventListener("click", () => {
        document.body.dataset.retried = "";
      }),
    );
    await retry.click();
    await rowOf("Still here").waitFor();
    await alert.waitFor({ state: "detached" });
  });

  test("neither the list nor a job links to an unsafe pull request address", async ({
    visitor,
  }) => {
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
});

test.describe("event streams", () => {
  test("a tab opens at most two event streams for eight active jobs", async ({ visitor }) => {
    const { page, subject, signIn, startJob, openJob, startElsewhere } = visitor;
    const streams = countStreams(page.context());
    for (let n = 1; n <= 7; n++) await startElsewhere(`Number ${n}`, subject);
    await signIn();
    await startJob("The eighth");
    await openJob("The eighth");
    await page.goBack();
    await openJob("Number 3");
    assert.ok(streams.max <= 2, `${streams.max} streams`);
  });

  test("three tabs share one event stream", async ({ visitor }) => {
    const { page, signIn, startElsewhere } = visitor;
    const streams = countStreams(page.context());
    await signIn();
    const tabs = [page, await page.context().newPage(), await page.context().newPage()];
    for (const tab of tabs.slice(1)) await tab.goto(page.url());
    for (const tab of tabs) await tab.getByText("No jobs yet").waitFor();
    await startElsewhere("News for all", "zoë");
    for (const tab of tabs) await tab.getByRole("link", { name: "News for all" }).waitFor();
    assert.ok(streams.max <= 1, `${streams.max} streams`);
  });

  /** Tracks `max`, the most event streams that the tabs of a browser had open at the same time. */
  function countStreams(context) {
    const open = new Set();
    const streams = { max: 0 };
    context.on("request", (request) => {
      if (!new URL(request.url()).pathname.endsWith("/events")) return;
      open.add(request);
      streams.max = Math.max(streams.max, open.size);
    });
    context.on("requestfinished", (request) => open.delete(request));
    context.on("requestfailed", (request) => open.delete(request));
    return streams;
  }
});

test.describe("page of a job", () => {
  test("a job has its own address and leads back to its row", async ({ visitor }) => {
    const { site, page, signIn, startElsewhere, openJob, backToList, project } = visitor;
    const { id } = await startElsewhere("Open me", "zoë");
    await signIn();
    await page.getByRole("link", { name: "Open me" }).focus();
    await page.keyboard.press("Enter");
    await page.waitForURL(jobUrl(site, project, id));
    const job = page.getByRole("article", { name: "Open me" });
    await job.getByText(id, { exact: true }).waitFor();
    await untilFocused(page, "Open me");
    await backToList();
    await page.getByRole("button", { name: "New job" }).waitFor();
    await untilFocused(page, "Open me");
    await openJob("Open me");
    await page.goBack();
    await rowsOf(page).first().waitFor();
  });

  test("the copy buttons copy a job's link and id", async ({ visitor }) => {
    const { site, page, startSession, startElsewhere, endJob, project } = visitor;
    const { id } = await startElsewhere("Shared", "zoë");
    await endJob("Shared");
    await startSession();
    const link = jobUrl(site, project, id);
    await page.goto(link);
    const job = page.getByRole("article", { name: "Shared" });
    await job.getByText("Pull request ready", { exact: true }).waitFor();
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const readClipboard = () => page.evaluate(() => navigator.clipboard.readText());
    await job.getByRole("button", { name: "Copy job link" }).click();
    await job.getByRole("button", { name: "Copied" }).waitFor();
    await expect.poll(readClipboard).toBe(link);
    await job.getByRole("button", { name: "Copy ID" }).click();
    await expect.poll(readClipboard).toBe(id);
  });

  test("an unknown job id shows an explanation and no clock", async ({ visitor }) => {
    const { site, page, startSession, project, backToList } = visitor;
    await startSession();
    await page.goto(jobUrl(site, project, "no-such-job"));
    const job = page.getByRole("article");
    await job.getByText(`Job not found in ${project}`).waitFor();
    assert.equal(await job.locator("time").count(), 0);
    assert.equal(await job.getByText("Watching for updates").count(), 0);
    await backToList();
    await page.getByText("Open a job by ID").click();
    await page.getByLabel("Job ID").fill(" no-such-job ");
    await page.getByRole("button", { name: "Open", exact: true }).click();
    await job.getByText("Job not found").waitFor();
  });

  test("a long prompt has a title of at most two lines", async ({ visitor }) => {
    const { page, signIn, sendPrompt } = visitor;
    await signIn();
    const paragraph = "Rewrite the guide so that it is clear, complete and short. "
      .repeat(14)
      .trim();
    await sendPrompt(paragraph);
    const job = page.getByRole("article");
    const title = page.getByRole("heading", { level: 1, name: /^Rewrite the guide/ });
    await title.waitFor();
    const lines = await title.evaluate((element) => {
      const { lineHeight } = getComputedStyle(element);
      return Math.round(element.getBoundingClientRect().height / Number.parseFloat(lineHeight));
    });
    assert.ok(lines <= 2, `${lines} lines`);
    await job.getByText(paragraph, { exact: true }).waitFor();
  });

  test("a follow-up sent from another tab appears in this one", async ({ visitor }) => {
    const { page, signIn, startJob, openJob } = visitor;
    await signIn();
    await startJob("Talk to me");
    const job = await openJob("Talk to me");
    const other = await page.context().newPage();
    await other.goto(page.url());
    await other.getByLabel("Follow-up message").fill("From the other tab\nin two lines");
    await other.getByRole("button", { name: "Send follow-up" }).click();
    const thread = job.getByRole("list", { name: "Follow-ups sent" });
    await thread.getByText("in two lines").waitFor();
    await other.getByRole("list", { name: "Follow-ups sent" }).getByText("in two lines").waitFor();
    await other.close();
  });
});

test.describe("end of a job", () => {
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
});

for (const width of [1280, 360]) {
  test.describe(`${width} pixels`, repeats(width !== 360), () => {
    test.use({ viewport: { width, height: 720 } });

    test(`lists of jobs and job pages have no axe fault at ${width} pixels`, async ({
      visitor,
    }) => {
      const { site, page, signIn, startElsewhere, startJob, endJob, rowOf } = visitor;
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
  });
}

test.describe("forced colours", () => {
  test.use({ forcedColors: "active" });

  test("forced colours keep the border of a job's state", async ({ visitor }) => {
    const { page, signIn, startElsewhere, endJob, openJob, rowOf } = visitor;
    await startElsewhere("Fail");
    await endJob("Fail", { status: "failed" });
    await signIn();
    await rowOf("Fail").getByText("Failed").waitFor();
    const border = await rowOf("Fail")
      .locator(".pill")
      .evaluate((pill) => getComputedStyle(pill).borderTopStyle);
    assert.equal(border, "solid");
    assert.deepEqual(await accessibilityFaults(page), []);
    await openJob("Fail");
    assert.deepEqual(await accessibilityFaults(page), []);
  });
});
