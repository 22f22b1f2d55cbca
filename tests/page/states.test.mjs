/** Every route and every dead end, in both schemes, at two widths: complete for everybody. */
import assert from "node:assert/strict";
import { describe } from "node:test";
import { newSecret } from "../harness/token.mjs";
import { accessibilityFaults, overflow } from "./browser.mjs";
import { EMPTY_PROJECT, startSite } from "./site.mjs";

/** A job ends when a test says so: the message of its end would come over any other state. */
const NEVER_MS = 24 * 3600 * 1000;
const site = startSite({ upstream: { jobDurationMs: NEVER_MS } });
const heading = (page, name) => page.getByRole("heading", { level: 1, name }).waitFor();
/** Waits until the route's own code has drawn something, and nothing is on its way. */
const settled = (page) =>
  page.waitForFunction(() => {
    const drawn = ".report, .empty, .ledger, article, .sign-in, .notice, .problem";
    const main = document.querySelector("main");
    return main.querySelector(drawn) !== null && main.querySelector("[aria-busy=true]") === null;
  });

describe("every state", () => {
  for (const colorScheme of ["light", "dark"]) {
    for (const width of [1280, 360]) {
      site.visiting(
        `has no fault that axe finds and fits ${width} pixels, in ${colorScheme} colours`,
        (visitor) => lookAtEverything(visitor),
        { colorScheme, viewport: { width, height: 800 } },
      );
    }
  }
});

describe("the bar at the lower edge", () => {
  const PROMPT = `Describe the bar of ${"many words ".repeat(5)}`.trim();
  for (const width of [1280, 360]) {
    site.visiting(
      `is covered by nothing, at ${width} pixels`,
      async ({ page, signIn, startJob, openLastMonth }) => {
        await signIn();
        await startJob(PROMPT);
        await openLastMonth();
        const job = (await site.upstream.jobs()).find(({ prompt }) => prompt === PROMPT);
        await site.upstream.setJob(job.id, { status: "completed" });
        const messages = page.getByRole("region", { name: "Messages" });
        await messages.getByRole("button", { name: "Open" }).waitFor();
        const bar = page.locator(".answer-bar");
        const head = page.locator(".report thead");
        const [above, below] = await Promise.all([messages.boundingBox(), bar.boundingBox()]);
        assert.ok(above.y + above.height <= below.y, JSON.stringify([above, below]));
        const close = messages.getByRole("button", { name: "Close" });
        while ((await close.count()) > 0) await close.first().click();

        // As high a window as puts the head of the table in the bar's place.
        await page.evaluate(() => scrollTo(0, 0));
        const { y, height } = await head.boundingBox();
        await page.setViewportSize({ width, height: Math.round(y + height) + 8 });
        const [behind, front] = await Promise.all([head.boundingBox(), bar.boundingBox()]);
        assert.ok(behind.y + behind.height > front.y, JSON.stringify([behind, front]));
        assert.deepEqual(await accessibilityFaults(page), []);
      },
      { viewport: { width, height: 800 } },
    );
  }
});

async function lookAtEverything(visitor) {
  const { page, token, signIn, startJob, openJob, openComposer, project } = visitor;
  const check = async (state) => {
    assert.deepEqual(await accessibilityFaults(page), [], state);
    assert.ok((await overflow(page)) <= 0, `${state} is wider than the window`);
    const headings = await page.getByRole("heading", { level: 1 }).count();
    assert.equal(headings, 1, `${state} has one first heading`);
  };
  const open = async (search, title) => {
    await page.goto(`${site.gateway.url}/${search}`);
    await heading(page, title);
    await settled(page);
  };

  await open("", "Sign in");
  await page.getByText("How do I get a token?").click();
  await check("the question for a token");
  await page.getByLabel("Access token").fill(token({}, newSecret()));
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("did not accept this token").waitFor();
  await check("a token that was refused");

  await signIn(token({ projects: [project, EMPTY_PROJECT], sub: "somebody.with.a.long.name" }));
  await settled(page);
  await check("no jobs");
  await startJob(`Describe ${"averyveryverylongword".repeat(4)}`);
  await check("jobs");
  await openComposer();
  await check("a new job");
  await openJob("Describe");
  await check("a job");
  await page.getByRole("button", { name: /Session of/ }).click();
  await check("the session menu");
  await page.getByRole("button", { name: "Keyboard shortcuts" }).click();
  await page.getByRole("dialog").waitFor();
  await check("the shortcuts");

  for (const [route, title] of [
    ["views", "Page views"],
    ["visitors", "Visitors"],
    ["searches", "Searches"],
    ["feedback", "Feedback"],
  ]) {
    const target = `/v1/analytics/${project}/`;
    const days = { "last-7-days": "its first page", "last-90-days": "more" };
    for (const [at, [range, what]] of Object.entries(days).entries()) {
      await site.upstream.hold({ target, after: at });
      await page.goto(`${site.gateway.url}/?route=${route}&project=${project}&range=${range}`);
      await heading(page, title);
      await page.locator(".progress").waitFor();
      await site.upstream.untilHeld(1);
      await check(`${route} while ${what} is on its way`);
      await site.upstream.release();
    }
    await open(`?route=${route}&project=${project}`, title);
    await check(route);
  }
  await open(`?route=views&project=${EMPTY_PROJECT}`, "Page views");
  await check("an empty project");
  await open("?route=jobs&project=unknown", "Agent jobs");
  await page.getByText("which your session does not include").waitFor();
  await check("an unknown project");
  await open(`?route=jobs&project=${project}&job=unknown`, "Agent jobs");
  await check("an unknown job");

  await page.getByRole("button", { name: "Sign out" }).click();
  await signIn(token({ scope: "jobs:read" }));
  await open(`?route=views&project=${project}`, "Page views");
  await page.getByText("which your session lacks").waitFor();
  await check("a route that is not allowed");
}
