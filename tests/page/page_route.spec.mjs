/**
 * The route of one documentation page. It shows the views, visitors, feedback, searches and jobs of
 * the page.
 */
import assert from "node:assert/strict";
import { expect } from "@playwright/test";
import { accessibilityFaults, checkBothSchemes } from "./browser.mjs";
import { test } from "./fixtures.mjs";
import { firstOfMonth, monthOf } from "./reports.mjs";
import { SMALL_SITE } from "./sites.mjs";
import { ALL_SCOPES, untilFocused } from "./visitor.mjs";

test.use({ siteOptions: SMALL_SITE });

const DAY_MS = 86_400_000;
const LAST_MONTH = { range: "last-month" };
const format = (number) => number.toLocaleString("en-US");
const section = (page, name) => page.getByRole("region", { name, exact: true });
const heading = (page, path) => page.getByRole("heading", { level: 1, name: path, exact: true });
const lastMonth = () => ({ dateFrom: firstOfMonth(-1), dateTo: firstOfMonth(0) });

const dayFromToday = (days) => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);

/** Returns the value and the change of each figure, by its name. */
async function figuresOf(region) {
  const pairs = await region
    .locator(".totals_strip-figure")
    .evaluateAll((figures) =>
      figures.map(({ children }) => [...children].map((c) => c.textContent)),
    );
  return Object.fromEntries(pairs.map(([name, value, change]) => [name, { value, change }]));
}

/** Locates the value of a figure. */
const figureValue = (region, name) =>
  region.locator(".totals_strip-figure", { hasText: name }).locator(".totals_strip-value");

/** Opens the route of a page by its address. */
async function openPage({ page, site, project }, path, query = LAST_MONTH) {
  const search = new URLSearchParams({ route: "views", project, ...query, page: path });
  await page.goto(`${site.url}/?${search}`);
  await heading(page, path).waitFor();
}

/** Returns the most viewed page of last month. */
async function topPage({ site, project }) {
  const { views } = await monthOf(site, project);
  return views.reduce((top, row) => (row.total > top.total ? row : top));
}

test("a click on a path opens the figures of its page, and the breadcrumb leads back", async ({
  visitor,
}) => {
  const { page, site, project, startSession, openReport } = visitor;
  await startSession();
  await openReport(LAST_MONTH);
  const { path, human, ai, total } = await topPage(visitor);
  const { views } = await monthOf(site, project, -2);
  const earlier = views.find((row) => row.path === path);
  await page.getByRole("rowheader").getByRole("link", { name: path, exact: true }).click();
  await untilFocused(page, path);
  await page.waitForURL((url) => url.searchParams.get("page") === path);
  await expect(page).toHaveTitle(`${path} · Quillgate`);
  const figures = await figuresOf(section(page, "Views"));
  assert.equal(figures.People.value, format(human));
  assert.equal(figures.AI.value, format(ai));
  assert.equal(figures["All views"].value, format(total));
  assert.match(figures.People.change, new RegExp(`from ${format(earlier.human)}\\b`));
  assert.deepEqual(await accessibilityFaults(page), []);

  await page.getByRole("navigation", { name: "Breadcrumb" }).getByRole("link").click();
  await untilFocused(page, "Page views");
  await page.waitForURL((url) => !url.searchParams.has("page"));
});

test("Back returns to the filtered report and its place", async ({ visitor }) => {
  const { page, startSession, openReport, untilLoaded } = visitor;
  await startSession();
  await openReport({ ...LAST_MONTH, path: "/" });
  const link = page.getByRole("rowheader").getByRole("link").nth(40);
  const path = await link.textContent();
  await link.focus();
  const before = await page.evaluate(() => scrollY);
  assert.ok(before > 0, "the row is below the first screen");
  await page.keyboard.press("Enter");
  await untilFocused(page, path);
  await page.waitForFunction(() => scrollY === 0);
  await page.goBack();
  await untilLoaded();
  await heading(page, "Page views").waitFor();
  await page.waitForURL((url) => url.searchParams.get("path") === "/");
  await page.waitForFunction((y) => Math.abs(scrollY - y) < 50, before);
});

test("the views of the page load on request after loading was cancelled in the report", async ({
  visitor,
}) => {
  const { site, page, startSession } = visitor;
  await startSession();
  const { path, total } = await topPage(visitor);
  await site.upstream.hold({ operation: "analytics.views" });
  await openPage(visitor, path);
  await page.getByRole("navigation", { name: "Breadcrumb" }).getByRole("link").click();
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByText("Loading stopped.").waitFor();
  await page.goBack();
  const load = section(page, "Views").getByRole("button", { name: "Load views" });
  await load.waitFor();
  assert.deepEqual(await accessibilityFaults(page), []);
  await site.upstream.release();
  await load.click();
  const figure = figureValue(section(page, "Views"), "All views");
  await figure.getByText(format(total), { exact: true }).waitFor();
});

