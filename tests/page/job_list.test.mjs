/** The list of a project's jobs and each job by itself, from the ledger of the real gateway. */
import assert from "node:assert/strict";
import { describe } from "node:test";
import { accessibilityFaults, overflow } from "./browser.mjs";
import { startSite } from "./site.mjs";

const site = startSite();
const { visiting } = site;

const rowsOf = (page) =>
  page.getByRole("region", { name: "Jobs of this project" }).getByRole("listitem");
const titlesOf = (page) => rowsOf(page).locator(".ledger-title").allTextContents();
/** Waits until just these jobs are listed. */
const untilTitles = (page, titles) =>
  page.waitForFunction((expected) => {
    const shown = [...document.querySelectorAll("li .ledger-title")];
    return JSON.stringify(shown.map(({ textContent }) => textContent)) === expected;
  }, JSON.stringify(titles));
const untilFocused = (page, text) =>
  page.waitForFunction((text) => document.activeElement?.textContent === text, text);
const jobUrl = (project, id) => `${site.gateway.url}/?route=jobs&project=${project}&job=${id}`;

describe("the jobs of a project", () => {
  visiting("are listed with who started them, when, and what became of them", async (visitor) => {
    const { page, signIn, startElsewhere, rowOf } = visitor;
    await startElsewhere("Fix the typos\nin all pages", "zoë");
    await startElsewhere("Break it [fail]", "bot");
    await signIn();
    const done = rowOf("Fix the typos");
    await done.getByText("zoë", { exact: true }).waitFor();
    await done.locator("time").waitFor();
    assert.deepEqual(await titlesOf(page), ["Break it [fail]", "Fix the typos"]);

    // They keep up by themselves.
    await done.getByText("Pull request ready").waitFor();
    const [job] = (await site.upstream.jobs()).filter(({ prompt }) => /typos/.test(prompt));
    const link = done.getByRole("link", { name: /^Pull request acme\/docs#\d+$/ });
    assert.equal(await link.getAttribute("href"), job.prLink);
    await rowOf("Break it").getByText("Failed").waitFor();
  });

  visiting("appear without a reload, whoever starts them", async (visitor) => {
    const { page, signIn, startElsewhere, rowOf } = visitor;
    await signIn();
    await page.getByText("No job was started through this gateway yet").waitFor();
    await startElsewhere("Started by a colleague", "zoë");
    await rowOf("Started by a colleague").waitFor();
  });

  visiting("are found by state, author and text, which the address keeps", async (visitor) => {
    const { page, signIn, startElsewhere, rowOf } = visitor;
    await startElsewhere("Fix the typos", "zoë");
    await startElsewhere("Fix the links", "bot");
    await startElsewhere("Break it [fail]", "bot");
    await signIn();
    await rowOf("Break it").getByText("Failed").waitFor();

    await page.getByLabel("Author").selectOption("bot");
    await untilTitles(page, ["Break it [fail]", "Fix the links"]);
    await page.getByRole("heading", { level: 1 }).click();
    await page.keyboard.press("/");
    await page.keyboard.type("FIX");
    await untilTitles(page, ["Fix the links"]);
    await page.waitForURL(/author=bot.*text=FIX/);
    await page.reload();
    await untilTitles(page, ["Fix the links"]);

    await page.getByLabel("Prompt contains").fill("nothing like it");
    await page.getByText("No job matches").waitFor();
    await page.getByRole("button", { name: "Clear the filter" }).click();
    await rowOf("Fix the typos").waitFor();
    assert.equal(await page.getByLabel("Prompt contains").inputValue(), "");
    await page.getByLabel("State").selectOption("Failed");
    await untilTitles(page, ["Break it [fail]"]);
    await page.goBack();
    await rowOf("Fix the typos").waitFor();
  });

  visiting("come page by page, each once", async ({ page, signIn, startElsewhere }) => {
    const prompts = Array.from({ length: 28 }, (_, n) => `Number ${n + 1}`);
    for (const prompt of prompts) await startElsewhere(prompt);
    await signIn();
    const more = page.getByRole("button", { name: "Show more" });
    await more.waitFor();
    assert.equal(await rowsOf(page).count(), 25);
    await startElsewhere("Number 29");
    await page.getByRole("button", { name: "Refresh" }).click();
    await page.getByRole("link", { name: "Number 29" }).waitFor();
    // The stream may be quicker than what refreshing asks for, during which there is no further page.
    await page.getByRole("button", { name: "Show more", disabled: false }).waitFor();
    await more.focus();
    await page.keyboard.press("Enter");
    await more.waitFor({ state: "detached" });
    assert.deepEqual(await titlesOf(page), ["Number 29", ...prompts.reverse()]);
  });

  visiting("need the scope to read jobs, and say so", async ({ page, token, signIn, record }) => {
    await signIn(token({ scope: "jobs:create" }));
    await page.getByText("it cannot list or follow jobs").waitFor();
    assert.equal(await page.getByRole("button", { name: "Refresh" }).count(), 0);
    assert.ok(!record.urls.some((url) => url.includes("/v2/")));
  });

  visiting("that cannot be had can be asked for again", async (visitor) => {
    const { page, signIn, startElsewhere, rowOf } = visitor;
    await startElsewhere("Still here");
    // Only what the button asks for is let through.
    const isRetried = () => page.evaluate(() => "retried" in document.body.dataset);
    await page.route("**/jobs?*", async (route) => {
      if (await isRetried()) await route.continue();
      else await route.abort();
    });
    await signIn();
    const alert = page.getByRole("alert").filter({ hasText: "could not be reached" });
    const retry = alert.getByRole("button", { name: "Retry" });
    await retry.evaluate((button) =>
      button.addEventListener("click", () => {
        document.body.dataset.retried = "";
      }),
    );
    await retry.click();
    await rowOf("Still here").waitFor();
    await alert.waitFor({ state: "detached" });
  });

  visiting("with an unsafe pull request address get no link", async (visitor) => {
    const { page, signIn, startElsewhere, rowOf } = visitor;
    const { id } = await startElsewhere("Be tricked");
    await site.upstream.setJob(id, { status: "completed", prLink: "javascript:alert(1)" });
    await signIn();
    await page.getByText("not safe to open").waitFor();
    assert.equal(await rowOf("Be tricked").getByRole("link").count(), 1);
  });

  visiting("need two streams at most, however many are at work", async (visitor) => {
    const { page, signIn, startJob, openJob, startElsewhere } = visitor;
    const streams = countStreams(page.context());
    for (let n = 1; n <= 7; n++) {
      const { id } = await startElsewhere(`Number ${n}`, "page-test");
      await site.upstream.setJob(id, { status: "never finished" });
    }
    await signIn();
    await startJob("The eighth");
    await openJob("The eighth");
    await page.goBack();
    await openJob("Number 3");
    assert.ok(streams.most <= 2, `${streams.most} streams`);
  });

  visiting("need one stream for all tabs", async (visitor) => {
    const { page, signIn, startElsewhere } = visitor;
    const streams = countStreams(page.context());
    await signIn();
    const tabs = [page, await page.context().newPage(), await page.context().newPage()];
    for (const tab of tabs.slice(1)) await tab.goto(page.url());
    for (const tab of tabs) await tab.getByText("No job was started").waitFor();
    await startElsewhere("News for all", "zoë");
    for (const tab of tabs) await tab.getByRole("link", { name: "News for all" }).waitFor();
    assert.ok(streams.most <= 1, `${streams.most} streams`);
  });
});

/** How many event streams the tabs of a browser have open, at most. */
function countStreams(context) {
  const open = new Set();
  const streams = { most: 0 };
  context.on("request", (request) => {
    if (!new URL(request.url()).pathname.endsWith("/events")) return;
    open.add(request);
    streams.most = Math.max(streams.most, open.size);
  });
  context.on("requestfinished", (request) => open.delete(request));
  context.on("requestfailed", (request) => open.delete(request));
  return streams;
}

describe("a job by itself", () => {
  visiting("has an address of its own, and leads back to its row", async (visitor) => {
    const { page, signIn, startElsewhere, openJob, project } = visitor;
    const { id } = await startElsewhere("Open me", "zoë");
    await signIn();
    await page.getByRole("link", { name: "Open me" }).focus();
    await page.keyboard.press("Enter");
    await page.waitForURL(jobUrl(project, id));
    const job = page.getByRole("article", { name: "Open me" });
    await job.getByText(id, { exact: true }).waitFor();
    await untilFocused(page, "Open me");
    await page.getByRole("link", { name: "All jobs" }).click();
    await page.getByRole("button", { name: "New job" }).waitFor();
    await untilFocused(page, "Open me");
    await openJob("Open me");
    await page.goBack();
    await rowsOf(page).first().waitFor();
  });

  visiting("can be shared", async ({ page, signIn, startElsewhere, project }) => {
    const { id } = await startElsewhere("Shared", "zoë");
    await signIn();
    const link = jobUrl(project, id);
    await page.goto(link);
    const job = page.getByRole("article", { name: "Shared" });
    await job.getByText("Pull request ready", { exact: true }).waitFor();
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await job.getByRole("button", { name: "Copy link to this page" }).click();
    await job.getByRole("button", { name: "Copied" }).waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), link);
    await job.getByRole("button", { name: "Copy id" }).click();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), id);
  });

  visiting("that nobody knows says so, and no time runs", async ({ page, signIn, project }) => {
    await signIn();
    await page.goto(jobUrl(project, "no-such-job"));
    const job = page.getByRole("article");
    await job.getByText(`No job has this id in ${project}`).waitFor();
    assert.equal(await job.locator("time").count(), 0);
    assert.equal(await job.getByText("Watching for changes").count(), 0);
    await job.getByRole("link", { name: "All jobs" }).click();
    await page.getByText("Open a job by its id").click();
    await page.getByLabel("Job id").fill(" no-such-job ");
    await page.getByRole("button", { name: "Open", exact: true }).click();
    await job.getByText("No job has this id").waitFor();
  });

  visiting("is titled by a line, however long its prompt’s paragraph is", async (visitor) => {
    const { page, signIn, sendPrompt } = visitor;
    await signIn();
    const paragraph = "Rewrite the guide so that it is clear, complete and short. "
      .repeat(14)
      .trim();
    await sendPrompt(paragraph);
    await page.getByRole("link", { name: /^Rewrite the guide/ }).click();
    const job = page.getByRole("article");
    const title = job.getByRole("heading", { level: 2 });
    await title.waitFor();
    const lines = await title.evaluate((element) => {
      const { lineHeight } = getComputedStyle(element);
      return Math.round(element.getBoundingClientRect().height / Number.parseFloat(lineHeight));
    });
    assert.ok(lines <= 2, `${lines} lines`);
    await job.getByText(paragraph, { exact: true }).waitFor();
  });

  visiting("shows what another tab sends to it", async ({ page, signIn, startJob, openJob }) => {
    await signIn();
    await startJob("Talk to me");
    const job = await openJob("Talk to me");
    const other = await page.context().newPage();
    await other.goto(page.url());
    await other.getByLabel("Follow-up message").fill("From the other tab\nin two lines");
    await other.getByRole("button", { name: "Send follow-up" }).click();
    const thread = job.getByRole("list", { name: "Follow-ups sent" });
    await thread.getByText("in two lines").waitFor();
    await other.getByRole("list", { name: "Follow-ups sent" }).getByText("in two lines").waitFor();
    await other.close();
  });

  visiting(
    "tells of its end in a message, and in the title while nobody looks",
    async (visitor) => {
      const { page, signIn, startJob } = visitor;
      await signIn();
      await startJob("Tell me when you are done");
      await page.waitForFunction(() => document.title.startsWith("(1) "));
      await page.evaluate(() => {
        Object.defineProperty(document, "hidden", { value: true, configurable: true });
      });
      await page.waitForFunction(() => document.title.startsWith("✓ "));
      await page.evaluate(() => {
        delete document.hidden;
        document.dispatchEvent(new Event("visibilitychange"));
      });
      await page.waitForFunction(() => document.title.startsWith("Agent jobs"));
      const message = page
        .getByRole("region", { name: "Messages" })
        .getByText("Pull request ready: Tell me when you are done");
      await message.waitFor();
      await page
        .getByRole("region", { name: "Messages" })
        .getByRole("button", { name: "Open" })
        .click();
      await page.getByRole("article", { name: "Tell me when you are done" }).waitFor();
    },
  );

  visiting("is told of outside of the page only when that is asked for", async (visitor) => {
    const { page, signIn, startJob } = visitor;
    await page.addInitScript(() => {
      const told = [];
      const asked = [];
      class Notification extends EventTarget {
        static permission = "default";
        static async requestPermission() {
          asked.push("permission");
          Notification.permission = "granted";
          return "granted";
        }
        constructor(title, { body }) {
          super();
          told.push(`${title}: ${body}`);
        }
      }
      Object.assign(window, { Notification, told, asked });
    });
    await signIn();
    const button = page.getByRole("button", { name: "Notify me when my jobs finish" });
    await button.waitFor();
    assert.deepEqual(await page.evaluate(() => window.asked), []);
    await button.click();
    await page.getByRole("button", { name: "Stop notifying me" }).waitFor();
    await startJob("Notify me");
    await page.evaluate(() => {
      Object.defineProperty(document, "hidden", { value: true, configurable: true });
    });
    await page.waitForFunction(() => window.told.length === 1);
    assert.deepEqual(await page.evaluate(() => window.told), ["Pull request ready: Notify me"]);
    assert.deepEqual(await page.evaluate(() => window.asked), ["permission"]);
  });
});

