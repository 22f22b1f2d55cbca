import assert from "node:assert/strict";
import { expect, test } from "./fixtures.mjs";
import { CREATE_LIMIT, EMPTY_PROJECT } from "./sites.mjs";
import { untilFocused } from "./visitor.mjs";

/** The platform processes the request, and its response is lost. */
const LOST_RESPONSE = { kind: "reset", process: true };

const creations = async ({ upstream }) =>
  (await upstream.requests()).filter(({ operation }) => operation === "agentJobs.create");
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

test("Run again and Try again put a job's prompt into a new draft", async ({ visitor }) => {
  const { page, signIn, startJob, openJob, endJob, openComposer } = visitor;
  const prompt = "Break it\nwith all its lines";
  await signIn();
  await startJob(prompt);
  const box = await openComposer();
  const drafts = page.getByRole("list", { name: "Drafts" });
  await box.fill("Half a thought");
  const job = await openJob("Break it");
  await job.getByRole("button", { name: "Run again with this prompt" }).click();
  await expect(box).toHaveValue(prompt);
  await drafts.getByRole("button", { name: "Half a thought" }).click();
  await endJob(prompt, { status: "failed" });
  await job.getByText("No reason was given.").waitFor();
  await job.getByRole("button", { name: "Try again" }).click();
  await expect(box).toHaveValue(prompt);
  await expect(box).toBeFocused();
  await drafts.getByRole("button", { name: "Half a thought" }).waitFor();
});

test("a lost response between page and gateway starts one job", async ({ visitor }) => {
  const { site, page, signIn, startJob } = visitor;
  await signIn();
  const lose = async (route) => {
    await route.fetch();
    await route.abort();
  };
  await page.route("**/job", lose, { times: 1 });
  await startJob("Only once, though it was sent twice");
  assert.equal((await site.upstream.jobs()).length, 1);
  assert.equal((await creations(site)).length, 1);
});

test("a job in doubt is sent again only after Send again", async ({ visitor }) => {
  const { site, page, signIn, sendPrompt, openComposer } = visitor;
  await signIn();
  await site.upstream.fault({ operation: "agentJobs.create", fault: LOST_RESPONSE });
  await sendPrompt("In doubt");
  const alert = page.getByRole("alert").filter({ hasText: "We can’t tell if this job started" });
  await alert.getByText("Request id").waitFor();
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
  const hasText = "We can’t tell if this follow-up arrived";
  const alert = job.getByRole("alert").filter({ hasText });
  await alert.getByRole("button", { name: "Send again" }).click();
  const thread = job.getByRole("list", { name: "Follow-ups sent" });
  await thread.getByText("Once more").first().waitFor();
  const [{ messages }] = await site.upstream.jobs();
  assert.deepEqual(messages, ["Once more", "Once more"]);
});

test("the project's limit on new jobs shows the rest and a time", async ({ visitor }) => {
  const { site, page, subject, signIn, startJob, startElsewhere } = visitor;
  await signIn();
  const earlier = Array.from({ length: CREATE_LIMIT - 1 }, (_, at) => `Number ${at + 1}`);
  await Promise.all(earlier.map((prompt) => startElsewhere(prompt, subject)));
  await startJob("The last");
  await visitor.openComposer();
  await page.getByText(`0 of ${CREATE_LIMIT} jobs left this hour.`).waitFor();
  const box = await visitor.sendPrompt("One too many");
  const alert = page.getByRole("region", { name: "New job" }).getByRole("alert");
  await alert.getByText(/Try again at/).waitFor();
  await expect(box).toHaveValue("One too many");
  await alert.getByText("This project has reached its limit for new jobs").waitFor();
  assert.equal((await creations(site)).length, CREATE_LIMIT);
});

for (const [next, message] of [
  [undefined, "Job started: Ready"],
  [{ kind: "status", status: 400 }, "Ready: The gateway rejected this"],
]) {
  test(`the message "${message}" leaves another draft open`, async ({ visitor }) => {
    const { site, page, signIn, openComposer, sendPrompt } = visitor;
    await signIn();
    const box = await openComposer();
    await box.fill("Half a thought");
    await page.getByRole("button", { name: "New draft" }).click();
    await site.upstream.hold({ operation: "agentJobs.create", next });
    await sendPrompt("Ready");
    await site.upstream.untilHeld(1);
    const drafts = page.getByRole("list", { name: "Drafts" });
    await drafts.getByRole("button", { name: "Half a thought" }).click();
    await box.fill("A whole thought");
    await site.upstream.release();
    const messages = page.getByRole("region", { name: "Messages" });
    await messages.getByText(message).waitFor();
    await expect(box).toHaveValue("A whole thought");
    await expect(box).toBeFocused();
    await messages.getByRole("button", { name: "Open" }).click();
    if (next === undefined) await page.getByRole("article", { name: "Ready" }).waitFor();
    else await expect(box).toHaveValue("Ready");
  });
}

test("the message of a finished job opens the project of the job", async ({ visitor }) => {
  const { page, project, token, signIn, startJob, endJob } = visitor;
  await signIn(token({ projects: [project, EMPTY_PROJECT] }));
  await startJob("Fix the typos");
  await endJob("Fix the typos");
  const messages = page.getByRole("region", { name: "Messages" });
  await messages.getByText("Pull request ready: Fix the typos").waitFor();
  await page.getByLabel("Project", { exact: true }).selectOption(EMPTY_PROJECT);
  await page.getByText("No jobs yet").waitFor();
  await messages.getByRole("button", { name: "Open" }).click();
  await page.getByRole("article", { name: "Fix the typos" }).getByText("Details").waitFor();
  await expect(page.getByLabel("Project", { exact: true })).toHaveValue(project);
});

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