test("visitors, feedback and searches of the page load on request only", async ({ visitor }) => {
  const { page, site, project, startSession } = visitor;
  await startSession();
  const range = { projectId: project, ...lastMonth() };
  const { feedback } = await site.upstream.report({ report: "feedback", ...range });
  const { path } = feedback[0];
  await openPage(visitor, path);
  await section(page, "Views")
    .locator(".totals_strip-value:not(.totals_strip-waiting)")
    .first()
    .waitFor();
  const before = (await site.upstream.counters()).byOperation;
  for (const name of ["analytics.visitors", "analytics.feedback", "analytics.searches"]) {
    assert.equal(before[name] ?? 0, 0, name);
  }
  for (const name of ["visitors", "feedback", "searches"]) {
    await page.getByRole("button", { name: `Load ${name}` }).click();
  }
  const entries = section(page, "Feedback").getByRole("listitem");
  const expected = feedback.filter((entry) => entry.path === path).length;
  await entries.nth(Math.min(expected, 5) - 1).waitFor();
  const showAll = section(page, "Feedback").getByRole("button", { name: `Show all ${expected}` });
  if (expected > 5) await showAll.click();
  await expect(entries).toHaveCount(expected);
  const { visitors } = await site.upstream.report({ report: "visitors", ...range });
  const counts = visitors.find((row) => row.path === path);
  const figure = figureValue(section(page, "Visitors"), "All visitors");
  await expect(figure).toHaveText(format(counts.total));
  assert.deepEqual(await accessibilityFaults(page), []);
});

test("a page in several spellings adds up its views and finds its jobs", async ({ visitor }) => {
  const { page, project, startSession } = visitor;
  const counts = (path, human) => ({ path, human, ai: 1, total: human + 1 });
  await page.route(/\/analytics\/[^/]+\/(views|visitors)\?/, async (route) => {
    const rows = [counts("/guides/café", 40), counts("/guides/caf%C3%A9/", 30)];
    const totals = { human: 70, ai: 2, total: 72 };
    const name = route.request().url().includes("/visitors?") ? "visitors" : "views";
    await route.fulfill({ json: { [name]: rows, totals, hasMore: false } });
  });
  await startSession();
  await page.evaluate(async (project) => {
    for (const path of ["/guides/café.", "/guides/caf%C3%A9.", "/guides/cafés"]) {
      const body = JSON.stringify({ prompt: `Fix ${path}` });
      const headers = { "content-type": "application/json" };
      await fetch(`/v2/agent/${project}/job`, { method: "POST", headers, body });
    }
  }, project);
  await openPage(visitor, "/guides/café", { ...LAST_MONTH, compare: "none" });
  await figureValue(section(page, "Views"), "All views").getByText("72").waitFor();
  await page.getByText("The sum of /guides/café, /guides/caf%C3%A9/.").waitFor();
  await page.getByRole("button", { name: "Load visitors" }).click();
  await figureValue(section(page, "Visitors"), "All visitors").getByText("41").waitFor();
  const jobs = section(page, "Jobs").getByRole("listitem");
  await jobs.nth(1).waitFor();
  assert.deepEqual((await jobs.getByRole("link").allTextContents()).sort(), [
    "Fix /guides/caf%C3%A9.",
    "Fix /guides/café.",
  ]);
});

test("a list without rows about the page shows how many rows are loaded", async ({ visitor }) => {
  const { page, startSession } = visitor;
  await startSession();
  let requests = 0;
  // Each page of the list says that another one follows.
  await page.route(/\/feedback\?/, async (route) => {
    requests += 1;
    const url = new URL(route.request().url());
    url.searchParams.delete("cursor");
    const response = await route.fetch({ url: url.href });
    const json = { ...(await response.json()), hasMore: true, nextCursor: `page-${requests}` };
    await route.fulfill({ response, json });
  });
  await openPage(visitor, "/a-page-without-feedback");
  await page.getByRole("button", { name: "Load feedback" }).click();
  await section(page, "Feedback")
    .getByText(/^Not among the .+ loaded so far/)
    .waitFor();
});

test("the searches of a page are those that lead to it most often", async ({ visitor }) => {
  const { page, site, project, startSession } = visitor;
  await startSession();
  const range = { projectId: project, ...lastMonth() };
  const { searches } = await site.upstream.report({ report: "searches", ...range });
  const path = searches.find(({ topClickedPage }) => topClickedPage !== null).topClickedPage;
  const expected = searches
    .filter(({ topClickedPage }) => topClickedPage === path)
    .map(({ searchQuery }) => searchQuery.trim());
  await openPage(visitor, path);
  await page.getByRole("button", { name: "Load searches" }).click();
  const items = section(page, "Searches").getByRole("listitem");
  await items.nth(Math.min(expected.length, 5) - 1).waitFor();
  if (expected.length > 5) {
    await page.getByRole("button", { name: `Show all ${expected.length}` }).click();
  }
  const shown = await items.locator("p:first-child").allTextContents();
  assert.deepEqual(shown.map((text) => text.trim()).sort(), expected.sort());
});

