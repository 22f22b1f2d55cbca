import assert from "node:assert/strict";
import { checkBothSchemes } from "./browser.mjs";
import {
  DEPLOYMENT_SCOPES,
  DEPLOYMENT_SITE,
  deployElsewhere,
  ENDS,
  openDeployments,
  rowsOf,
  startedAt,
} from "./deployments.mjs";
import { expect, test } from "./fixtures.mjs";
import { EMPTY_PROJECT } from "./sites.mjs";
import { createGate } from "./waiting.mjs";

test.use({ siteOptions: DEPLOYMENT_SITE });

const BRANCH = "docs/rotate-keys";

async function openDialog(page, opener, title, start) {
  await page.getByRole("button", { name: opener, exact: true }).click();
  const dialog = page.getByRole("dialog", { name: title });
  const button = dialog.getByRole("button", { name: start, exact: true });
  await button.waitFor();
  return { dialog, button };
}
const openDeploy = (page) => openDialog(page, "Deploy", "Deploy the site?", "Deploy");
const openPreview = (page) => openDialog(page, "Preview", "Preview a branch", "Create preview");

test("double clicks on Deploy and its confirmation start one deployment", async ({ visitor }) => {
  const { page, project } = visitor;
  await openDeployments(visitor);
  await page.getByRole("button", { name: "Deploy", exact: true }).dblclick();
  const dialog = page.getByRole("dialog", { name: "Deploy the site?" });
  await dialog.getByText(`publishes the deployment branch of ${project}`).waitFor();
  assert.equal((await startedAt(visitor)).length, 0, "only the confirmation starts");
  await dialog.getByRole("button", { name: "Deploy", exact: true }).dblclick();
  await page.getByRole("heading", { level: 1, name: "Deployment of the site" }).waitFor();
  await page.getByRole("article").getByText("Queued", { exact: true }).waitFor();
  await page.getByRole("navigation", { name: "Breadcrumb" }).getByRole("link").click();
  await expect(rowsOf(page)).toHaveCount(1);
  assert.equal((await startedAt(visitor)).length, 1);
});

test("a lost response and a reload start no second deployment", async ({ visitor }) => {
  const { page, site } = visitor;
  await openDeployments(visitor);
  await page.getByText("No deployments yet").waitFor();
  const keys = [];
  await page.route("**/v1/project/update/*", async (route) => {
    keys.push(route.request().headers()["idempotency-key"]);
    await route.fetch();
    await route.abort();
  });
  const { dialog, button } = await openDeploy(page);
  await button.click();
  await dialog.getByRole("alert").waitFor();
  await rowsOf(page).first().waitFor();
  await page.unroute("**/v1/project/update/*");
  await page.reload();
  const again = await openDeploy(page);
  const request = page.waitForRequest("**/v1/project/update/*");
  await again.button.click();
  keys.push((await request).headers()["idempotency-key"]);
  await page.getByRole("heading", { level: 1, name: "Deployment of the site" }).waitFor();
  const messages = page.getByRole("region", { name: "Messages" });
  await messages.getByText("Your earlier attempt started this one.").waitFor();
  assert.equal(new Set(keys).size, 1, keys.join());
  assert.equal((await startedAt(visitor)).length, 1);

  // The next deployment is another one.
  const [{ _id: id }] = await startedAt(visitor);
  await site.upstream.setDeployment(id, ENDS.live);
  await page.getByRole("navigation", { name: "Breadcrumb" }).getByRole("link").click();
  await (await openDeploy(page)).button.click();
  await page.getByRole("article").getByText("Queued", { exact: true }).waitFor();
  assert.equal((await startedAt(visitor)).length, 2);
});

test("the message of a started deployment opens the project of the deployment", async ({
  visitor,
}) => {
  const { page, site, project } = visitor;
  await openDeployments(visitor, { projects: [project, EMPTY_PROJECT] });
  await site.upstream.hold({ operation: "deployments.create" });
  const { button } = await openDeploy(page);
  await button.click();
  await site.upstream.untilHeld(1);
  await page.keyboard.press("Escape");
  await site.upstream.release();
  const messages = page.getByRole("region", { name: "Messages" });
  await messages.getByText("Deployment started").waitFor();
  await page.getByLabel("Project", { exact: true }).selectOption(EMPTY_PROJECT);
  await page.getByText("No deployments yet").waitFor();
  await messages.getByRole("button", { name: "Open" }).click();
  await page.getByRole("article").getByText("Queued", { exact: true }).waitFor();
  await expect(page.getByLabel("Project", { exact: true })).toHaveValue(project);
});

for (const [name, status, expected] of [
  ["a lost response", null, "It may have started: "],
  ["a refusal", 403, "Not started: "],
]) {
  test(`after its dialog was closed, a message reports ${name}`, async ({ visitor }) => {
    const { page } = visitor;
    await openDeployments(visitor);
    const gate = createGate();
    await page.route("**/v1/project/update/*", async (route) => {
      await gate.opened;
      if (status === null) await route.abort();
      else await route.fulfill({ status, contentType: "application/problem+json", body: "{}" });
    });
    const { dialog, button } = await openDeploy(page);
    await button.click();
    await dialog.getByText("Starting…").waitFor();
    await page.keyboard.press("Escape");
    await expect(dialog).toHaveCount(0);
    gate.open();
    await page.getByRole("region", { name: "Messages" }).getByText(expected).waitFor();
  });
}

