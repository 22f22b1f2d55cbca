import assert from "node:assert/strict";
import { accessibilityFaults, checkBothSchemes } from "./browser.mjs";
import { expect, test } from "./fixtures.mjs";
import { inWords, monthOf, reportOfMonth } from "./reports.mjs";
import { untilFocused } from "./visitor.mjs";

const LAST_MONTH = { range: "last-month" };
const section = (page, name) => page.getByRole("region", { name, exact: true });
const heading = (page, path) => page.getByRole("heading", { level: 1, name: path, exact: true });
const figureValue = (region, name) =>
  region.locator(".totals_strip-figure", { hasText: name }).locator(".totals_strip-value");

const untilCounted = (page) =>
  section(page, "Views")
    .locator(".totals_strip-value:not(.totals_strip-waiting)")
    .first()
    .waitFor();

async function openPage({ page, site, project }, path, query = LAST_MONTH) {
  const search = new URLSearchParams({ route: "views", project, ...query, page: path });
  await page.goto(`${site.url}/?${search}`);
  await heading(page, path).waitFor();
}

async function topPage({ site, project }) {
  const { views } = await monthOf(site, project);
  return views.reduce((top, row) => (row.total > top.total ? row : top));
}

test("a path leads to the figures of its page, and the breadcrumb back", async ({ visitor }) => {
  const { page, site, project, startAtReport } = visitor;
  await startAtReport(LAST_MONTH);
  const { views } = await monthOf(site, project);
  const before = await monthOf(site, project, -2);
  const earlierOf = ({ path }) => before.views.find((row) => row.path === path);
  // The most read page whose people changed. In some months, the most read page has none.
  const [{ path, human, ai, total }] = views
    .filter((row) => (earlierOf(row)?.human ?? row.human) !== row.human)
    .toSorted((a, b) => b.total - a.total);
  const earlier = earlierOf({ path });
  await page.getByRole("rowheader").getByRole("link", { name: path, exact: true }).click();
  await untilFocused(page, path);
  await page.waitForURL((url) => url.searchParams.get("page") === path);
  await expect(page).toHaveTitle(`${path} · Quillgate`);
  const texts = await section(page, "Views")
    .locator(".totals_strip-figure")
    .evaluateAll((all) => all.map(({ children }) => [...children].map((c) => c.textContent)));
  const figures = Object.fromEntries(
    texts.map(([name, value, change]) => [name, { value, change }]),
  );
  assert.equal(figures.People.value, inWords(human));
  assert.equal(figures.AI.value, inWords(ai));
  assert.equal(figures["All views"].value, inWords(total));
  assert.match(figures.People.change, new RegExp(`from ${inWords(earlier.human)}\\b`));
  assert.deepEqual(await accessibilityFaults(page), []);

  await page.getByRole("navigation", { name: "Breadcrumb" }).getByRole("link").click();
  await untilFocused(page, "Page views");
  await page.waitForURL((url) => !url.searchParams.has("page"));
});

test("visitors, feedback and searches of the page load on request only", async ({ visitor }) => {
  const { page, site, startSession } = visitor;
  await startSession();
  const { feedback } = await reportOfMonth(visitor, "feedback");
  const { searches } = await reportOfMonth(visitor, "searches");
  const { visitors } = await reportOfMonth(visitor, "visitors");
  const clicked = new Set(searches.map(({ topClickedPage }) => topClickedPage));
  const { path } = feedback.find((entry) => entry.path?.startsWith("/") && clicked.has(entry.path));
  await openPage(visitor, path);
  await untilCounted(page);
  const { byOperation } = await site.upstream.counters();
  const expected = {
    Feedback: feedback.filter((entry) => entry.path === path).length,
    Searches: searches.filter(({ topClickedPage }) => topClickedPage === path).length,
  };
  for (const name of ["visitors", "feedback", "searches"]) {
    assert.equal(byOperation[`analytics.${name}`] ?? 0, 0, name);
    await page.getByRole("button", { name: `Load ${name}` }).click();
  }
  for (const [name, count] of Object.entries(expected)) {
    const items = section(page, name).getByRole("listitem");
    await items.nth(Math.min(count, 5) - 1).waitFor();
    const showAll = section(page, name).getByRole("button", { name: `Show all ${count}` });
    if (count > 5) await showAll.click();
    await expect(items).toHaveCount(count);
  }
  const { total } = visitors.find((row) => row.path === path);
  const figure = figureValue(section(page, "Visitors"), "All visitors");
  await expect(figure).toHaveText(inWords(total));
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

test("a page whose other spellings are not loaded yet offers to load all pages", async ({
  visitor,
}) => {
  const { page, startSession } = visitor;
  await page.route(/\/analytics\/[^/]+\/views\?/, async (route) => {
    const isFirst = !/offset=[1-9]/.test(route.request().url());
    const counts = (path) => ({ path, human: 10, ai: 0, total: 10 });
    const others = Array.from({ length: 249 }, (_, index) => counts(`/others/${index}`));
    const views = isFirst ? [counts("/guides"), ...others] : [counts("/guides.md")];
    const totals = { human: 2510, ai: 0, total: 2510 };
    // With less than half of the budget left, only the first rows load.
    const headers = {
      "ratelimit-policy": '"analytics";q=100;w=3600',
      ratelimit: '"analytics";r=40',
    };
    await route.fulfill({ headers, json: { views, totals, hasMore: isFirst } });
  });
  await startSession();
  await openPage(visitor, "/guides", { ...LAST_MONTH, compare: "none" });
  const views = section(page, "Views");
  await views.getByText("Among the 250 pages loaded so far.").waitFor();
  await views.getByRole("button", { name: "Load all pages" }).click();
  await figureValue(views, "All views").getByText("20").waitFor();
});

test("a job about a page quotes its figures and is listed on it", async ({ visitor }) => {
  const { page, startSession } = visitor;
  await startSession();
  const { path, total } = await topPage(visitor);
  await openPage(visitor, path);
  await section(page, "Jobs").getByText("No job mentions this page.").waitFor();
  await untilCounted(page);
  await page.getByRole("button", { name: "Start a job about this page" }).click();
  const prompt = page.getByLabel("Prompt", { exact: true });
  await expect(prompt).toHaveValue(/^Update the page /);
  const text = await prompt.inputValue();
  assert.ok(text.startsWith(`Update the page ${path}.\n`), text);
  assert.ok(text.includes(`${inWords(total)} views`), text);
  await prompt.fill(text.replace(/\[.*\]/, "Rewrite the intro."));
  await page.getByRole("button", { name: "Start job" }).click();
  await page.getByRole("article").getByText("Details").waitFor();
  await openPage(visitor, path);
  const job = section(page, "Jobs").getByRole("link", { name: `Update the page ${path}.` });
  await job.click();
  await page.getByRole("article").getByText("Details").waitFor();
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
