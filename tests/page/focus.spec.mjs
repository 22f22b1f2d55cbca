import { deployElsewhere, openDeployments } from "./deployments.mjs";
import { expect, test } from "./fixtures.mjs";
import { daysAgo } from "./reports.mjs";
import { LARGE_SITE } from "./sites.mjs";
import { changeResponses, untilFocused } from "./visitor.mjs";
import { createGate } from "./waiting.mjs";

const LAST_MONTH = { range: "last-month", compare: "none" };
const rowsOf = (page) => page.getByRole("region", { name: "Rows" });
const headingOf = (name, level) => (page) => page.getByRole("heading", { name, level });

/** Delays lists and streams, because their news hide a problem. */
const holdLists = (page) => page.route(/\/(jobs|deployments)(\?|\/events|$)/, () => {});

/** Opens the route with a failing request. Returns the button that repeats it, and its success. */
async function openFailing({ page }, url, open) {
  await page.route(url, (route) => route.fulfill({ status: 403, json: { status: 403 } }));
  await open();
  const button = page.getByRole("main").getByRole("button", { name: /^(Check|Try) again$/ });
  await button.first().waitFor();
  return [button.first(), () => page.unroute(url)];
}

async function openSelection({ page, startAtReport }) {
  await startAtReport(LAST_MONTH);
  await page.getByRole("button", { name: "Select rows" }).click();
  await page.getByRole("checkbox").nth(1).check();
}

