/** The page in real Chromium, against the Worker in real workerd and the simulated platform. */
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { canaryKey } from "../harness/canary.mjs";
import { isOfTheProxy, keepNudging, startGateway } from "../harness/gateway.mjs";
import { accessClaims, mintToken, newSecret } from "../harness/token.mjs";
import { startUpstream } from "../harness/upstream.mjs";
import { launchBrowser, openPage } from "./browser.mjs";

export const EMPTY_PROJECT = "empty-docs";
const EVERY_SCOPE = "jobs:create jobs:read analytics:read";
/** What the gateway keeps, it keeps by project: each visit has one of its own. */
const PROJECTS = Array.from({ length: 60 }, (_, number) => `docs-${number}`);
/** The browser itself reports each request that was refused or that a test broke off. */
const REFUSED_REQUEST =
  /Failed to load resource: (the server responded with a status of [45]\d\d|net::ERR_)/;

/**
 * Starts all of it for the tests of a file.
 *
 * @param {{ vars?: Record<string, string>, upstream?: object, archive?: boolean }} [options]
 */
export function startSite(options = {}) {
  const site = { secret: newSecret() };
  const key = canaryKey();
  const unused = [...PROJECTS];

  before(async () => {
    const projects = [...PROJECTS, EMPTY_PROJECT];
    const platform = { key, pages: 4000, jobDurationMs: 2000, projects, ...options.upstream };
    site.upstream = await startUpstream(platform);
    site.gateway = await startGateway({
      upstreamUrl: site.upstream.url,
      adminKey: key,
      secret: site.secret,
      archive: options.archive,
      vars: { ANALYTICS_LIMIT_PER_HOUR: "1000", JOB_POLL_SECONDS: "1", ...options.vars },
    });
    site.browser = await launchBrowser();
  });
  after(async () => {
    await site.browser?.close();
    await site.gateway?.stop();
    await site.upstream?.stop();
  });
  beforeEach(() => site.upstream.reset());

  /** Runs a test in a fresh browser profile, and then checks what must hold for every visit. */
  site.visiting = (name, visit, profile) => {
    test(name, async () => {
      const opened = await openPage(site.browser, profile);
      const visitor = visitorOf(site, opened, unused.shift());
      const stopNudging = keepNudging(site.gateway.url);
      try {
        await visit(visitor);
        await checkDiscretion(visitor, key);
      } finally {
        stopNudging();
        await opened.close();
      }
    });
  };
  return site;
}

/** What a visitor does on the page, in a project of its own. */
function visitorOf(site, opened, project) {
  const { page } = opened;
  const tokens = [];

  function token(changes = {}, secret = site.secret) {
    const claims = accessClaims({ sub: "page-test", projects: [project], scope: EVERY_SCOPE });
    const minted = mintToken({ ...claims, ...changes }, secret);
    tokens.push(minted);
    return minted;
  }

  async function signIn(used = token()) {
    await page.goto(site.gateway.url);
    await page.getByLabel("Access token").fill(used);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("button", { name: "Sign out" }).waitFor();
  }

  /** Writes a prompt and sends it, whatever becomes of it. */
  async function sendPrompt(prompt) {
    const box = await openComposer(page);
    await box.fill(prompt);
    await page.getByRole("button", { name: "Start job" }).click();
    return box;
  }

  /** The row of a job in the list, by the beginning of its prompt's first line. */
  const rowOf = (prompt) =>
    page
      .getByRole("region", { name: "Jobs of this project" })
      .getByRole("listitem")
      .filter({ hasText: prompt.split("\n", 1)[0].slice(0, 80) });

  /** Starts a job from the list, and returns its row there. */
  async function startJob(prompt) {
    await sendPrompt(prompt);
    const row = rowOf(prompt);
    await row.waitFor();
    // The panel closes by itself once the answer is there, which the stream may overtake.
    await page.getByRole("button", { name: "Start job" }).waitFor({ state: "hidden" });
    return row;
  }

  /** Opens a job of the list by itself. */
  async function openJob(prompt) {
    await rowOf(prompt).getByRole("link", { name: prompt }).click();
    const article = page.getByRole("article");
    await article.getByText("Details").waitFor();
    return article;
  }

  /** Opens one of the reports by its address, and waits until nothing is on its way. */
  async function openReport(query = {}) {
    const search = new URLSearchParams({ route: "views", project, ...query });
    await page.goto(`${site.gateway.url}/?${search}`);
    await page.getByRole("button", { name: /^Period/ }).waitFor();
    await untilLoaded();
  }

  /** Waits until there is something to read, and nothing is on its way. */
  async function untilLoaded() {
    await page.locator(".report, .empty, .answer [role=alert]").first().waitFor();
    await page.waitForFunction(() => !document.querySelector(".report-route progress"));
  }

  /** Opens the page views of a whole month that is over, and so does not change. */
  async function openLastMonth() {
    await page.getByRole("link", { name: "Page views" }).click();
    await page.getByRole("button", { name: /^Period/ }).click();
    await page.getByRole("button", { name: "Last month", exact: true }).click();
    await untilLoaded();
    await page.getByText(/there are more/).waitFor();
  }

  /** Has somebody else start a job of the project, through the gateway. */
  async function startElsewhere(prompt, sub = "somebody") {
    const create = async () => {
      const response = await fetch(`${site.gateway.url}/v2/agent/${project}/job`, {
        method: "POST",
        headers: { authorization: `Bearer ${token({ sub })}`, "content-type": "application/json" },
        body: JSON.stringify({ prompt }),
      });
      return { status: response.status, text: await response.text() };
    };
    const first = await create();
    const { status, text } = isOfTheProxy(first) ? await create() : first;
    assert.equal(status, 201);
    return JSON.parse(text);
  }

  /** What the platform was asked for of the project, and of `others`: jobs of earlier visits may go on. */
  async function upstreamTargets(...others) {
    const targets = (await site.upstream.requests()).map(({ target }) => target);
    return targets.filter((target) => [project, ...others].includes(target.split("/")[3]));
  }

  const jobs = {
    openComposer: () => openComposer(page),
    sendPrompt,
    startJob,
    openJob,
    rowOf,
    startElsewhere,
  };
  const analytics = { openReport, untilLoaded, openLastMonth };
  const doings = { token, signIn, upstreamTargets, ...analytics, ...jobs };
  return { ...opened, ...doings, project, tokens };
}

/** Opens the panel for a new job, where it is not open yet, and returns its text box. */
export async function openComposer(page) {
  const box = page.getByLabel("Prompt", { exact: true });
  const button = page.getByRole("button", { name: "New job", exact: true });
  await button.waitFor();
  if (!(await box.isVisible())) await button.click();
  await box.waitFor();
  return box;
}

async function checkDiscretion({ page, record, everything, tokens }, key) {
  const all = await everything();
  assert.ok(record.received.length > 0, "the browser received something");
  assert.ok(!all.includes(key), "the admin key is in nothing that the browser received");
  for (const token of tokens) {
    assert.ok(!record.urls.some((url) => url.includes(token)), "the token is in no address");
  }
  const stored = await page.evaluate(() => JSON.stringify([localStorage, sessionStorage]));
  assert.ok(!tokens.some((token) => stored.includes(token)), "no script keeps the token");
  assert.deepEqual(record.violations, [], "nothing violates the content security policy");
  const errors = record.console.filter(
    ({ type, text }) => type === "error" && !REFUSED_REQUEST.test(text),
  );
  assert.deepEqual(errors, [], "nothing is reported on the console");
}
