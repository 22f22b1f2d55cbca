/** Jobs on the page: from a prompt to a pull request, and whatever may happen on the way. */
import assert from "node:assert/strict";
import { describe } from "node:test";
import { startSite } from "./site.mjs";

const CREATE_LIMIT = 4;
const site = startSite({ vars: { CREATE_LIMIT_PER_HOUR: String(CREATE_LIMIT) } });
const { visiting } = site;

const creations = async () =>
  (await site.upstream.requests()).filter(({ operation }) => operation === "agentJobs.create");
const untilFocused = (page, text) =>
  page.waitForFunction((text) => document.activeElement?.textContent === text, text);

describe("a job", () => {
  visiting("goes from a prompt to a pull request, and takes a follow-up", async (visitor) => {
    const { page, signIn, startJob, openJob } = visitor;
    await signIn();
    const row = await startJob("Fix the broken links\n\nAll of them.");
    await row.getByText("Working", { exact: true }).waitFor();
    await untilFocused(page, "Fix the broken links");
    await row.getByText("Pull request ready", { exact: true }).waitFor();

    const job = await openJob("Fix the broken links");
    await job.getByText("All of them.").waitFor();
    await job.getByText("completed", { exact: true }).waitFor();
    const [{ prLink }] = await site.upstream.jobs();
    const link = job.getByRole("link", { name: /^Open pull request acme\/docs#\d+$/ });
    assert.equal(await link.getAttribute("href"), prLink);
    assert.match((await link.getAttribute("rel")) ?? "", /noopener/);

    const box = job.getByLabel("Follow-up message");
    await box.fill("Also the images");
    await box.press("Control+Enter");
    const thread = job.getByRole("list", { name: "Follow-ups sent" });
    await thread.getByText("Also the images").waitFor();
    await job.getByText("Working", { exact: true }).first().waitFor();
    await job.getByText("Pull request ready", { exact: true }).waitFor();
    assert.equal(await box.inputValue(), "");
    const timeline = job.getByRole("list", { name: "Timeline" });
    await timeline.filter({ hasText: /Started.*Follow-up sent.*Completed/s }).waitFor();

    const [followed] = await site.upstream.jobs();
    assert.equal(followed.prompt, "Fix the broken links\n\nAll of them.");
    assert.deepEqual(followed.messages, ["Also the images"]);
  });

  visiting("is started once by a double click", async ({ page, signIn, openComposer, rowOf }) => {
    await signIn();
    const box = await openComposer();
    await box.fill("Only once");
    await page.getByRole("button", { name: "Start job" }).dblclick();
    await rowOf("Only once").waitFor();
    const listed = page.waitForResponse((response) => response.url().includes("/jobs?"));
    await page.getByRole("button", { name: "Refresh" }).click();
    await listed;
    assert.equal((await site.upstream.jobs()).length, 1);
  });

  visiting("that changed nothing, failed or has an unknown status says so", async (visitor) => {
    const { signIn, startJob } = visitor;
    await signIn();
    const failing = await startJob("Break it [fail]");
    const idle = await startJob("Look around [no-changes]");
    const waiting = await startJob("Ask first [status:needs review]");
    const [job] = (await site.upstream.jobs()).filter(({ prompt }) => prompt.includes("Ask first"));
    // It ends with a pull request of its own, if that takes long.
    await site.upstream.setJob(job.id, { status: "needs review", prLink: null });
    await waiting.getByText("needs review").first().waitFor();
    await failing.getByText("Failed", { exact: true }).waitFor();
    await idle.getByText("Done, no changes", { exact: true }).waitFor();
    for (const row of [failing, idle, waiting]) {
      assert.equal(await row.getByRole("link").count(), 1);
    }
  });

  visiting("that failed says what is known, and can be tried again", async (visitor) => {
    const { page, signIn, startJob, openJob, openComposer } = visitor;
    await signIn();
    const row = await startJob("Break it [fail]\nwith all its lines");
    await row.getByText("Failed", { exact: true }).waitFor();
    await (await openComposer()).fill("Half a thought");
    const job = await openJob("Break it [fail]");
    await job.getByText(/^This job failed/).waitFor();
    await job.getByText("The platform gives no reason.").waitFor();
    await job.getByRole("button", { name: "Try again" }).click();
    await page.waitForFunction(() => document.activeElement?.id === "prompt");
    assert.equal(await (await openComposer()).inputValue(), "Break it [fail]\nwith all its lines");
    const drafts = page.getByRole("list", { name: "Drafts" });
    await drafts.getByRole("button", { name: "Half a thought" }).waitFor();
  });

  visiting("is watched again after a reload, and a draft is kept", async (visitor) => {
    const { page, signIn, startJob, openComposer, rowOf } = visitor;
    await signIn();
    await startJob("Survive a reload");
    await (await openComposer()).fill("Half a thought");
    await page.reload();
    await rowOf("Survive a reload").getByText("Pull request ready", { exact: true }).waitFor();
    assert.equal(await (await openComposer()).inputValue(), "Half a thought");
  });

  visiting("with an unsafe pull request address gets no link", async (visitor) => {
    const { signIn, startJob, openJob } = visitor;
    await signIn();
    await startJob("Be tricked");
    const job = await openJob("Be tricked");
    const [{ id }] = await site.upstream.jobs();
    await site.upstream.setJob(id, { status: "completed", prLink: "javascript:alert(1)" });
    await job.getByText("not by an address that is safe to open").waitFor();
    assert.deepEqual(await job.getByRole("link").allTextContents(), ["All jobs"]);
  });

  visiting("that is refused for now keeps the prompt and says when to return", async (visitor) => {
    const { page, signIn, sendPrompt } = visitor;
    const fault = { kind: "status", status: 429, headers: { "retry-after": "600" } };
    await site.upstream.fault({ operation: "agentJobs.create", times: 0, fault });
    await signIn();
    const box = await sendPrompt("Too many");
    const alert = page.getByRole("alert").filter({ hasText: "hourly limit" });
    await alert.getByText(/try again at/).waitFor();
    assert.equal(await box.inputValue(), "Too many");
    await site.upstream.clearFaults();
  });

  visiting("whose first answer got lost is started once", async ({ page, signIn, startJob }) => {
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
    assert.equal((await creations()).length, 1);
  });

  visiting("that is still being started is not started again", async (visitor) => {
    const { page, signIn, sendPrompt, rowOf } = visitor;
    await signIn();
    await site.upstream.hold({ operation: "agentJobs.create" });
    await sendPrompt("Patience");
    await site.upstream.untilHeld(1);
    await page.reload();
    const refused = page.waitForResponse((response) => response.status() === 409);
    await page.getByRole("button", { name: "Start job" }).click();
    await page.getByRole("button", { name: "Sending…" }).waitFor();
    await refused;
    await site.upstream.release();
    await rowOf("Patience").waitFor();
    assert.equal((await creations()).length, 1);
  });

  visiting("that hangs can be left at once, and is started once all the same", async (visitor) => {
    const { page, signIn, sendPrompt, rowOf } = visitor;
    await signIn();
    await site.upstream.hold({ operation: "agentJobs.create" });
    const box = await sendPrompt("It hangs");
    await site.upstream.untilHeld(1);
    await page.getByRole("button", { name: "Cancel" }).click();
    const alert = page.getByRole("alert").filter({ hasText: "You stopped waiting" });
    await alert.getByText(/does it once/).waitFor();
    assert.equal(await box.inputValue(), "It hangs");
    await page.waitForFunction(() => document.activeElement?.id === "prompt");
    await site.upstream.release();
    await rowOf("It hangs").waitFor();
    await alert.getByRole("button", { name: "Send again" }).click();
    await alert.waitFor({ state: "detached" });
    await rowOf("It hangs").waitFor();
    assert.equal((await creations()).length, 1);
  });
});

const RESET = { kind: "reset", process: true };

describe("a job of which nobody knows whether it was started", () => {
  async function loseAnswer({ page, signIn, sendPrompt }, prompt, meanwhile) {
    await signIn();
    await meanwhile?.();
    await site.upstream.fault({ operation: "agentJobs.create", fault: RESET });
    await sendPrompt(prompt);
    const alert = page.getByRole("alert").filter({ hasText: "Nobody knows whether this job" });
    await alert.getByText("Request id").waitFor();
    return alert;
  }

  visiting("is not started again until the person says so", async (visitor) => {
    const { page, openComposer, rowOf } = visitor;
    const alert = await loseAnswer(visitor, "In doubt");
    await alert.getByRole("button", { name: "Keep as draft" }).click();
    await alert.waitFor({ state: "detached" });
    assert.equal(await (await openComposer()).inputValue(), "In doubt");

    await page.getByRole("button", { name: "Start job" }).click();
    await alert.waitFor();
    await page.reload();
    await alert.waitFor();
    assert.equal((await creations()).length, 1);

    await alert.getByRole("button", { name: "Send anyway" }).click();
    await rowOf("In doubt").waitFor();
    await alert.waitFor({ state: "detached" });
    assert.equal(await (await openComposer()).inputValue(), "");
    assert.equal((await creations()).length, 2);
    assert.equal((await site.upstream.jobs()).length, 2, "the first had been started, too");
  });

  visiting("leads to places that can have it, which are in sight", async (visitor) => {
    const { page, startElsewhere, rowOf } = visitor;
    const alert = await loseAnswer(visitor, "Where is it", async () => {
      await startElsewhere("Started by a colleague");
      await page.getByRole("button", { name: "Refresh" }).click();
      await rowOf("Started by a colleague").getByText("Pull request ready").waitFor();
    });
    const places = await alert
      .getByRole("link")
      .evaluateAll((links) => links.map(({ href, target }) => [href, target]));
    assert.deepEqual(places, [
      ["https://dashboard.mintlify.com/", "_blank"],
      ["https://github.com/acme/docs/pulls?q=is:pr+sort:created-desc", "_blank"],
    ]);
    for (const link of await alert.getByRole("link").all()) assert.ok(await link.isVisible());
  });

  visiting("is another job with another prompt", async (visitor) => {
    const alert = await loseAnswer(visitor, "In doubt");
    await visitor.startJob("Certain");
    await alert.waitFor({ state: "detached" });
  });

  visiting("is in doubt in every draft with its text", async (visitor) => {
    const { page, openComposer } = visitor;
    const alert = await loseAnswer(visitor, "In doubt");
    await page.getByRole("button", { name: "Another draft" }).click();
    await alert.waitFor({ state: "detached" });
    const box = await openComposer();
    await box.fill("In doubt");
    await page.getByRole("button", { name: "Start job" }).click();
    await alert.waitFor();
    assert.equal((await creations()).length, 1);
  });

  visiting("is the same with a follow-up", async ({ signIn, startJob, openJob }) => {
    await signIn();
    const row = await startJob("Take a follow-up");
    await row.getByText("Pull request ready", { exact: true }).waitFor();
    const job = await openJob("Take a follow-up");
    await site.upstream.fault({ operation: "agentJobs.sendMessage", fault: RESET });
    await job.getByLabel("Follow-up message").fill("Once more");
    await job.getByRole("button", { name: "Send follow-up" }).click();
    const alert = job.getByRole("alert").filter({ hasText: "whether this follow-up arrived" });
    await alert.getByRole("button", { name: "Send anyway" }).click();
    const thread = job.getByRole("list", { name: "Follow-ups sent" });
    await thread.getByText("Once more").first().waitFor();
    const [{ messages }] = await site.upstream.jobs();
    assert.deepEqual(messages, ["Once more", "Once more"]);
  });
});

describe("a limit", () => {
  async function refused({ page, sendPrompt }) {
    const box = await sendPrompt("One too many");
    const alert = page.getByRole("region", { name: "New job" }).getByRole("alert");
    await alert.getByText(/The next slot frees at/).waitFor();
    assert.equal(await box.inputValue(), "One too many");
    return alert;
  }

  visiting("on new jobs says what is left and when there is more", async (visitor) => {
    const { page, signIn, startJob, startElsewhere, openComposer } = visitor;
    await signIn();
    for (let n = 1; n < CREATE_LIMIT; n++) await startElsewhere(`Number ${n}`, "page-test");
    await startJob("The last");
    await openComposer();
    await page.getByText(`At most ${CREATE_LIMIT} jobs an hour; 0 left at`).waitFor();
    const alert = await refused(visitor);
    await alert.getByText("The project’s limit for new jobs is used up").waitFor();
    assert.equal((await creations()).length, CREATE_LIMIT);
  });

  visiting("of the token’s own is told from that of the project", async (visitor) => {
    const { page, signIn, startJob, token, openComposer } = visitor;
    await signIn(token({ quota: { "create-job": 1 } }));
    await startJob("My only one");
    await openComposer();
    await page.getByText("At most 1 job an hour; 0 left at").waitFor();
    const alert = await refused(visitor);
    await alert.getByText("Your own share of the limit is used up").waitFor();
  });
});

describe("the panel for a new job", () => {
  visiting("opens again when what was sent from it was refused", async (visitor) => {
    const { page, signIn, sendPrompt } = visitor;
    await signIn();
    const next = { kind: "status", status: 400 };
    await site.upstream.hold({ operation: "agentJobs.create", next });
    await sendPrompt("Refuse me");
    await site.upstream.untilHeld(1);
    await page.keyboard.press("Escape");
    const panel = page.getByRole("region", { name: "New job" });
    await panel.waitFor({ state: "detached" });
    await site.upstream.release();
    await panel.getByRole("alert").getByText("The gateway refused this").waitFor();
  });

  visiting("opens by n, closes by Escape, and keeps what is written", async (visitor) => {
    const { page, signIn } = visitor;
    await signIn();
    await page.getByRole("button", { name: "New job" }).waitFor();
    await page.keyboard.press("n");
    await page.waitForFunction(() => document.activeElement?.id === "prompt");
    await page.keyboard.type("Half a thought");
    await page.keyboard.press("Escape");
    await page.getByRole("region", { name: "New job" }).waitFor({ state: "detached" });
    await untilFocused(page, "New job");
    await page.keyboard.press("n");
    await page.waitForFunction(() => document.activeElement?.value === "Half a thought");
  });

  visiting("puts a prompt beside the draft that is there", async (visitor) => {
    const { page, signIn, startJob, openJob, openComposer } = visitor;
    await signIn();
    await startJob("Run me again\n\nThe whole of me.");
    await (await openComposer()).fill("Half a thought");
    const job = await openJob("Run me again");
    await job.getByRole("button", { name: "Run again with this prompt" }).click();
    const box = await openComposer();
    assert.equal(await box.inputValue(), "Run me again\n\nThe whole of me.");
    const drafts = page.getByRole("list", { name: "Drafts" });
    await drafts.getByRole("button", { name: "Half a thought" }).click();
    assert.equal(await box.inputValue(), "Half a thought");
    await page.getByRole("button", { name: "Discard draft" }).click();
    await page
      .getByRole("region", { name: "Messages" })
      .getByRole("button", { name: "Undo" })
      .click();
    assert.equal(await box.inputValue(), "Half a thought");
  });

  visiting("has templates, and keeps one’s own after signing out", async (visitor) => {
    const { page, signIn, openComposer } = visitor;
    await signIn();
    const box = await openComposer();
    await box.fill("Half a thought");
    const menu = page.getByText("Templates", { exact: true });
    await menu.click();
    await page.getByRole("button", { name: "Fix typos and broken links" }).click();
    await page.waitForFunction(() => {
      const { value, selectionStart, selectionEnd } = document.activeElement ?? {};
      return value?.slice(selectionStart, selectionEnd) === "[section or all pages]";
    });
    await page.keyboard.type("the guides");
    assert.match(await box.inputValue(), /anchors in the guides\./);
    await menu.click();
    await page.getByRole("button", { name: "Save this prompt as a template" }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Access token").waitFor();
    await signIn();
    await openComposer();
    assert.equal(await box.inputValue(), "");
    await menu.click();
    const own = page.getByRole("list", { name: "Your templates" });
    await own.getByRole("button", { name: /^Fix typos, broken links/ }).click();
    assert.match(await box.inputValue(), /anchors in the guides\./);
    await page.evaluate(() => localStorage.clear());
  });
});
