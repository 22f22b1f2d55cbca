import assert from "node:assert/strict";
import { newSecret } from "../harness/token.mjs";
import { accessibilityFaults, checkBothSchemes, matrixOf } from "./browser.mjs";
import { test } from "./fixtures.mjs";
import { EMPTY_PROJECT, LARGE_SITE } from "./sites.mjs";
import { submitToken } from "./visitor.mjs";

const REPORTS = {
  views: ["Page views", "Page views by path"],
  visitors: ["Visitors", "Visitors by path"],
  searches: ["Searches", "Searches by term"],
  feedback: ["Feedback", "Feedback"],
};

for (const [width, options] of matrixOf([360, 1280])) {
  test.describe(`${width} pixels`, options, () => {
    test.use({ viewport: { width, height: 800 } });

    test(`axe finds no fault in any job state at ${width} pixels`, async ({ visitor }) => {
      const { site, page, project, token, signIn, startJob } = visitor;
      await open({ site, page }, "", "Sign in");
      await page.getByText("How do I get a token?").click();
      await check(page, "help with tokens");
      await submitToken(page, token({}, newSecret()));
      await page.getByText("didn’t accept this token").waitFor();
      await check(page, "a rejected token");

      await signIn(token({ projects: [project, EMPTY_PROJECT], sub: "somebody.with.a.long.name" }));
      await startJob(`Describe ${"averyveryverylongword".repeat(4)}`);
      await page.getByRole("button", { name: /^Status/ }).click();
      await check(page, "the filter by state");
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: /^Account:/ }).click();
      await check(page, "the session menu");
      await page.getByRole("button", { name: "Keyboard shortcuts" }).click();
      await page.getByRole("dialog").waitFor();
      await check(page, "the shortcuts");

      await open({ site, page }, "?route=jobs&project=unknown", "Agent jobs");
      await page.getByText("You don’t have access to the project").waitFor();
      await check(page, "an unknown project");
      await open({ site, page }, `?route=jobs&project=${project}&job=unknown`, "Job unknown");
      await check(page, "an unknown job");
    });

    test(`axe finds no fault in any report state at ${width} pixels`, async ({ visitor }) => {
      const { site, page, project, token, startSession } = visitor;
      await startSession(token({ projects: [project, EMPTY_PROJECT] }));
      const pending = { "last-7-days": "its first page", "last-90-days": "more pages" };
      for (const [after, [range, pages]] of Object.entries(pending).entries()) {
        await site.upstream.hold({ target: `/v1/analytics/${project}/`, after });
        await page.goto(`${site.url}/?route=views&project=${project}&range=${range}`);
        await page.getByRole("progressbar").waitFor();
        await site.upstream.untilHeld(1);
        await check(page, `views while they load ${pages}`);
        await site.upstream.release();
      }
      for (const [route, [title, table]] of Object.entries(REPORTS)) {
        await open({ site, page }, `?route=${route}&project=${project}`, title);
        await page.getByRole("table", { name: table }).getByRole("rowheader").first().waitFor();
        await check(page, route);
      }
      await open({ site, page }, `?route=views&project=${EMPTY_PROJECT}`, "Page views");
      await check(page, "an empty project");

      await startSession(token({ scope: "jobs:read" }));
      await open({ site, page }, `?route=views&project=${project}`, "Page views");
      await page.getByText("permission to see page views").waitFor();
      await check(page, "a route outside the scopes");
    });

    test.describe("large site", () => {
      test.use({ siteOptions: LARGE_SITE });

      test(`nothing covers the bar at the lower edge at ${width} pixels`, async ({ visitor }) => {
        const { page, signIn, startJob, endJob, untilLoaded } = visitor;
        const prompt = `Describe the bar of ${"many words ".repeat(5)}`.trim();
        await signIn();
        await startJob(prompt);
        // Opens last month, which no longer changes, by clicking.
        await page.getByRole("link", { name: "Page views" }).click();
        await page.getByRole("button", { name: /^Period/ }).click();
        await page.getByRole("button", { name: "Last month", exact: true }).click();
        await untilLoaded();
        await page.getByText(/^Showing the top/).waitFor();
        await endJob(prompt);
        const messages = page.getByRole("region", { name: "Messages" });
        await messages.getByRole("button", { name: "Open" }).waitFor();
        const bar = page.locator("#answer-bar");
        const head = page.locator(".report_table-table thead");
        const [above, below] = await Promise.all([messages.boundingBox(), bar.boundingBox()]);
        assert.ok(above.y + above.height <= below.y, JSON.stringify([above, below]));
        const close = messages.getByRole("button", { name: "Close" });
        while ((await close.count()) > 0) await close.first().click();

        await checkBothSchemes(page, "a partly loaded list");

        // Shrink the window until the bar covers the head of the table.
        await page.evaluate(() => scrollTo(0, 0));
        const { y, height } = await head.boundingBox();
        await page.setViewportSize({ width, height: Math.round(y + height) + 8 });
        const [behind, front] = await Promise.all([head.boundingBox(), bar.boundingBox()]);
        assert.ok(behind.y + behind.height > front.y, JSON.stringify([behind, front]));
        assert.deepEqual(await accessibilityFaults(page, { rules: ["target-size"] }), []);
      });
    });
  });
}

async function open({ site, page }, search, title) {
  await page.goto(`${site.url}/${search}`);
  await page.getByRole("heading", { level: 1, name: title }).waitFor();
  await page.waitForFunction(() => {
    const drawn =
      ".report_table-table, .empty, .live_rows-ledger, article, .sign_in-route, .notice, .problem";
    const main = document.querySelector("main");
    return main.querySelector(drawn) !== null && main.querySelector("[aria-busy=true]") === null;
  });
}

async function check(page, state) {
  await checkBothSchemes(page, state);
  const headings = await page.getByRole("heading", { level: 1 }).count();
  assert.equal(headings, 1, `${state} has one first heading`);
}
