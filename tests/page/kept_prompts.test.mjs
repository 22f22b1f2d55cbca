/** What a colleague reads of a job that somebody else has started, by what the gateway keeps. */
import assert from "node:assert/strict";
import { describe } from "node:test";
import { startSite } from "./site.mjs";

const FIRST = "Describe the retry option.";
const REST = "Say what it costs, and when not to use it.";
const PROMPT = `${FIRST}\n\n${REST}`;
const FIRST_LINE_ONLY = "The gateway keeps the first line only";

for (const [mode, isWhole] of [
  ["first-line", false],
  ["whole", true],
]) {
  const site = startSite({ vars: { KEEP_PROMPTS: mode } });

  describe(`a gateway that keeps prompts as ${mode}`, () => {
    site.visiting("shows a colleague what it has of one", async (visitor) => {
      const { page, project, signIn, startJob, openJob, token } = visitor;
      await signIn();
      await startJob(PROMPT);
      const own = await openJob(FIRST);
      // What was sent from this browser is known to it.
      await own.getByText(REST).waitFor();
      const id = new URL(page.url()).searchParams.get("job");

      const colleague = await site.browser.newContext({ locale: "en-US" });
      try {
        const theirs = await colleague.newPage();
        await theirs.goto(site.gateway.url);
        await theirs.getByLabel("Access token").fill(token({ sub: "colleague" }));
        await theirs.getByRole("button", { name: "Sign in" }).click();
        await theirs.getByRole("button", { name: "Sign out" }).waitFor();
        const recorded = theirs.waitForResponse(/\/record$/);
        await theirs.goto(`${site.gateway.url}/?route=jobs&project=${project}&job=${id}`);
        await recorded;
        const article = theirs.getByRole("article");
        await article.getByText("Prompt by page-test").waitFor();
        if (isWhole) await article.getByText(REST).waitFor();
        const said = await article.locator(".said-text").first().innerText();
        assert.equal(said.trim(), isWhole ? PROMPT : FIRST);
        assert.equal(await article.getByText(FIRST_LINE_ONLY).count(), isWhole ? 0 : 1);
      } finally {
        await colleague.close();
      }
    });
  });
}
