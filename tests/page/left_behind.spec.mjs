import assert from "node:assert/strict";
import { expect, test } from "./fixtures.mjs";
import { EMPTY_PROJECT } from "./sites.mjs";
import { openComposer, submitToken } from "./visitor.mjs";

/** Part of everything that the first person types. */
const MARK = "zebrafish";

test("nothing of a person is left for the next one in the same tab", async ({ visitor }) => {
  const { page } = visitor;
  await setEverything(visitor);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page
    .getByRole("button", { name: "Sign out and delete 2 drafts, 1 saved view, and 1 template" })
    .click();
  await page.getByLabel("Access token").waitFor();
  assert.deepEqual(await findInPage(page), []);
  await findNothing(visitor);
  // The back button leads to what the next person sees, not to the previous person's filters.
  for (let steps = 0; steps < 8; steps++) {
    await page.goBack();
    if (!page.url().startsWith(`${visitor.site.url}/?`)) break;
    await page.getByRole("heading", { level: 1 }).waitFor();
    const url = page.url();
    assert.ok(!url.includes(MARK), url);
    assert.ok(!url.includes(visitor.project), url);
    assert.ok(!(await page.content()).includes(MARK));
  }
  await page.goto(visitor.site.url);
});

test("another person who replaces the session finds nothing either", async ({ visitor }) => {
  const { page } = visitor;
  await setEverything(visitor);
  await page.getByRole("button", { name: /^Account:/ }).click();
  await page.getByRole("button", { name: "Use another token" }).click();
  await page.getByRole("status").filter({ hasText: "You’re still signed in" }).waitFor();
  assert.equal((await page.request.get(`${visitor.site.url}/session`)).status(), 200);
  await findNothing(visitor);
});

/** Signs another person in, who looks for things of every kind. */
async function findNothing({ page, token }) {
  await submitToken(page, token({ sub: "next-person", projects: [EMPTY_PROJECT] }));
  await page.getByRole("button", { name: "Sign out" }).waitFor();
  await visitEverything(page);
  assert.deepEqual(await findInPage(page), []);
  assert.deepEqual(await findInMemory(page), []);
}

/** Creates or chooses a thing of every kind. Each contains `MARK`. */
async function setEverything(visitor) {
  const { page, token, signIn, openComposer, startAndOpenJob, openReport } = visitor;
  await signIn(token({ sub: `${MARK}-person` }));
  await startAndOpenJob(`Start ${MARK}`);
  await page.getByLabel("Follow-up message").fill(`Follow up ${MARK}`);
  await page.getByRole("navigation", { name: "Breadcrumb" }).getByRole("link").click();
  await page.getByLabel("Search prompts").fill(MARK);
  await page.waitForURL(/text=/);
  await (await openComposer()).fill(`Template ${MARK}`);
  await page.getByRole("button", { name: "Templates" }).click();
  await page.getByRole("button", { name: "Save this prompt as a template" }).click();
  await page.getByText("Saved as a template").first().waitFor();
  await page.getByLabel("Prompt", { exact: true }).fill(`Draft ${MARK}`);
  await openReport({ range: "last-7-days", sort: "-ai" });
  await page.getByRole("button", { name: "Set site URL" }).click();
  await page.getByLabel("URL of your documentation site").fill(`https://${MARK}.example`);
  await page.getByRole("button", { name: "Save site URL" }).click();
  await page.getByRole("button", { name: /^Views:/ }).click();
  await page.getByLabel("Save this report as").fill(`View ${MARK}`);
  await page.keyboard.press("Enter");
  await page.getByText(`View saved: View ${MARK}`).first().waitFor();
  await page.getByLabel("Filter by path").fill(MARK);
  await page.waitForURL(/path=/);
}

/** Opens the places where things of every kind are listed. */
async function visitEverything(page) {
  await page.getByRole("link", { name: "Page views" }).click();
  await page.getByRole("button", { name: /^Views:/ }).click();
  await page.getByText(/^Save this report with its period/).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Set site URL" }).waitFor();
  await page.getByRole("link", { name: "Agent jobs" }).click();
  const prompt = await openComposer(page);
  await page.getByRole("button", { name: "Templates" }).click();
  await page.getByRole("list", { name: "Built-in templates" }).waitFor();
  assert.equal(await page.getByRole("list", { name: "Your templates" }).count(), 0);
  await page.keyboard.press("Escape");
  await expect(prompt).toHaveValue("");
}

/** Returns the parts of the page, its address and its storage that contain `MARK`. */
function findInPage(page) {
  return page.evaluate((mark) => {
    const isLeft = (text) => text.toLowerCase().includes(mark);
    const fields = [...document.querySelectorAll("input, textarea")].map(({ value }) => value);
    const places = {
      address: decodeURIComponent(location.href),
      "history state": JSON.stringify(history.state),
      title: document.title,
      document: document.documentElement.outerHTML,
      fields: fields.join("\n"),
      "local storage": JSON.stringify({ ...localStorage }),
      "session storage": JSON.stringify({ ...sessionStorage }),
      cookies: document.cookie,
    };
    return Object.entries(places)
      .filter(([, text]) => isLeft(text))
      .map(([place]) => place);
  }, MARK);
}

/** Returns the strings in memory with `MARK`. Undo history can hold the last edited input. */
async function findInMemory(page) {
  const devtools = await page.context().newCDPSession(page);
  const chunks = [];
  devtools.on("HeapProfiler.addHeapSnapshotChunk", ({ chunk }) => chunks.push(chunk));
  await devtools.send("HeapProfiler.enable");
  await devtools.send("HeapProfiler.collectGarbage");
  await devtools.send("HeapProfiler.takeHeapSnapshot", { reportProgress: false });
  await devtools.detach();
  const { strings } = JSON.parse(chunks.join(""));
  assert.ok(strings.some((text) => text.includes("next-person") || text.includes("Sign in")));
  return strings
    .filter((text) => text.includes(MARK))
    .map((text) => `memory: ${text.slice(0, 80)}`);
}
