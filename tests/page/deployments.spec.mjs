import assert from "node:assert/strict";
import { checkBothSchemes, WINDOWS } from "./browser.mjs";
import {
  DEPLOYMENT_SCOPES,
  DEPLOYMENT_SITE,
  deleteRecord,
  deployElsewhere,
  ENDS,
  endDeployment,
  openDeployments,
  rowsOf,
} from "./deployments.mjs";
import { expect, test } from "./fixtures.mjs";
import { EMPTY_PROJECT } from "./sites.mjs";
import { changeResponses } from "./visitor.mjs";

test.use({ siteOptions: DEPLOYMENT_SITE });

const MARKUP = '<img src=x onerror="document.title=`broken`"><b>bold</b>';
const LONG_BRANCH = `docs/${"a-very-long-branch-name-".repeat(8)}end`;

test("the list shows states in words, newest first, and follows changes", async ({ visitor }) => {
  const { page, site } = visitor;
  const { upstream } = site;
  const { statusId: live } = await deployElsewhere(visitor, { sub: "maya" });
  const { statusId: warned } = await deployElsewhere(visitor, { sub: "jonas" });
  const { statusId: failed } = await deployElsewhere(visitor, { sub: "priya" });
  await openDeployments(visitor);
  await expect(rowsOf(page)).toHaveCount(3);
  await expect(rowsOf(page).first()).toContainText("Queued");
  await expect(rowsOf(page).first()).toContainText("priya");
  await page.getByText("Live", { exact: true }).waitFor();

  await upstream.setDeployment(live, { status: "in_progress" });
  await rowsOf(page).nth(2).getByText("In progress").waitFor();
  await upstream.setDeployment(live, ENDS.live);
  await upstream.setDeployment(warned, ENDS.warning);
  await upstream.setDeployment(failed, ENDS.failed);
  await rowsOf(page).nth(2).getByText("Live", { exact: true }).waitFor();
  await rowsOf(page).nth(1).getByText("Live, with a warning").waitFor();
  await rowsOf(page).nth(0).getByText("Failed", { exact: true }).waitFor();
  await rowsOf(page).nth(0).getByText("Unable to find docs.json or mint.json").waitFor();
  await expect(rowsOf(page).nth(2)).not.toContainText("Your changes");
});

test("the list shows deletions and changes that the stream missed", async ({ visitor }) => {
  const { page, site, context = page.context() } = visitor;
  const { statusId: stays } = await deployElsewhere(visitor, { sub: "maya" });
  const { statusId: goes } = await deployElsewhere(visitor, { sub: "jonas" });
  await openDeployments(visitor);
  await expect(rowsOf(page)).toHaveCount(2);
  await page.getByText("Live", { exact: true }).waitFor();
  await context.setOffline(true);
  await page.getByText("Offline", { exact: true }).waitFor();
  await site.upstream.setDeployment(stays, ENDS.failed);
  await deleteRecord(visitor, goes);
  await context.setOffline(false);
  await expect(rowsOf(page)).toHaveCount(1);
  await rowsOf(page).getByText("Failed", { exact: true }).waitFor();
});

test("a deployment shows its growing log, its author and its commit", async ({ visitor }) => {
  const { page, site } = visitor;
  const { statusId: id } = await deployElsewhere(visitor, { sub: "maya" });
  await openDeployments(visitor, { id });
  const article = page.getByRole("article");
  await article.getByText("Watching for updates.").waitFor();
  await article.getByText(/^(Just started|Running for)/).waitFor();
  const log = article.getByRole("region", { name: "Log" });
  const steps = ["Verified update permissions", "Fetching and validating config file..."];
  await site.upstream.setDeployment(id, { status: "in_progress", logs: steps.slice(0, 1) });
  await expect(log.getByRole("listitem")).toHaveText(steps.slice(0, 1));
  // The state stays the same, so the list has no change.
  await site.upstream.setDeployment(id, { logs: steps });
  await expect(log.getByRole("listitem")).toHaveText(steps);
  await site.upstream.setDeployment(id, ENDS.live);
  await article.getByText("Live", { exact: true }).waitFor();
  await article.getByText("Your changes are now live!").waitFor();
  await page.waitForFunction(() => document.title === "Deployment of the site · Live · Quillgate");
  const commit = article.getByRole("region", { name: "Commit" });
  await commit.getByText("Files: 1 added and 2 modified").waitFor();
  await article.getByText("Ada Acme").waitFor();
  await article.getByText("maya").waitFor();
});

test("a deployment that is live despite a failure shows a warning", async ({ visitor }) => {
  const { page } = visitor;
  const { statusId: id } = await deployElsewhere(visitor);
  await endDeployment(visitor, id, ENDS.warning);
  await openDeployments(visitor, { id });
  const article = page.getByRole("article");
  await article.getByText("Live, with a warning").waitFor();
  await article.getByText("The content is live, but a later step failed").waitFor();
  assert.equal(await article.locator(".problem").count(), 0);
});

test("a link to a deployment of another project shows that it is missing", async ({ visitor }) => {
  const { page, site, project, token, startSession } = visitor;
  const { statusId: id } = await deployElsewhere(visitor);
  await startSession(token({ scope: DEPLOYMENT_SCOPES, projects: [project, EMPTY_PROJECT] }));
  await page.goto(`${site.url}/?route=deployments&project=${EMPTY_PROJECT}&deployment=${id}`);
  await page.getByText(`Deployment not found in ${EMPTY_PROJECT}`).waitFor();
  await page.goto(`${site.url}/?route=deployments&project=${project}&deployment=${id}`);
  await page.getByRole("article").getByText("Queued", { exact: true }).waitFor();
});

