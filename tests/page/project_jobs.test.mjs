/** The list of a project's jobs on the page, from the ledger of the real gateway. */
import assert from "node:assert/strict";
import { describe } from "node:test";
import { accessibilityFaults, overflow } from "./browser.mjs";
import { startSite } from "./site.mjs";

const site = startSite();
const { visiting } = site;

const LIST = { name: "Recent jobs of this project" };
const listOf = (page) => page.getByRole("region", LIST);
const rowsOf = (page) => listOf(page).getByRole("listitem");
const titlesOf = (page) => rowsOf(page).getByRole("button").allTextContents();

describe("the jobs of a project", () => {
  visiting("are listed with who started them, when, and what became of them", async (visitor) => {
    const { page, signIn, startElsewhere } = visitor;
    await startElsewhere("Fix the typos\nin all pages", "zoë");
    await startElsewhere("Break it [fail]", "bot");
    await signIn();
    const done = rowsOf(page).filter({ hasText: "Fix the typos" });
    await done.getByText(/^by zoë, /).waitFor();
    await done.locator("time").waitFor();
    await page.getByRole("button", { name: "Refresh" }).waitFor();
    await listOf(page)
      .getByText(/^As of \d/)
      .waitFor();
    assert.deepEqual(await titlesOf(page), ["Break it [fail]", "Fix the typos"]);

    await untilRefreshed(page, () => done.getByText("Pull request ready").isVisible());
    const [job] = (await site.upstream.jobs()).filter(({ prompt }) => /typos/.test(prompt));
    const link = done.getByRole("link", { name: /^Pull request acme\/docs#\d+$/ });
    assert.equal(await link.getAttribute("href"), job.prLink);
    const failed = rowsOf(page).filter({ hasText: "Break it" });
    await untilRefreshed(page, () => failed.getByText("Failed").isVisible());
  });

  visiting("open in a card that watches them", async ({ page, signIn, startElsewhere }) => {
    const { id } = await startElsewhere("Open me", "zoë");
    await signIn();
    await listOf(page).getByRole("button", { name: "Open me" }).press("Enter");
    const card = page.getByRole("article", { name: "Open me" });
    await card.getByText(id, { exact: true }).waitFor();
    await card.getByText("zoë", { exact: true }).waitFor();
    await card.getByText("Pull request ready", { exact: true }).waitFor();
    await rowsOf(page).getByText("Pull request ready").waitFor();
    await rowsOf(page).getByText("in this tab").waitFor();
    assert.equal(await card.getByRole("button", { name: "Run again" }).count(), 0);

    // Once more leads to the same card, closed as it may be by now.
    const title = (expanded) => card.getByRole("button", { name: "Open me", expanded });
    await title(true).click();
    await title(false).waitFor();
    await listOf(page).getByRole("button", { name: "Open me" }).click();
    await title(true).waitFor();
    await card.locator("button:focus", { hasText: "Open me" }).waitFor();
    assert.equal(await page.getByRole("article").count(), 1);
  });

  visiting("follow what is started and finished here", async ({ page, signIn, startJob }) => {
    await signIn();
    await listOf(page).getByText("No job was started through this gateway yet").waitFor();
    await startJob("Started here");
    const row = rowsOf(page).filter({ hasText: "Started here" });
    await row.getByText("Working").waitFor();
    await row.getByText(/^by page-test, /).waitFor();
    await row.getByText("Pull request ready").waitFor();
    await row.getByRole("link").waitFor();
  });

  visiting("come page by page, each once", async ({ page, signIn, startElsewhere }) => {
    const prompts = Array.from({ length: 23 }, (_, n) => `Number ${n + 1}`);
    for (const prompt of prompts) await startElsewhere(prompt);
    await signIn();
    const more = listOf(page).getByRole("button", { name: "Show more" });
    await more.waitFor();
    assert.equal(await rowsOf(page).count(), 10);

    await more.focus();
    await page.keyboard.press("Enter");
    await rowsOf(page).nth(19).waitFor();
    await page.waitForFunction(() => document.activeElement?.textContent === "Number 13");
    await startElsewhere("Number 24");
    await page.getByRole("button", { name: "Refresh" }).click();
    await listOf(page).getByRole("button", { name: "Number 24" }).waitFor();
    await more.click();
    await more.waitFor({ state: "detached" });
    assert.deepEqual(await titlesOf(page), ["Number 24", ...prompts.reverse()]);
  });

  visiting("need the scope to read jobs, and say so", async ({ page, token, signIn, record }) => {
    await signIn(token({ scope: "jobs:create" }));
    await listOf(page).getByText("it cannot list the jobs of the project").waitFor();
    assert.equal(await page.getByRole("button", { name: "Refresh" }).count(), 0);
    assert.ok(!record.urls.some((url) => url.includes("/jobs")));
  });

  visiting(
    "that cannot be had can be asked for again",
    async ({ page, signIn, startElsewhere }) => {
      await startElsewhere("Still here");
      await page.route("**/jobs?*", (route) => route.abort());
      await signIn();
      const alert = listOf(page).getByRole("alert");
      await alert.getByText("The gateway could not be reached").waitFor();
      await page.unroute("**/jobs?*");
      await alert.getByRole("button", { name: "Retry" }).click();
      await listOf(page).getByRole("button", { name: "Still here" }).waitFor();
      await alert.waitFor({ state: "detached" });
    },
  );

  visiting("with an unsafe pull request address get no link", async (visitor) => {
    const { page, signIn, startElsewhere } = visitor;
    const { id } = await startElsewhere("Be tricked");
    const tricked = { status: "completed", prLink: "javascript:alert(1)" };
    await site.upstream.setJob(id, tricked);
    await signIn();
    await untilRefreshed(page, () => listOf(page).getByText("not safe to open").isVisible());
    assert.equal(await listOf(page).getByRole("link").count(), 0);
  });

  for (const colorScheme of ["light", "dark"]) {
    const narrow = { colorScheme, viewport: { width: 375, height: 720 } };
    visiting(
      `are accessible and fit a narrow window in ${colorScheme} colours`,
      async ({ page, signIn, startElsewhere }) => {
        await signIn();
        assert.deepEqual(await accessibilityFaults(page), [], "none");
        await startElsewhere("Fail [fail]", "somebody-with-a-long-name@subdomain.example.com");
        await startElsewhere("Ask [status:needs review]");
        await startElsewhere(`Rename ${"averyveryverylongword".repeat(5)}`);
        await page.getByRole("button", { name: "Refresh" }).click();
        await rowsOf(page).nth(2).waitFor();
        await rowsOf(page).first().getByRole("button").focus();
        assert.ok((await overflow(page)) <= 0, "fits");
        assert.deepEqual(await accessibilityFaults(page), [], "some");
        await untilRefreshed(
          page,
          async () => (await rowsOf(page).getByRole("link").count()) === 2,
        );
        assert.ok((await overflow(page)) <= 0, "fits with a link");
        assert.deepEqual(await accessibilityFaults(page), [], "finished");
      },
      narrow,
    );
  }
});

/** Asks for the list until it shows what is awaited. */
async function untilRefreshed(page, isShown) {
  const deadline = performance.now() + 20_000;
  while (!(await isShown())) {
    assert.ok(performance.now() < deadline, "the list never showed it");
    const answered = page.waitForResponse((response) => response.url().includes("/jobs?"));
    await page.getByRole("button", { name: "Refresh" }).click();
    await answered;
    await page.waitForTimeout(200);
  }
}
