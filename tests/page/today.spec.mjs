import assert from "node:assert/strict";
import { checkBothSchemes, WINDOWS } from "./browser.mjs";
import { expect, test } from "./fixtures.mjs";
import { EVERY_SCOPE } from "./visitor.mjs";

const reportsIn = (targets) => targets.filter((target) => target.startsWith("/v1/analytics/"));
const section = (page, name) => page.getByRole("region", { name, exact: true });

async function openToday({ site, page, project }) {
  await page.goto(`${site.url}/?route=today&project=${project}`);
  await untilSettled(page);
}

const untilSettled = (page) => page.locator(".today-sections[aria-busy=false]").waitFor();

test("Today is the first route and costs at most three requests, once", async ({ visitor }) => {
  const { page, signIn, token, upstreamTargets } = visitor;
  await signIn(token({ scope: EVERY_SCOPE }));
  await page.goto(new URL("/", page.url()).href);
  await page.getByRole("heading", { level: 1, name: "Today" }).waitFor();
  await untilSettled(page);
  const cold = reportsIn(await upstreamTargets());
  assert.ok(cold.length > 0 && cold.length <= 3, cold.join("\n"));

  await page.getByRole("link", { name: "Agent jobs", exact: true }).click();
  await page.getByRole("button", { name: "New job", exact: true }).waitFor();
  await page.getByRole("link", { name: "Today", exact: true }).click();
  await untilSettled(page);
  await page.reload();
  await untilSettled(page);
  assert.deepEqual(reportsIn(await upstreamTargets()), cold);
});

test("Today lists the five pages that lost most people, with the days", async ({ visitor }) => {
  const { page, startSession } = visitor;
  await startSession();
  await openToday(visitor);
  const falls = section(page, "Pages that lost readers");
  const figures = await falls.locator(".today-figure").allTextContents();
  assert.equal(figures.length, 5);
  const changes = figures.map((text) => {
    assert.match(text, /^−[\d,]+ people$/);
    return Number(text.replace(/[^\d]/g, ""));
  });
  const descending = changes.toSorted((a, b) => b - a);
  assert.deepEqual(changes, descending);
  await falls.getByText(/^\w+ \d+ – .* vs \w+ \d+ – /).waitFor();
  await falls.getByRole("link").nth(1).click();
  await page.getByRole("navigation", { name: "Breadcrumb" }).waitFor();
});

test("three actions lead from a page that lost readers to a job", async ({ visitor }) => {
  const { page, startSession } = visitor;
  await startSession();
  await openToday(visitor);
  const row = section(page, "Pages that lost readers").getByRole("listitem").first();
  const path = await row.getByRole("link").textContent();
  const people = await row.locator(".today-figure").textContent();
  await row.getByRole("button", { name: `Start a job about ${path}` }).click();
  const box = page.getByLabel("Prompt", { exact: true });
  await expect(box).toBeFocused();
  await page.keyboard.insertText("Readers leave after the first example: make it run.");
  await page.keyboard.press("Control+Enter");
  const article = page.getByRole("article");
  await article.getByText("Details").waitFor();
  const prompt = await page.getByRole("heading", { level: 1 }).textContent();
  assert.equal(prompt, `Update the page ${path}.`);
  await article.getByText(people.replace(" people", "")).first().waitFor();
});

test("Today shows open pull requests and failed jobs, no merged ones", async ({ visitor }) => {
  const { page, site, project, startSession, startElsewhere, endJob } = visitor;
  const merged = new Set();
  await page.route("**/pull-request", (route) => {
    const [, id] = /\/job\/([^/]+)\/pull-request$/.exec(route.request().url());
    const state = merged.has(id) ? "merged" : "open";
    return route.fulfill({ json: { state, isDraft: false, mergedAt: null } });
  });
  await startElsewhere("Waits for a review");
  await startElsewhere("Was merged");
  await startElsewhere("Broke");
  await startElsewhere("Changed nothing");
  await endJob("Waits for a review");
  merged.add((await endJob("Was merged")).id);
  await endJob("Broke", { status: "failed" });
  await endJob("Changed nothing", { prLink: null });
  await startSession();
  // The list shows the four states once the gateway has polled them.
  await page.goto(`${site.url}/?route=jobs&project=${project}`);
  await page.getByText("No changes").waitFor();
  await page.getByText("Failed", { exact: true }).waitFor();
  await expect(page.getByText("Pull request ready")).toHaveCount(2);

  await openToday(visitor);
  const waiting = section(page, "Pull requests to review").getByRole("listitem");
  await expect(waiting).toHaveCount(1);
  await waiting.getByRole("link", { name: "Waits for a review" }).waitFor();
  const link = waiting.getByRole("link", { name: /acme\/docs#\d+/ });
  await expect(link).toHaveAttribute("href", /^https:\/\/github\.com\/acme\/docs\/pull\/\d+$/);
  const failed = section(page, "Jobs that failed").getByRole("listitem");
  await expect(failed).toHaveCount(1);
  await failed.getByRole("link", { name: "Open job" }).click();
  await page.getByRole("heading", { level: 1, name: "Broke" }).waitFor();
});

test("Today shows only what the scopes allow", async ({ visitor }) => {
  const { page, site, project, startSession, token } = visitor;
  await startSession(token({ scope: "analytics:conversations" }));
  await openToday(visitor);
  await section(page, "Questions without an answer").waitFor();
  await expect(page.locator("main section")).toHaveCount(1);
  await page.context().clearCookies();
  await startSession(token({ scope: "jobs:create" }));
  await page.goto(`${site.url}/?project=${project}`);
  await page.getByRole("heading", { level: 1, name: "Agent jobs" }).waitFor();
});

for (const [name, viewport] of Object.entries(WINDOWS)) {
  test(`Today has no axe fault and fits a ${name} window in both schemes`, async ({ visitor }) => {
    const { page, startSession, token } = visitor;
    await page.setViewportSize(viewport);
    await startSession(token({ scope: EVERY_SCOPE }));
    await openToday(visitor);
    await checkBothSchemes(page, "today");
  });
}