test("a job about a page starts with its figures and is listed on its page", async ({
  visitor,
}) => {
  const { page, startSession } = visitor;
  await startSession();
  const { path, total } = await topPage(visitor);
  await openPage(visitor, path);
  await section(page, "Jobs").getByText("No job mentions this page.").waitFor();
  await section(page, "Views")
    .locator(".totals_strip-value:not(.totals_strip-waiting)")
    .first()
    .waitFor();
  await page.getByRole("button", { name: "Start a job about this page" }).click();
  const prompt = page.getByLabel("Prompt", { exact: true });
  await expect(prompt).toHaveValue(/^Update the page /);
  const text = await prompt.inputValue();
  assert.ok(text.startsWith(`Update the page ${path}.\n`), text);
  assert.ok(text.includes(`${format(total)} views`), text);
  await prompt.fill(text.replace(/\[.*\]/, "Rewrite the intro."));
  await page.getByRole("button", { name: "Start job" }).click();
  await page.getByRole("article").getByText("Details").waitFor();
  await openPage(visitor, path);
  const job = section(page, "Jobs").getByRole("link", { name: `Update the page ${path}.` });
  await job.click();
  await page.getByRole("article").getByText("Details").waitFor();
});

test("a page without views shows a hint and offers a job without figures", async ({ visitor }) => {
  const { page, startSession } = visitor;
  await startSession();
  await openPage(visitor, "/no-such-page");
  await page.getByText("No views in this period.").waitFor();
  await page.getByRole("button", { name: "Start a job about this page" }).click();
  const prompt = page.getByLabel("Prompt", { exact: true });
  await expect(prompt).toHaveValue(/^Update the page \/no-such-page\.\n/);
});

test("a link with an invalid path opens the report and shows a notice", async ({ visitor }) => {
  const { page, startSession, openReport } = visitor;
  await startSession();
  await openReport({ ...LAST_MONTH, page: "no-slash" });
  await heading(page, "Page views").waitFor();
  await page.getByText("This link’s page is not valid. Showing all pages.").waitFor();
  await page.waitForURL((url) => !url.searchParams.has("page"));
});

test("a session without job scopes sees the page and which scopes it lacks", async ({
  visitor,
}) => {
  const { page, token, startSession } = visitor;
  await startSession(token({ scope: "analytics:read" }));
  const { path, total } = await topPage(visitor);
  await openPage(visitor, path);
  await page.getByText("jobs:create", { exact: true }).waitFor();
  await page.getByText("jobs:read", { exact: true }).waitFor();
  assert.equal(await page.getByRole("button", { name: /^Start a job/ }).count(), 0);
  // Without AI views, the figures of people and of all views show the same number.
  const figure = figureValue(section(page, "Views"), "All views");
  await figure.getByText(format(total), { exact: true }).waitFor();
});

test("paths in every report open the page", async ({ visitor }) => {
  const { page, token, startSession, openReport } = visitor;
  await startSession(token({ scope: `${ALL_SCOPES} analytics:conversations` }));
  for (const route of ["visitors", "feedback", "searches", "conversations"]) {
    await openReport({ ...LAST_MONTH, route });
    const link = page.locator("main table a:not([target])").first();
    const path = await link.textContent();
    // A cell shows only the start of a long path.
    await link.click({ position: { x: 4, y: 4 } });
    await heading(page, path).waitFor();
    await page.waitForURL((url) => url.searchParams.get("route") === "views");
  }
});

test.describe("archived project", () => {
  test.use({ projectKind: "archived" });

  test("the page has a chart of its days", async ({ visitor }) => {
    const { site, page, project, startSession } = visitor;
    // The scheduled run archives yesterday.
    await site.gateway.runCron();
    const [dateFrom, dateTo] = [-1, 0].map((days) => dayFromToday(days));
    const { views } = await site.upstream.views({ projectId: project, dateFrom, dateTo });
    const { path, human } = views.find((row) => row.human > 0);
    await startSession();
    await openPage(visitor, path, { range: "last-7-days" });
    const chart = section(page, "Views").getByRole("img", { name: /^Views per day/ });
    await expect(chart).toHaveAccessibleName(new RegExp(`People ${format(human)}`));
  });
});

for (const width of [320, 1440]) {
  test(`the page of a page fits ${width} pixels in both schemes`, async ({ visitor }) => {
    const { page, startSession } = visitor;
    await page.setViewportSize({ width, height: 800 });
    await startSession();
    await openPage(visitor, (await topPage(visitor)).path);
    for (const name of ["visitors", "feedback", "searches"]) {
      await page.getByRole("button", { name: `Load ${name}` }).click();
    }
    await checkBothSchemes(page, "the page of a page");
  });
}