test("markup in a log, a commit and a branch stays text", async ({ visitor }) => {
  const { page, site, project } = visitor;
  const { statusId: id } = await deployElsewhere(visitor, { branch: MARKUP });
  const message = `Fix <div> tags\n\n${MARKUP}`;
  await changeResponses(page, "**/v1/project/update-status/*", (body) => ({
    ...body,
    commit: { ...body.commit, message },
    screenshot: "javascript:alert(1)",
  }));
  await endDeployment(visitor, id, { ...ENDS.failed, summary: MARKUP, logs: [MARKUP] });
  await openDeployments(visitor, { id });
  const article = page.getByRole("article");
  const log = article.getByRole("region", { name: "Log" });
  await expect(log.getByRole("listitem")).toHaveText(MARKUP);
  await article.getByText("Fix <div> tags").waitFor();
  await page.getByRole("heading", { level: 1, name: `Preview of ${MARKUP}` }).waitFor();
  assert.equal(await article.getByRole("link", { name: "Open screenshot" }).count(), 0);
  await page.goto(`${site.url}/?route=deployments&project=${project}`);
  await rowsOf(page).filter({ hasText: MARKUP }).first().waitFor();
  assert.equal(await page.locator("main img, main b").count(), 0);
});

test("an unsafe preview address does not become a link", async ({ visitor }) => {
  const { page } = visitor;
  await deployElsewhere(visitor, { branch: "fix" });
  const previewUrl = "http://user:secret@evil.example/";
  await changeResponses(page, /\/deployments(\?|$)/, (body) => ({
    ...body,
    deployments: body.deployments.map((one) => ({ ...one, previewUrl })),
  }));
  // The stream would show the platform's address.
  await page.route("**/deployments/events", () => {});
  await openDeployments(visitor);
  await rowsOf(page).getByText("Unsafe preview link").waitFor();
  assert.equal(await rowsOf(page).getByRole("link", { name: "Open preview" }).count(), 0);
});

test("an operator deletes a record after a confirmation", async ({ visitor }) => {
  const { page } = visitor;
  const { statusId: id } = await deployElsewhere(visitor);
  await openDeployments(visitor, { id, scope: "deployments:read gateway:operate" });
  await page.getByRole("button", { name: "Delete record" }).click();
  const dialog = page.getByRole("dialog", { name: "Delete this record?" });
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Delete record" }).click();
  await dialog.getByRole("button", { name: "Delete record" }).click();
  await page.getByText("No deployments yet").waitFor();
  await page.getByRole("region", { name: "Messages" }).getByText("Record deleted").waitFor();
});

test("Today shows and follows failed deployments that are not live", async ({ visitor }) => {
  const { page, site, project, token, startSession } = visitor;
  const { statusId: failed } = await deployElsewhere(visitor, { branch: "docs/broken" });
  const { statusId: warned } = await deployElsewhere(visitor, { branch: "docs/warned" });
  await endDeployment(visitor, failed, ENDS.failed);
  await endDeployment(visitor, warned, ENDS.warning);
  await startSession(token({ scope: "deployments:read" }));
  await page.goto(`${site.url}/?route=today&project=${project}`);
  const section = page.getByRole("region", { name: "Deployments that failed" });
  const rows = section.getByRole("listitem");
  await expect(rows).toHaveCount(1);
  await rows.getByText("Preview of docs/broken").waitFor();
  await rows.getByText("Unable to find docs.json or mint.json").waitFor();
  await checkBothSchemes(page, "today");

  const { statusId: later } = await deployElsewhere(visitor);
  await endDeployment(visitor, later, ENDS.failed);
  await expect(rows).toHaveCount(2);
  await rows.first().getByText("Site", { exact: true }).waitFor();
  await deleteRecord(visitor, later);
  await expect(rows).toHaveCount(1);
  await rows.getByRole("link", { name: "Open deployment" }).click();
  await page.getByRole("heading", { level: 1, name: "Preview of docs/broken" }).waitFor();
});

for (const [name, viewport] of Object.entries(WINDOWS)) {
  test(`states have no axe fault and fit a ${name} window in both schemes`, async ({ visitor }) => {
    const { page, site } = visitor;
    await page.setViewportSize(viewport);
    await openDeployments(visitor);
    await page.getByText("No deployments yet").waitFor();
    await checkBothSchemes(page, "no deployments");
    const { statusId: failed } = await deployElsewhere(visitor);
    const { statusId: warned } = await deployElsewhere(visitor);
    const { statusId: preview } = await deployElsewhere(visitor, { branch: LONG_BRANCH });
    await deployElsewhere(visitor);
    await site.upstream.setDeployment(failed, ENDS.failed);
    await site.upstream.setDeployment(warned, ENDS.warning);
    await site.upstream.setDeployment(preview, ENDS.live);
    await rowsOf(page).getByText("Live, with a warning").waitFor();
    await rowsOf(page).getByText("Failed", { exact: true }).waitFor();
    await checkBothSchemes(page, "the list");
    for (const title of ["Deploy", "Preview"]) {
      await page.getByRole("button", { name: title, exact: true }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).waitFor();
      await checkBothSchemes(page, `the dialog ${title}`);
      await page.keyboard.press("Escape");
    }
    for (const [id, text] of [
      [failed, "This deployment failed"],
      [warned, "The content is live, but a later step failed"],
      [preview, /can answer 404/],
    ]) {
      await openDeployments(visitor, { id });
      await page.getByText(text).waitFor();
      await page.getByRole("region", { name: "Commit" }).waitFor();
      await checkBothSchemes(page, `a deployment: ${text}`);
    }
  });
}
