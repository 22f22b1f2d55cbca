/** Jobs on the page: from a prompt to a pull request, and whatever may happen on the way. */
import assert from "node:assert/strict";
import { describe } from "node:test";
import { startSite } from "./site.mjs";

const CREATE_LIMIT = 4;
const site = startSite({ vars: { CREATE_LIMIT_PER_HOUR: String(CREATE_LIMIT) } });
const { visiting } = site;

describe("a job", () => {
  visiting(
    "goes from a prompt to a pull request, and takes a follow-up",
    async ({ signIn, startJob }) => {
      await signIn();
      const card = await startJob("Fix the broken links");
      await card.getByText("Working", { exact: true }).waitFor();
      await card.getByText("active", { exact: true }).waitFor();

      await card.getByText("Pull request ready", { exact: true }).waitFor();
      await card.getByText("completed", { exact: true }).waitFor();
      const [job] = await site.upstream.jobs();
      const link = card.getByRole("link", { name: /^Open pull request acme\/docs#\d+$/ });
      assert.equal(await link.getAttribute("href"), job.prLink);
      assert.match((await link.getAttribute("rel")) ?? "", /noopener/);

      const box = card.getByLabel("Follow-up message");
      await box.fill("Also the images");
      await box.press("Control+Enter");
      const thread = card.getByRole("list", { name: "Follow-ups sent" });
      await thread.getByText("Also the images").waitFor();
      await card.getByText("Working", { exact: true }).waitFor();
      await card.getByText("Pull request ready", { exact: true }).waitFor();
      assert.equal(await box.inputValue(), "");

      const [followed] = await site.upstream.jobs();
      assert.equal(followed.prompt, "Fix the broken links");
      assert.deepEqual(followed.messages, ["Also the images"]);
    },
  );

  visiting("is started once by a double click", async ({ page, signIn }) => {
    await signIn();
    await page.getByLabel("Prompt").fill("Only once");
    await page.getByRole("button", { name: "Start job" }).dblclick();
    await page.getByRole("article", { name: "Only once" }).waitFor();
    await page.waitForTimeout(500);
    assert.equal((await site.upstream.jobs()).length, 1);
  });

  visiting(
    "that changed nothing, failed or has an unknown status says so",
    async ({ page, signIn, startJob }) => {
      await signIn();
      const failing = await startJob("Break it [fail]");
      const idle = await startJob("Look around [no-changes]");
      const waiting = await startJob("Ask first [status:needs review]");
      const [job] = (await site.upstream.jobs()).filter(({ prompt }) =>
        prompt.includes("Ask first"),
      );
      // It ends with a pull request of its own, if that takes long.
      await site.upstream.setJob(job.id, { status: "needs review", prLink: null });
      await waiting.getByText("needs review").first().waitFor();
      await failing.getByText("Failed", { exact: true }).waitFor();
      await idle.getByText("Done, no changes", { exact: true }).waitFor();
      assert.equal(await page.getByRole("link", { name: /pull request/ }).count(), 0);
    },
  );

  visiting(
    "is watched again after a reload, and a draft is kept",
    async ({ page, signIn, startJob }) => {
      await signIn();
      await startJob("Survive a reload");
      await page.getByLabel("Prompt").fill("Half a thought");
      await page.reload();
      const card = page.getByRole("article", { name: "Survive a reload" });
      await card.getByText("Pull request ready", { exact: true }).waitFor();
      assert.equal(await page.getByLabel("Prompt").inputValue(), "Half a thought");
    },
  );

  visiting("with an unsafe pull request address gets no link", async ({ signIn, startJob }) => {
    await signIn();
    const card = await startJob("Be tricked");
    const [{ id }] = await site.upstream.jobs();
    await site.upstream.setJob(id, { status: "completed", prLink: "javascript:alert(1)" });
    await card.getByText("not by an address that is safe to open").waitFor();
    assert.equal(await card.getByRole("link").count(), 0);
  });

  visiting(
    "that is refused for now keeps the prompt and says when to return",
    async ({ page, signIn }) => {
      const fault = { kind: "status", status: 429, headers: { "retry-after": "600" } };
      await site.upstream.fault({ operation: "agentJobs.create", times: 0, fault });
      await signIn();
      await page.getByLabel("Prompt").fill("Too many");
      await page.getByRole("button", { name: "Start job" }).click();
      const alert = page.getByRole("alert").filter({ hasText: "hourly limit" });
      await alert.getByText(/try again at/).waitFor();
      assert.equal(await page.getByLabel("Prompt").inputValue(), "Too many");
      await site.upstream.clearFaults();
    },
  );

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

  visiting("that is still being started is not started again", async ({ page, signIn }) => {
    await signIn();
    await site.upstream.hold({ operation: "agentJobs.create" });
    await page.getByLabel("Prompt").fill("Patience");
    await page.getByRole("button", { name: "Start job" }).click();
    await site.upstream.untilHeld(1);
    await page.reload();
    await page.getByRole("button", { name: "Start job" }).click();
    await page.getByRole("button", { name: "Sending…" }).waitFor();
    await page.waitForResponse((response) => response.status() === 409);
    await site.upstream.release();
    await page.getByRole("article", { name: "Patience" }).waitFor();
    assert.equal((await creations()).length, 1);
  });
});

const creations = async () =>
  (await site.upstream.requests()).filter(({ operation }) => operation === "agentJobs.create");

const RESET = { kind: "reset", process: true };

describe("a job of which nobody knows whether it was started", () => {
  async function loseAnswer({ page, signIn }, prompt, meanwhile) {
    await signIn();
    await meanwhile?.();
    await site.upstream.fault({ operation: "agentJobs.create", fault: RESET });
    await page.getByLabel("Prompt").fill(prompt);
    await page.getByRole("button", { name: "Start job" }).click();
    const alert = page.getByRole("alert").filter({ hasText: "Nobody knows whether this job" });
    await alert.getByText("Request id").waitFor();
    return alert;
  }

  visiting("is not started again until the person says so", async (visitor) => {
    const { page } = visitor;
    const alert = await loseAnswer(visitor, "In doubt");
    await alert.getByRole("button", { name: "Keep as draft" }).click();
    await alert.waitFor({ state: "detached" });
    assert.equal(await page.getByLabel("Prompt").inputValue(), "In doubt");

    await page.getByRole("button", { name: "Start job" }).click();
    await alert.waitFor();
    await page.reload();
    await alert.waitFor();
    assert.equal((await creations()).length, 1);

    await alert.getByRole("button", { name: "Send anyway" }).click();
    await page.getByRole("article", { name: "In doubt" }).waitFor();
    await alert.waitFor({ state: "detached" });
    assert.equal(await page.getByLabel("Prompt").inputValue(), "");
    assert.equal((await creations()).length, 2);
    assert.equal((await site.upstream.jobs()).length, 2, "the first had been started, too");
  });

  visiting("leads to the jobs of the project, asked for again", async (visitor) => {
    const { page, startElsewhere } = visitor;
    const alert = await loseAnswer(visitor, "Where is it", async () => {
      await page.getByText("No job was started through this gateway yet").waitFor();
      await startElsewhere("Started by a colleague");
    });
    const list = page.getByRole("region", { name: "Recent jobs of this project" });
    await list.getByRole("button", { name: "Started by a colleague" }).waitFor();
    await alert.getByRole("button", { name: "Go to the jobs of the project" }).click();
    const focused = await page.evaluate(() => document.activeElement?.textContent);
    assert.equal(focused, "Recent jobs of this project");
  });

  visiting("is another job with another prompt", async (visitor) => {
    const alert = await loseAnswer(visitor, "In doubt");
    await visitor.startJob("Certain");
    await alert.waitFor({ state: "detached" });
  });

  visiting("is the same with a follow-up", async ({ signIn, startJob }) => {
    await signIn();
    const card = await startJob("Take a follow-up");
    await card.getByText("Pull request ready", { exact: true }).waitFor();
    await site.upstream.fault({ operation: "agentJobs.sendMessage", fault: RESET });
    await card.getByLabel("Follow-up message").fill("Once more");
    await card.getByRole("button", { name: "Send follow-up" }).click();
    const alert = card.getByRole("alert").filter({ hasText: "whether this follow-up arrived" });
    await alert.getByRole("button", { name: "Send anyway" }).click();
    const thread = card.getByRole("list", { name: "Follow-ups sent" });
    await thread.getByText("Once more").waitFor();
    const [job] = await site.upstream.jobs();
    assert.deepEqual(job.messages, ["Once more", "Once more"]);
  });
});

describe("a limit", () => {
  async function refused(page) {
    await page.getByLabel("Prompt").fill("One too many");
    await page.getByRole("button", { name: "Start job" }).click();
    const alert = page.getByRole("region", { name: "New job" }).getByRole("alert");
    await alert.getByText(/The next slot frees at/).waitFor();
    assert.equal(await page.getByLabel("Prompt").inputValue(), "One too many");
    return alert;
  }

  visiting("on new jobs says what is left and when there is more", async (visitor) => {
    const { page, signIn, startJob, startElsewhere } = visitor;
    await signIn();
    for (let n = 1; n < CREATE_LIMIT; n++) await startElsewhere(`Number ${n}`, "page-test");
    await startJob("The last");
    await page.getByText(`At most ${CREATE_LIMIT} jobs an hour; 0 left at`).waitFor();
    const alert = await refused(page);
    await alert.getByText("The project’s limit for new jobs is used up").waitFor();
    assert.equal((await creations()).length, CREATE_LIMIT);
  });

  visiting("of the token’s own is told from that of the project", async (visitor) => {
    const { page, signIn, startJob, token } = visitor;
    await signIn(token({ quota: { "create-job": 1 } }));
    await startJob("My only one");
    await page.getByText("At most 1 job an hour; 0 left at").waitFor();
    const alert = await refused(page);
    await alert.getByText("Your access token’s own share is used up").waitFor();
  });
});
