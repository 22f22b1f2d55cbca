/**
 * Jobs on the page. A job leads from the prompt to the pull request. Failures and limits on the way
 * keep the prompt, and no retry starts a second job.
 */
import assert from "node:assert/strict";
import { expect } from "@playwright/test";
import { accessibilityFaults } from "./browser.mjs";
import { test } from "./fixtures.mjs";
import { CREATE_LIMIT } from "./sites.mjs";
import { untilFocused } from "./visitor.mjs";

/** The platform processes the request, and its response is lost. */
const LOST_RESPONSE = { kind: "reset", process: true };

const creations = async ({ upstream }) =>
  (await upstream.requests()).filter(({ operation }) => operation === "agentJobs.create");
const untilPromptFocused = (page) =>
  page.waitForFunction(() => document.activeElement?.id === "prompt");

test.describe("job", () => {
  test("a job leads to a pull request and takes a follow-up", async ({ visitor }) => {
    const { site, signIn, startJob, openJob, endJob } = visitor;
    const prompt = "Fix the broken links\n\nAll of them.";
    await signIn();
    const row = await startJob(prompt);
    await row.getByText("Working", { exact: true }).waitFor();
    const { prLink } = await endJob(prompt);
    await row.getByText("Pull request ready", { exact: true }).waitFor();

    const job = await openJob("Fix the broken links");
    await job.getByText("All of them.").waitFor();
    await job.getByText("completed", { exact: true }).waitFor();
    const link = job.getByRole("link", { name: /^Open pull request acme\/docs#\d+$/ });
    await expect(link).toHaveAttribute("href", prLink);
    assert.match((await link.getAttribute("rel")) ?? "", /noopener/);

    const box = job.getByLabel("Follow-up message");
    await box.fill("Also the images");
    await box.press("Control+Enter");
    const thread = job.getByRole("list", { name: "Follow-ups sent" });
    await thread.getByText("Also the images").waitFor();
    await job.getByText("Working", { exact: true }).first().waitFor();
    await endJob(prompt);
    await job.getByText("Pull request ready", { exact: true }).waitFor();
    await expect(box).toHaveValue("");
    const timeline = job.getByRole("list", { name: "Timeline" });
    await timeline.filter({ hasText: /Started.*Follow-up sent.*Completed/s }).waitFor();

    const [followed] = await site.upstream.jobs();
    assert.equal(followed.prompt, prompt);
    assert.deepEqual(followed.messages, ["Also the images"]);
  });

  test("starting a job opens it, and its title names the page and the tab", async ({ visitor }) => {
    const { page, signIn, startAndOpenJob, endJob, rowOf } = visitor;
    const main = page.getByRole("main");
    await signIn();
    const job = await startAndOpenJob("## Fix the typos\n\nAll of them.");
    await untilFocused(page, "Fix the typos");
    await page.getByRole("heading", { level: 1, name: "Fix the typos" }).waitFor();
    await job.getByText(/^(Just started|Running for)/).waitFor();
    await page.waitForFunction(() => document.title === "(1) Fix the typos · Working · Quillgate");
    await endJob("## Fix the typos");
    await page.waitForFunction(
      () => document.title === "Fix the typos · Pull request ready · Quillgate",
    );
    await job.getByText(/^Took /).waitFor();
    // The prompt repeats the title only if it has more.
    await expect(main.getByText("Fix the typos")).toHaveCount(2);

    const routes = page.getByRole("navigation", { name: "Main" });
    await routes.getByRole("link", { name: "Agent jobs" }).click();
    await rowOf("Fix the typos").waitFor();
    await page.waitForURL((url) => !url.searchParams.has("job"));
    const short = await startAndOpenJob("Fix the links");
    await short.getByRole("button", { name: "Run again with this prompt" }).waitFor();
    await expect(main.getByText("Fix the links")).toHaveCount(1);
  });

  test("readers of a job with a one-line prompt see no empty column", async ({ visitor }) => {
    const { site, page, token, signIn, startSession, startAndOpenJob, openJob } = visitor;
    await signIn();
    await startAndOpenJob("Fix the typos");
    await startSession(token({ scope: "jobs:read" }));
    await page.goto(`${site.url}/?route=jobs`);
    const job = await openJob("Fix the typos");
    const title = await page.getByRole("heading", { level: 1 }).boundingBox();
    const about = job.getByRole("complementary", { name: "About this job" });
    assert.equal((await about.boundingBox()).x, title.x);
  });

  test("a job without changes explains that and leads to a follow-up", async ({ visitor }) => {
    const { page, signIn, startAndOpenJob, endJob } = visitor;
    await signIn();
    const job = await startAndOpenJob("Look around");
    await endJob("Look around", { prLink: null });
    await job.getByText("The agent finished without changing a file").waitFor();
    assert.deepEqual(await accessibilityFaults(page), []);
    await job.getByRole("button", { name: "Write a follow-up" }).click();
    await page.waitForFunction(() => document.activeElement?.id.startsWith("follow-up-"));
  });

  test("a failed job shows its failure before its pull request", async ({ visitor }) => {
    const { site, page, signIn, startAndOpenJob } = visitor;
    await signIn();
    const job = await startAndOpenJob("Break it late");
    const [{ id }] = await site.upstream.jobs();
    const prLink = "https://github.com/acme/docs/pull/7";
    await site.upstream.setJob(id, { status: "failed", prLink });
    await job.getByText(/^This job failed/).waitFor();
    await job.getByText("It opened a pull request before it failed").waitFor();
    const link = job.getByRole("link", { name: /^Open pull request/ });
    await expect(link).toHaveAttribute("href", prLink);
    assert.doesNotMatch((await link.getAttribute("class")) ?? "", /primary/);
    const [failure, offer] = await Promise.all([
      job.locator(".problem").boundingBox(),
      link.boundingBox(),
    ]);
    assert.ok(failure.y < offer.y, JSON.stringify([failure, offer]));
    assert.equal(await page.getByRole("alert").count(), 0);
  });

  test("a double click starts one job", async ({ visitor }) => {
    const { site, page, signIn, openComposer, rowOf, backToList } = visitor;
    await signIn();
    const box = await openComposer();
    await box.fill("Only once");
    await page.getByRole("button", { name: "Start job" }).dblclick();
    await page.getByRole("article", { name: "Only once" }).waitFor();
    await backToList();
    await rowOf("Only once").waitFor();
    const listed = page.waitForResponse((response) => response.url().includes("/jobs?"));
    await page.getByRole("button", { name: "Refresh" }).click();
    await listed;
    assert.equal((await site.upstream.jobs()).length, 1);
  });

  test("Try again puts a failed job's prompt into a new draft", async ({ visitor }) => {
    const { page, signIn, startJob, openJob, endJob, openComposer } = visitor;
    const prompt = "Break it\nwith all its lines";
    await signIn();
    const row = await startJob(prompt);
    await endJob(prompt, { status: "failed" });
    await row.getByText("Failed", { exact: true }).waitFor();
    await (await openComposer()).fill("Half a thought");
    const job = await openJob("Break it");
    await job.getByText(/^This job failed/).waitFor();
    await job.getByText("No reason was given.").waitFor();
    await job.getByRole("button", { name: "Try again" }).click();
    await untilPromptFocused(page);
    await expect(await openComposer()).toHaveValue(prompt);
    const drafts = page.getByRole("list", { name: "Drafts" });
    await drafts.getByRole("button", { name: "Half a thought" }).waitFor();
  });

  test("a reload keeps the draft and still follows the job", async ({ visitor }) => {
    const { page, signIn, startJob, endJob, openComposer, rowOf } = visitor;
    await signIn();
    await startJob("Survive a reload");
    await (await openComposer()).fill("Half a thought");
    await page.reload();
    await rowOf("Survive a reload").getByText("Working", { exact: true }).waitFor();
    await endJob("Survive a reload");
    await rowOf("Survive a reload").getByText("Pull request ready", { exact: true }).waitFor();
    await expect(await openComposer()).toHaveValue("Half a thought");
  });

  test("a lost response between page and gateway starts one job", async ({ visitor }) => {
    const { site, page, signIn, startJob } = visitor;
    await signIn();
    await page.route(
      "**/job",
      async (route) => {
        await route.fetch();
        await route.abort();
      },
      { times: 1 },
    );
    await startJob("Only once, though it was sent twice");
    assert.equal((await site.upstream.jobs()).length, 1);
    assert.equal((await creations(site)).length, 1);
  });

  test("sending again while the first request is pending starts one job", async ({ visitor }) => {
    const { site, page, signIn, sendPrompt } = visitor;
    await signIn();
    await site.upstream.hold({ operation: "agentJobs.create" });
    await sendPrompt("Patience");
    await site.upstream.untilHeld(1);
    await page.reload();
    const conflict = page.waitForResponse((response) => response.status() === 409);
    await page.getByRole("button", { name: "Start job" }).click();
    await page.getByRole("button", { name: "Sending…" }).waitFor();
    await conflict;
    await site.upstream.release();
    await page.getByRole("article", { name: "Patience" }).waitFor();
    assert.equal((await creations(site)).length, 1);
  });

  test("cancelling a slow request and sending it again starts one job", async ({ visitor }) => {
    const { site, page, signIn, sendPrompt, rowOf } = visitor;
    await signIn();
    await site.upstream.hold({ operation: "agentJobs.create" });
    const box = await sendPrompt("It hangs");
    await site.upstream.untilHeld(1);
    await page.getByRole("button", { name: "Cancel" }).click();
    const alert = page.getByRole("alert").filter({ hasText: "You stopped waiting" });
    await alert.getByText(/starts the same prompt only once/).waitFor();
    await expect(box).toHaveValue("It hangs");
    await untilPromptFocused(page);
    await site.upstream.release();
    await rowOf("It hangs").waitFor();
    await alert.getByRole("button", { name: "Send again" }).click();
    await alert.waitFor({ state: "detached" });
    await page.getByRole("article", { name: "It hangs" }).waitFor();
    assert.equal((await creations(site)).length, 1);
  });
});

test.describe("job in doubt", () => {
  /** Sends a prompt and loses the platform's response. Returns the alert. */
  async function loseResponse({ site, page, sendPrompt }, prompt) {
    await site.upstream.fault({ operation: "agentJobs.create", fault: LOST_RESPONSE });
    await sendPrompt(prompt);
    const alert = page.getByRole("alert").filter({ hasText: "We can’t tell if this job started" });
    await alert.getByText("Request id").waitFor();
    return alert;
  }

  test("a job in doubt is sent again only after Send again", async ({ visitor }) => {
    const { site, page, signIn, openComposer } = visitor;
    await signIn();
    const alert = await loseResponse(visitor, "In doubt");
    await alert.getByRole("button", { name: "Keep as draft" }).click();
    await alert.waitFor({ state: "detached" });
    await expect(await openComposer()).toHaveValue("In doubt");

    await page.getByRole("button", { name: "Start job" }).click();
    await alert.waitFor();
    await page.reload();
    await alert.waitFor();
    assert.equal((await creations(site)).length, 1);

    await alert.getByRole("button", { name: "Send again" }).click();
    await page.getByRole("article", { name: "In doubt" }).waitFor();
    await alert.waitFor({ state: "detached" });
    await expect(await openComposer()).toHaveValue("");
    assert.equal((await creations(site)).length, 2);
    assert.equal((await site.upstream.jobs()).length, 2, "the platform had started the first too");
  });

  test("a job in doubt links to the dashboard and the pull requests", async ({ visitor }) => {
    const { signIn, startElsewhere, endJob, rowOf } = visitor;
    // The page learns the repository from the pull request of an earlier job.
    await startElsewhere("Started by a colleague");
    await endJob("Started by a colleague");
    await signIn();
    await rowOf("Started by a colleague").getByText("Pull request ready").waitFor();
    const alert = await loseResponse(visitor, "Where is it");
    const links = await alert
      .getByRole("link")
      .evaluateAll((links) => links.map(({ href, target }) => [href, target]));
    assert.deepEqual(links, [
      ["https://app.mintlify.com/", "_blank"],
      ["https://github.com/acme/docs/pulls?q=is:pr+sort:created-desc", "_blank"],
    ]);
    for (const link of await alert.getByRole("link").all()) assert.ok(await link.isVisible());
  });

  test("another draft with the same prompt is in doubt too, but not another prompt", async ({
    visitor,
  }) => {
    const { site, page, signIn, openComposer } = visitor;
    await signIn();
    const alert = await loseResponse(visitor, "In doubt");
    await page.getByRole("button", { name: "New draft" }).click();
    await alert.waitFor({ state: "detached" });
    const box = await openComposer();
    await box.fill("In doubt");
    await page.getByRole("button", { name: "Start job" }).click();
    await alert.waitFor();
    assert.equal((await creations(site)).length, 1);
    await box.fill("Certain");
    await page.getByRole("button", { name: "Start job" }).click();
    await page.getByRole("article", { name: "Certain" }).waitFor();
    await alert.waitFor({ state: "detached" });
  });

  test("a follow-up in doubt is sent again after Send again", async ({ visitor }) => {
    const { site, signIn, startJob, endJob, openJob } = visitor;
    await signIn();
    const row = await startJob("Take a follow-up");
    await endJob("Take a follow-up");
    await row.getByText("Pull request ready", { exact: true }).waitFor();
    const job = await openJob("Take a follow-up");
    await site.upstream.fault({ operation: "agentJobs.sendMessage", fault: LOST_RESPONSE });
    await job.getByLabel("Follow-up message").fill("Once more");
    await job.getByRole("button", { name: "Send follow-up" }).click();
    const alert = job
      .getByRole("alert")
      .filter({ hasText: "We can’t tell if this follow-up arrived" });
    await alert.getByRole("button", { name: "Send again" }).click();
    const thread = job.getByRole("list", { name: "Follow-ups sent" });
    await thread.getByText("Once more").first().waitFor();
    const [{ messages }] = await site.upstream.jobs();
    assert.deepEqual(messages, ["Once more", "Once more"]);
  });
});

test.describe("limit", () => {
  async function assertRefused({ page, sendPrompt }, reason) {
    const box = await sendPrompt("One too many");
    const alert = page.getByRole("region", { name: "New job" }).getByRole("alert");
    await alert.getByText(/Try again at/).waitFor();
    await expect(box).toHaveValue("One too many");
    await alert.getByText(reason).waitFor();
  }

  test("the project's limit on new jobs shows the rest and a time", async ({ visitor }) => {
    const { site, page, subject, signIn, startJob, startElsewhere, openComposer } = visitor;
    await signIn();
    const earlier = Array.from({ length: CREATE_LIMIT - 1 }, (_, at) => `Number ${at + 1}`);
    await Promise.all(earlier.map((prompt) => startElsewhere(prompt, subject)));
    await startJob("The last");
    await openComposer();
    await page.getByText(`0 of ${CREATE_LIMIT} jobs left this hour.`).waitFor();
    await assertRefused(visitor, "This project has reached its limit for new jobs");
    assert.equal((await creations(site)).length, CREATE_LIMIT);
  });

  test("the token's own quota is named instead of the project's limit", async ({ visitor }) => {
    const { page, signIn, startJob, token, openComposer } = visitor;
    await signIn(token({ quota: { "create-job": 1 } }));
    await startJob("My only one");
    await openComposer();
    await page.getByText("0 of 1 job left this hour.").waitFor();
    await assertRefused(visitor, "You’ve used your own quota");
  });
});

test.describe("panel for a new job", () => {
  test("a rejected prompt reopens the panel that was closed", async ({ visitor }) => {
    const { site, page, signIn, sendPrompt } = visitor;
    await signIn();
    const next = { kind: "status", status: 400 };
    await site.upstream.hold({ operation: "agentJobs.create", next });
    await sendPrompt("Refuse me");
    await site.upstream.untilHeld(1);
    await page.keyboard.press("Escape");
    const panel = page.getByRole("region", { name: "New job" });
    await panel.waitFor({ state: "detached" });
    await site.upstream.release();
    await panel.getByRole("alert").getByText("The gateway rejected this").waitFor();
  });

  test("the panel opens by n, closes by Escape and keeps its draft", async ({ visitor }) => {
    const { page, signIn } = visitor;
    await signIn();
    await page.getByRole("button", { name: "New job" }).waitFor();
    await page.keyboard.press("n");
    await untilPromptFocused(page);
    await page.keyboard.type("Half a thought");
    await page.keyboard.press("Escape");
    await page.getByRole("region", { name: "New job" }).waitFor({ state: "detached" });
    await untilFocused(page, "New job");
    await page.keyboard.press("n");
    await page.waitForFunction(() => document.activeElement?.value === "Half a thought");
  });

  test("Run again adds a draft, and a discarded draft can be restored", async ({ visitor }) => {
    const { page, signIn, startJob, openJob, openComposer } = visitor;
    const prompt = "Run me again\n\nThe whole of me.";
    await signIn();
    await startJob(prompt);
    await (await openComposer()).fill("Half a thought");
    const job = await openJob("Run me again");
    await job.getByRole("button", { name: "Run again with this prompt" }).click();
    const box = await openComposer();
    await expect(box).toHaveValue(prompt);
    const drafts = page.getByRole("list", { name: "Drafts" });
    await drafts.getByRole("button", { name: "Half a thought" }).click();
    await expect(box).toHaveValue("Half a thought");
    await page.getByRole("button", { name: "Discard draft" }).click();
    await page
      .getByRole("region", { name: "Messages" })
      .getByRole("button", { name: "Undo" })
      .click();
    await expect(box).toHaveValue("Half a thought");
  });
});
