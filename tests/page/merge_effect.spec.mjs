/** The tests replace the gateway's responses about the pull request and about daily views. */
import assert from "node:assert/strict";
import { accessibilityFaults } from "./browser.mjs";
import { expect, test } from "./fixtures.mjs";
import { DAY_MS } from "./reports.mjs";
import { untilHandled } from "./visitor.mjs";
import { createGate } from "./waiting.mjs";

const PROMPT = "Update the page /quickstart.";
const [BEFORE, AFTER] = [100, 150];

test.use({ projectKind: "archived" });

/** Answers with `BEFORE` or `AFTER` views by people on each day of two spellings, and 10 by AI. */
async function serveViews(page, merge) {
  await page.route("**/views/archived?**", (route) => {
    const query = new URL(route.request().url()).searchParams;
    const [from, to] = [query.get("dateFrom"), query.get("dateTo")];
    const days = (Date.parse(to) - Date.parse(from)) / DAY_MS;
    const human = days * (from < merge ? BEFORE : AFTER);
    const views = [
      { path: "/quickstart", human: human - days, ai: 0, total: human - days },
      { path: "/quickstart/", human: days, ai: 10 * days, total: 11 * days },
      { path: "/quickstart-2", human: 7, ai: 7, total: 14 },
    ];
    const totals = { human, ai: 10 * days, total: human + 10 * days };
    return route.fulfill({ json: { views, totals, missing: [], nextCursor: null } });
  });
}

/** Opens a finished job. `pullRequest` is the gateway's response about its pull request. */
async function openFinishedJob({ page, signIn, startAndOpenJob, endJob }, pullRequest) {
  await page.route("**/pull-request", (route) => route.fulfill({ json: pullRequest }));
  await signIn();
  const job = await startAndOpenJob(PROMPT);
  await endJob(PROMPT);
  await job.getByRole("link", { name: /^Open pull request/ }).waitFor();
  return job;
}

test("a job reads the state of its pull request, again on return", async ({ visitor }) => {
  const { page } = visitor;
  const pullRequest = { state: "open", isDraft: false };
  const job = await openFinishedJob(visitor, pullRequest);
  await job.getByText("Open", { exact: true }).waitFor();
  assert.deepEqual(await accessibilityFaults(page), []);
  pullRequest.state = "merged";
  await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
  await job.getByText("Merged", { exact: true }).waitFor();
});

test("an older response does not replace the state of a pull request", async ({ visitor }) => {
  const { page } = visitor;
  const job = await openFinishedJob(visitor, { state: "open", isDraft: false });
  await job.getByText("Open", { exact: true }).waitFor();
  const gate = createGate();
  const answers = [gate.opened.then(() => "closed"), "merged"];
  await page.route("**/pull-request", async (route) =>
    route.fulfill({ json: { state: await answers.shift(), isDraft: false } }),
  );
  await page.evaluate(() => {
    for (let n = 0; n < 2; n++) document.dispatchEvent(new Event("visibilitychange"));
  });
  await job.getByText("Merged", { exact: true }).waitFor();
  const late = page.waitForResponse("**/pull-request");
  gate.open();
  await untilHandled(page, late);
  await expect(job.getByText("Merged", { exact: true })).toBeVisible();
});

test("a job compares the views of its page before and after the merge", async ({ visitor }) => {
  const { page, upstreamTargets } = visitor;
  const mergedAt = new Date(Date.now() - 16 * DAY_MS).toISOString();
  await serveViews(page, mergedAt.slice(0, 10));
  const job = await openFinishedJob(visitor, { state: "merged", isDraft: false, mergedAt });
  await job.getByText("Merged", { exact: true }).waitFor();
  const effect = job.getByRole("region", { name: "Effect on /quickstart" });
  const people = effect.getByRole("row", { name: /^Views by people/ });
  await people.getByText("2,100").waitFor();
  assert.deepEqual(await people.getByRole("cell").allTextContents(), [
    "1,400",
    "2,100",
    "+700 (+50%)",
  ]);
  const ai = effect.getByRole("row", { name: /^Views by AI/ });
  assert.deepEqual(await ai.getByRole("cell").allTextContents(), ["140", "140", "0"]);
  assert.deepEqual(await accessibilityFaults(page), []);

  const before = await upstreamTargets();
  await effect.getByRole("button", { name: /^Compare ratings and searches/ }).click();
  const searches = effect.getByRole("row", { name: /^Searches that led here/ });
  await searches.getByRole("cell", { name: /\d/ }).first().waitFor();
  const added = (await upstreamTargets()).slice(before.length);
  assert.equal(added.filter((target) => target.startsWith("/v1/analytics/")).length, 4);

  // The page of the documentation shows the same.
  await effect.getByRole("link", { name: "Effect on /quickstart" }).click();
  await page.getByRole("heading", { level: 1, name: "/quickstart" }).waitFor();
  const onPage = page.getByRole("region", { name: "Effect on /quickstart" });
  const sameRow = onPage.getByRole("row", { name: /^Views by people/ });
  await sameRow.getByText("2,100").waitFor();
});