describe("jobs", () => {
  for (const colorScheme of ["light", "dark"]) {
    for (const width of [1280, 360]) {
      visiting(
        `are accessible and fit ${width} pixels in ${colorScheme} colours`,
        async (visitor) => {
          const { page, signIn, startElsewhere, startJob, openJob, openComposer, rowOf } = visitor;
          const check = async (what) => {
            assert.ok((await overflow(page)) <= 0, `${what} fits`);
            assert.deepEqual(await accessibilityFaults(page), [], what);
          };
          await signIn();
          await page.getByText("No job was started").waitFor();
          await check("none");
          await startElsewhere("Fail [fail]", "somebody-with-a-long-name@subdomain.example.com");
          await startElsewhere("Ask [status:needs review]");
          await startElsewhere(`Rename ${"averyveryverylongword".repeat(5)}`);
          await startJob("Check it all\n\nLine by line.");
          await rowOf("Fail").getByText("Failed").waitFor();
          await rowOf("Check it all").getByText("Pull request ready").waitFor();
          await check("some");
          await (await openComposer()).fill("Half a thought");
          await page.getByText("Templates", { exact: true }).click();
          await check("templates");
          await page.getByRole("button", { name: "Add an example" }).click();
          await page.getByRole("list", { name: "Drafts" }).waitFor();
          await check("drafts");
          await page.keyboard.press("Escape");
          const job = await openJob("Check it all");
          await job.getByLabel("Follow-up message").fill("Also the images");
          await job.getByRole("button", { name: "Send follow-up" }).click();
          await job.getByRole("list", { name: "Follow-ups sent" }).waitFor();
          await check("a job");
          await page.goBack();
          const failed = await openJob("Fail [fail]");
          await failed.getByText(/^This job failed/).waitFor();
          await check("a failed job");
        },
        { colorScheme, viewport: { width, height: 720 } },
      );
    }
  }

  visiting(
    "tell their states by more than colours that a person may replace",
    async ({ page, signIn, startElsewhere, openJob, rowOf }) => {
      await startElsewhere("Fail [fail]");
      await signIn();
      await rowOf("Fail").getByText("Failed").waitFor();
      const border = await rowOf("Fail")
        .locator(".pill")
        .evaluate((pill) => getComputedStyle(pill).borderTopStyle);
      assert.equal(border, "solid");
      assert.deepEqual(await accessibilityFaults(page), []);
      await openJob("Fail [fail]");
      assert.deepEqual(await accessibilityFaults(page), []);
    },
    { forcedColors: "active" },
  );
});