test("a deployment in doubt is sent again only after Send again", async ({ visitor }) => {
  const { page, site } = visitor;
  await openDeployments(visitor);
  const fault = { kind: "reset", process: true };
  await site.upstream.fault({ operation: "deployments.create", fault });
  const { dialog, button } = await openDeploy(page);
  await button.click();
  await dialog.getByText("We can’t tell if this deployment started").waitFor();
  await button.click();
  await dialog.getByText("We can’t tell if this deployment started").waitFor();
  assert.equal((await startedAt(visitor)).length, 1);
  await dialog.getByRole("button", { name: "Send again" }).click();
  await page.getByRole("heading", { level: 1, name: "Deployment of the site" }).waitFor();
  assert.equal((await startedAt(visitor)).length, 2, "the platform had started the first too");
});

test("a preview needs a branch, and opens with its link", async ({ visitor }) => {
  const { page } = visitor;
  await openDeployments(visitor);
  const { dialog, button } = await openPreview(page);
  const branch = dialog.getByLabel("Branch");
  await expect(branch).toBeFocused();
  await button.click();
  await dialog.getByText("Enter a branch.").waitFor();
  await branch.fill(`  ${BRANCH} `);
  await page.keyboard.press("Enter");
  const article = page.getByRole("article", { name: `Preview of ${BRANCH}` });
  await article.getByRole("link", { name: "Open preview" }).waitFor();
  const [{ branch: started }] = await startedAt(visitor);
  assert.equal(started, BRANCH);
});

test.describe("limit", () => {
  const vars = { ...DEPLOYMENT_SITE.vars, PREVIEW_LIMIT_PER_MINUTE: "1" };
  test.use({ siteOptions: { ...DEPLOYMENT_SITE, vars } });

  test("a used-up limit names the time to retry and keeps the branch", async ({ visitor }) => {
    const { page } = visitor;
    await deployElsewhere(visitor, { branch: "other" });
    await openDeployments(visitor);
    const { dialog, button } = await openPreview(page);
    await dialog.getByLabel("Branch").fill(BRANCH);
    await button.click();
    const alert = dialog.getByRole("alert").filter({ hasText: "limit for previews" });
    const cause = "Your organization has used the only one in the last 60 seconds";
    await alert.getByText(cause).waitFor();
    await alert.getByText(/^Try again at \d+:\d\d/).waitFor();
    await expect(dialog.getByLabel("Branch")).toHaveValue(BRANCH);
    assert.equal((await startedAt(visitor)).length, 1);
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await openPreview(page);
    await expect(dialog.getByLabel("Branch")).toHaveValue(BRANCH);
    assert.equal(await alert.count(), 0, "the next dialog starts without the old problem");
  });
});

test("a job goes from its branch to a preview that is live", async ({ visitor }) => {
  const { site, page, project, token, startSession, startElsewhere } = visitor;
  const { id: jobId } = await startElsewhere("Explain how to rotate a key");
  const prLink = "https://github.com/acme/docs/pull/7";
  await site.upstream.setJob(jobId, { status: "completed", prLink, ref: BRANCH });
  await startSession(token({ scope: DEPLOYMENT_SCOPES }));
  await page.goto(`${site.url}/?route=jobs&project=${project}&job=${jobId}`);
  const article = page.getByRole("article");
  await article.getByText("Details").first().waitFor();
  await article.getByText(BRANCH, { exact: true }).first().waitFor();
  const preview = article.getByRole("region", { name: "Preview of this job" });
  await preview.getByRole("button", { name: "Preview this branch" }).dblclick();
  await preview.getByText("Queued", { exact: true }).waitFor();
  await preview.getByText("The link works once the preview is live.").waitFor();
  const [{ _id: id, branch, previewUrl }, ...others] = await startedAt(visitor);
  assert.deepEqual([branch, others], [BRANCH, []]);
  const link = preview.getByRole("link", { name: "Open preview" });
  await expect(link).toHaveAttribute("href", new URL(previewUrl).href);
  await site.upstream.setDeployment(id, { status: "in_progress" });
  await preview.getByText("In progress", { exact: true }).waitFor();
  await site.upstream.setDeployment(id, ENDS.live);
  await preview.getByText("Live", { exact: true }).waitFor();
  await preview.getByText(/can answer 404 for a few minutes/).waitFor();
  await checkBothSchemes(page, "a job with a preview");

  await page.reload();
  await preview.getByText("Live", { exact: true }).waitFor();
  await preview.getByRole("button", { name: "Update the preview" }).waitFor();
  await preview.getByRole("link", { name: "Details" }).click();
  await page.getByRole("heading", { level: 1, name: `Preview of ${BRANCH}` }).waitFor();
});
