/** The actions of a visitor. Other actions use the gateway's API or the simulator. */
import assert from "node:assert/strict";
import { expect } from "@playwright/test";
import { accessClaims, mintToken } from "../harness/token.mjs";

const DEFAULT_SCOPE = "jobs:create jobs:read analytics:read";
export const EVERY_SCOPE = `${DEFAULT_SCOPE} analytics:conversations`;
/** The page's storage key of the session's expiry, in milliseconds since the epoch. */
const SIGNED_IN_UNTIL = "quillgate.signed-in-until";

export function createVisitor(site, page, project) {
  /** Differs between projects, because a caller may open only 60 sessions per hour. */
  const subject = `visitor-of-${project}`;
  const visitor = {
    project,
    subject,
    tokens: [],
    openComposer: () => openComposer(page),

    token(changes = {}, secret = site.secret) {
      const claims = accessClaims({ sub: subject, projects: [project], scope: DEFAULT_SCOPE });
      const minted = mintToken({ ...claims, ...changes }, secret);
      visitor.tokens.push(minted);
      return minted;
    },

    async signIn(used = visitor.token()) {
      await page.goto(`${site.url}/?route=jobs`);
      await submitToken(page, used);
      await page.getByRole("button", { name: "Sign out" }).waitFor();
    },

    /** Opens a session without loading the page, as if the visitor had signed in before. */
    async startSession(used = visitor.token()) {
      await page.goto(`${site.url}/robots.txt`);
      await page.evaluate(
        async ([token, untilKey]) => {
          const response = await fetch("/session", {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: JSON.stringify({ token }),
          });
          if (!response.ok) throw new Error(`POST /session: ${response.status}`);
          const { expiresAt } = await response.json();
          localStorage.setItem(untilKey, String(expiresAt));
        },
        [used, SIGNED_IN_UNTIL],
      );
    },

    /** Removes `Date` from the gateway's responses, so that the page follows the browser's clock. */
    async followBrowserClock() {
      // A stream cannot be changed, so none opens.
      await page.route(/\/events$/, () => {});
      await page.route(/\/session$|\/v[12]\/(?!.*\/events$)/, async (route) => {
        const response = await route.fetch();
        const { date: _, ...headers } = response.headers();
        await route.fulfill({ response, headers });
      });
    },

    /** Submits a prompt without waiting for the response. */
    async sendPrompt(prompt) {
      const box = await openComposer(page);
      await box.fill(prompt);
      await page.getByRole("button", { name: "Start job" }).click();
      return box;
    },

    /** Returns the row of a job, found by the first line of its prompt. */
    rowOf(prompt) {
      const jobs = page.getByRole("region", { name: "Jobs in this project" });
      return jobs.getByRole("listitem").filter({ hasText: firstLineOf(prompt).slice(0, 80) });
    },

    async startAndOpenJob(prompt) {
      await visitor.sendPrompt(prompt);
      const article = page.getByRole("article");
      await article.getByText("Details").waitFor();
      return article;
    },

    async startJob(prompt) {
      await visitor.startAndOpenJob(prompt);
      await visitor.backToList();
      const row = visitor.rowOf(prompt);
      await row.waitFor();
      return row;
    },

    async backToList() {
      await page.getByRole("navigation", { name: "Breadcrumb" }).getByRole("link").click();
    },

    async openJob(prompt) {
      await visitor.rowOf(prompt).getByRole("link", { name: prompt }).click();
      const article = page.getByRole("article");
      await article.getByText("Details").waitFor();
      return article;
    },

    /** Ends a job at the platform. By default it completes with a pull request. */
    async endJob(prompt, { status = "completed", prLink } = {}) {
      const jobs = await site.upstream.jobs();
      const index = jobs.findIndex((job) => firstLineOf(job.prompt) === firstLineOf(prompt));
      assert.ok(index >= 0, `the platform has no job "${prompt}"`);
      const ownLink = `https://github.com/acme/docs/pull/${101 + index}`;
      const isChanged = status === "completed" && prLink !== null;
      const link = isChanged ? (prLink ?? ownLink) : null;
      await site.upstream.setJob(jobs[index].id, { status, prLink: link });
      return { id: jobs[index].id, prLink: link };
    },

    async openReport(query = {}) {
      const search = new URLSearchParams({ route: "views", project, ...query });
      await page.goto(`${site.url}/?${search}`);
      await page.getByRole("button", { name: /^Period/ }).waitFor();
      await visitor.untilLoaded();
    },

    async startAtReport(query, used) {
      await visitor.startSession(used);
      await visitor.openReport(query);
    },

    /** Waits until the report has content and no request is pending. */
    async untilLoaded() {
      const content = ".report_table-table, .empty, .report_route-answer [role=alert]";
      await page.locator(content).first().waitFor();
      await page.waitForFunction(() => !document.querySelector("main progress"));
    },

    /** Starts a job of the project through the gateway's API, as another person. */
    async startElsewhere(prompt, sub = "colleague") {
      const authorization = `Bearer ${visitor.token({ sub })}`;
      const response = await fetch(`${site.url}/v2/agent/${project}/job`, {
        method: "POST",
        headers: { authorization, "content-type": "application/json" },
        body: JSON.stringify({ prompt }),
      });
      const text = await response.text();
      assert.equal(response.status, 201, text);
      return JSON.parse(text);
    },

    /** Returns the targets of requests to the platform for this project. */
    async upstreamTargets() {
      const targets = (await site.upstream.requests()).map(({ target }) => target);
      return targets.filter((target) => target.split("/")[3] === project);
    },
  };
  return visitor;
}

const firstLineOf = (prompt) => prompt.split("\n", 1)[0];

export async function submitToken(page, token) {
  await page.getByLabel("Access token").fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
}

/** Opens the panel for a new job unless it is open, and returns its prompt box. */
export async function openComposer(page) {
  const box = page.getByLabel("Prompt", { exact: true });
  const button = page.getByRole("button", { name: "New job", exact: true });
  // In a narrow window, the open panel covers the button.
  await button.or(box).first().waitFor();
  if (await box.isVisible()) return box;
  await button.click();
  // The panel moves the focus a frame later, which would close a menu opened meanwhile.
  await expect(box).toBeFocused();
  return box;
}

export function untilFocused(page, text) {
  return page.waitForFunction((text) => document.activeElement?.textContent === text, text);
}

export const untilSelected = (page, text) =>
  page.waitForFunction((text) => {
    const { value, selectionStart, selectionEnd } = document.activeElement ?? {};
    return value?.slice(selectionStart, selectionEnd) === text;
  }, text);

export async function untilRouteLoaded(page) {
  const content = ".today-sections, .report_table-table, main .empty, .live_rows-ledger";
  await page.locator(content).first().waitFor();
  await page.waitForFunction(() => !document.querySelector("main :is(progress, [aria-busy=true])"));
}

/** Waits until the page has received a response and handled it. */
export async function untilHandled(page, response) {
  await (await response).finished();
  await page.evaluate(() => new Promise((resolve) => requestIdleCallback(resolve)));
}

/** Changes the JSON of the gateway's responses. */
export const changeResponses = (page, url, change) =>
  page.route(url, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: change(await response.json()) });
  });
