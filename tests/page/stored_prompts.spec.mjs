import assert from "node:assert/strict";
import { test } from "./fixtures.mjs";
import { submitToken } from "./visitor.mjs";

const FIRST = "Describe the retry option.";
const REST = "Say what it costs, and when not to use it.";

test.use({ siteOptions: { vars: { KEEP_PROMPTS: "first-line" } } });

test("a colleague reads only the part of a prompt that is stored", async ({ visitor, browser }) => {
  const { site, page, project, subject, signIn, startAndOpenJob, token } = visitor;
  await signIn();
  const own = await startAndOpenJob(`${FIRST}\n\n${REST}`);
  // This browser still has the prompt that it sent.
  await own.getByText(REST).waitFor();
  const id = new URL(page.url()).searchParams.get("job");

  const context = await browser.newContext();
  const theirs = await context.newPage();
  await theirs.goto(site.url);
  await submitToken(theirs, token({ sub: "colleague" }));
  await theirs.getByRole("button", { name: "Sign out" }).waitFor();
  const recorded = theirs.waitForResponse(/\/record$/);
  await theirs.goto(`${site.url}/?route=jobs&project=${project}&job=${id}`);
  await recorded;
  const article = theirs.getByRole("article");
  await article.getByText(`Prompt by ${subject}`).waitFor();
  const shown = await article.locator(".job_thread-text").first().innerText();
  assert.equal(shown.trim(), FIRST);
  assert.equal(await article.getByText("Only the start of this prompt was saved.").count(), 1);
  await context.close();
});