/** By the button that disappears: how to get there, and what then has the focus. */
const REMOVALS = {
  "Done of a selection": [
    async (visitor) => {
      await openSelection(visitor);
      return [visitor.page.getByRole("button", { name: "Done" })];
    },
    rowsOf,
  ],
  "Close of a message": [
    async (visitor) => {
      const { page } = visitor;
      await openSelection(visitor);
      await page.getByRole("button", { name: "Save as CSV" }).click();
      const messages = page.getByRole("region", { name: "Messages" });
      return [messages.getByRole("button", { name: "Close" })];
    },
    headingOf("Page views", 1),
  ],
  "Load in a section": [
    async ({ page, startAtReport }) => {
      await startAtReport(LAST_MONTH);
      await page.getByRole("rowheader").getByRole("link").first().click();
      return [page.getByRole("button", { name: "Load feedback" })];
    },
    headingOf("Feedback", 2),
  ],
  "Check again of a job": [
    async (visitor) => {
      const { site, page, project, startSession, startElsewhere } = visitor;
      const { id } = await startElsewhere("Fix the typos");
      await startSession();
      await holdLists(page);
      const open = () => page.goto(`${site.url}/?route=jobs&project=${project}&job=${id}`);
      return openFailing(visitor, /\/job\/[^/]+$/, open);
    },
    headingOf("Fix the typos", 1),
  ],
  "Try again of a list": [
    async (visitor) => {
      const { signIn } = visitor;
      return openFailing(visitor, /\/jobs\?/, signIn);
    },
    headingOf("Jobs in this project", 2),
  ],
  "Try again of Today": [
    async (visitor) => {
      const { site, page, project, startSession } = visitor;
      await startSession();
      const open = () => page.goto(`${site.url}/?route=today&project=${project}`);
      return openFailing(visitor, /\/jobs\?/, open);
    },
    headingOf("Pull requests to review", 2),
  ],
  "Check again of a deployment": [
    async (visitor) => {
      const { statusId: id } = await deployElsewhere(visitor);
      await holdLists(visitor.page);
      return openFailing(visitor, /\/update-status\//, () => openDeployments(visitor, { id }));
    },
    headingOf("Deployment of the site", 1),
  ],
  "the rest of a log": [
    async (visitor) => {
      const { page } = visitor;
      const logs = Array.from({ length: 201 }, (_, line) => `Step ${line}`);
      await changeResponses(page, "**/update-status/*", (body) => ({ ...body, logs }));
      // The stream would show the log of the platform.
      await page.route("**/deployments/*/events", () => {});
      const { statusId: id } = await deployElsewhere(visitor);
      await openDeployments(visitor, { id });
      return [page.getByRole("button", { name: "Show 1 line before these" })];
    },
    headingOf("Log", 2),
  ],
};

for (const [name, [open, next]] of Object.entries(REMOVALS)) {
  test(`when ${name} disappears, the part around it has the focus`, async ({ visitor }) => {
    const [button, mend] = await open(visitor);
    await mend?.();
    await button.press("Enter");
    await expect(next(visitor.page)).toBeFocused();
    await expect(button).toHaveCount(0);
  });
}

/**
 * By the button that repeats a failed request: the request, how to get to the button that sends it
 * first, and what then has the focus.
 */
const REPEATS = {
  "Send again of a follow-up": [
    /\/job\/[^/]+\/message$/,
    async ({ site, page, project, startSession, startElsewhere }) => {
      const { id } = await startElsewhere("Fix the typos");
      await startSession();
      await page.goto(`${site.url}/?route=jobs&project=${project}&job=${id}`);
      await page.getByLabel("Follow-up message").fill("Once more");
      return page.getByRole("button", { name: "Send follow-up" });
    },
    (page) => page.getByLabel("Follow-up message"),
  ],
  "Send again of a deployment": [
    /\/v1\/project\/update\//,
    async (visitor) => {
      await openDeployments(visitor);
      await visitor.page.getByRole("button", { name: "Deploy", exact: true }).click();
      return deployIn(visitor.page);
    },
    deployIn,
  ],
  "Refresh again of a report": [
    /\/v1\/analytics\//,
    async ({ page, startAtReport }) => {
      await startAtReport(LAST_MONTH);
      return refreshIn(page);
    },
    refreshIn,
  ],
};

function refreshIn(page) {
  return page.getByRole("button", { name: "Refresh", exact: true });
}

function deployIn(page) {
  const dialog = page.getByRole("dialog", { name: "Deploy the site?" });
  return dialog.getByRole("button", { name: "Deploy", exact: true });
}

for (const [name, [url, start, next]] of Object.entries(REPEATS)) {
  test(`when ${name} fails, its form or route has the focus`, async ({ visitor }) => {
    const { page } = visitor;
    const { opened, open } = createGate();
    let answered;
    const first = await start(visitor);
    await page.route(url, async (route) => {
      await answered;
      await route.fulfill({ status: 403, json: { status: 403 } });
    });
    await first.click();
    const button = page.getByRole("button", { name: name.split(" of ")[0] });
    await button.waitFor();
    answered = opened;
    await button.press("Enter");
    await expect(button).toHaveCount(0);
    // The part around the button takes the focus until the answer.
    await page.waitForFunction(() => document.activeElement !== document.body);
    open();
    await button.waitFor();
    await expect(next(page)).toBeFocused();
  });
}

test.describe("large site", () => {
  test.use({ siteOptions: LARGE_SITE });

  test("loading all focuses the rows, and canceling a refresh its button", async ({ visitor }) => {
    const { site, page, startAtReport } = visitor;
    await startAtReport(LAST_MONTH);
    await site.upstream.hold({ operation: "analytics.views" });
    await page.getByRole("button", { name: /^Load all/ }).press("Enter");
    await expect(rowsOf(page)).toBeFocused();
    await page.keyboard.press("Tab");
    await expect(page.getByRole("button", { name: "Cancel" })).toBeFocused();
    await site.upstream.release();
    const loaded = page.getByText(/^All [\d,]+ pages loaded/);
    await loaded.first().waitFor();
    await expect(rowsOf(page)).toBeFocused();

    await site.upstream.hold({ operation: "analytics.views" });
    await page.getByRole("button", { name: "Refresh" }).click();
    await page.getByRole("button", { name: "Cancel" }).press("Enter");
    await expect(page.getByRole("button", { name: "Refresh" })).toBeFocused();
    await site.upstream.release();
  });
});

test("resuming a failed chart loads the rest and focuses the chart", async ({ visitor }) => {
  const { site, page, startAtReport } = visitor;
  await startAtReport({ route: "visitors", range: "last-7-days", compare: "none" });
  const yesterday = daysAgo(1);
  const target = `dateFrom=${yesterday}`;
  await site.upstream.fault({ target, times: 0, fault: { kind: "status", status: 502 } });
  await page.getByRole("button", { name: /^Chart by day/ }).click();
  const resume = page.getByRole("button", { name: "Resume" });
  await resume.waitFor();
  await site.upstream.clearFaults();
  await resume.press("Enter");
  const panel = page.getByRole("region", { name: "Chart of visitors" });
  await expect(panel.locator(".drawn_trend-human")).toHaveCount(6);
  await expect(panel).toBeFocused();
  await expect(page.getByRole("alert")).toBeHidden();
});

test("deleting a saved view focuses the next one, or a new name", async ({ visitor }) => {
  const { page, startAtReport } = visitor;
  await startAtReport(LAST_MONTH);
  const panel = page.locator(".views_panel-panel");
  const name = panel.getByLabel("Save this report as");
  for (const view of ["First", "Second"]) {
    await page.getByRole("button", { name: /^Views:/ }).click();
    await name.fill(view);
    await page.keyboard.press("Enter");
  }
  await page.getByRole("button", { name: /^Views:/ }).click();
  await panel.getByRole("button", { name: "Delete First" }).press("Enter");
  await expect(panel.getByRole("button", { name: /^Second/ })).toBeFocused();
  await panel.getByRole("button", { name: "Delete Second" }).press("Enter");
  await expect(name).toBeFocused();
});

test("live updates leave the focus where a click on the background put it", async ({ visitor }) => {
  const { site, page, project, startSession, startElsewhere, endJob } = visitor;
  for (const prompt of ["First", "Second"]) await startElsewhere(prompt);
  await startSession();
  await page.goto(`${site.url}/?route=jobs&project=${project}&state=active`);
  await page.getByRole("link", { name: "Second" }).waitFor();
  await page.keyboard.press("j");
  await untilFocused(page, "Second");
  await page.getByRole("contentinfo").click();
  const body = page.locator("body");
  await expect(body).toBeFocused();
  await startElsewhere("Third");
  await page.getByRole("link", { name: "Third" }).waitFor();
  await expect(body).toBeFocused();
  await endJob("Second");
  await page.getByRole("link", { name: "Second" }).waitFor({ state: "detached" });
  await expect(body).toBeFocused();
});

test("Show more focuses the first added row", async ({ visitor }) => {
  const { page, signIn, startElsewhere } = visitor;
  const prompts = Array.from({ length: 27 }, (_, at) => `Number ${at + 1}`);
  for (const prompt of prompts) await startElsewhere(prompt);
  await signIn();
  const titles = page.locator("li .live_rows-title");
  await page.getByRole("button", { name: "Show more" }).press("Enter");
  await expect(titles).toHaveCount(27);
  await untilFocused(page, await titles.nth(25).textContent());
});

test("a row that leaves the filter passes the focus to the next row", async ({ visitor }) => {
  const { site, page, project, startSession, startElsewhere, endJob } = visitor;
  for (const prompt of ["First", "Second", "Third"]) await startElsewhere(prompt);
  await startSession();
  await page.goto(`${site.url}/?route=jobs&project=${project}&state=active`);
  await page.getByRole("link", { name: "Third" }).waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await untilFocused(page, "Second");
  await endJob("Second");
  await page.getByRole("link", { name: "Second" }).waitFor({ state: "detached" });
  await untilFocused(page, "First");
  await page.keyboard.press("k");
  await untilFocused(page, "Third");
});
