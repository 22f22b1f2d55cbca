/** The tests replace the gateway's responses. */
import assert from "node:assert/strict";
import { accessibilityFaults } from "./browser.mjs";
import { test } from "./fixtures.mjs";

/** Opens a finished job. `reply` is the gateway's current response about its pull request. */
async function openFinishedJob({ page, signIn, startAndOpenJob, endJob }, reply) {
  await page.route("**/pull-request", (route) => route.fulfill(reply.current));
  await signIn();
  const job = await startAndOpenJob("Fix the typos");
  await endJob("Fix the typos");
  await job.getByRole("link", { name: /^Open pull request/ }).waitFor();
  return job;
}

test("a job reads the state of its pull request, again on return", async ({ visitor }) => {
  const { page } = visitor;
  const reply = { current: { json: { state: "open", isDraft: false } } };
  const job = await openFinishedJob(visitor, reply);
  await job.getByText("Open", { exact: true }).waitFor();
  assert.deepEqual(await accessibilityFaults(page), []);
  reply.current = { json: { state: "merged", isDraft: false } };
  await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
  await job.getByText("Merged", { exact: true }).waitFor();
});
