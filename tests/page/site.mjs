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
 * @param {{ vars?: Record<string, string>, upstream?: object }} [options]
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
    await page.getByRole("heading", { level: 1, name: "Agent jobs" }).waitFor();
  }

  async function startJob(prompt) {
    await page.getByLabel("Prompt").fill(prompt);
    await page.getByRole("button", { name: "Start job" }).click();
    const card = page.getByRole("article", { name: prompt });
    await card.waitFor();
    return card;
  }

  /** Opens the page views of a whole month that is over, and so does not change. */
  async function openLastMonth() {
    await page.getByRole("link", { name: "Page views" }).click();
    await page.getByRole("button", { name: "Last month" }).click();
    await page.getByRole("table").waitFor();
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

  const doings = { token, signIn, startJob, openLastMonth, startElsewhere };
  return { ...opened, ...doings, project, tokens };
}

async function checkDiscretion({ page, record, everything, tokens }, key) {
  const all = await everything();
  assert.ok(record.received.length > 0, "the browser received something");
  assert.ok(!all.includes(key), "the admin key is in nothing that the browser received");
  for (const token of tokens) {
    assert.ok(!record.urls.some((url) => url.includes(token)), "the token is in no address");
  }
  assert.equal(await page.evaluate(() => localStorage.length), 0, "localStorage is not used");
  assert.deepEqual(record.violations, [], "nothing violates the content security policy");
  const errors = record.console.filter(
    ({ type, text }) => type === "error" && !REFUSED_REQUEST.test(text),
  );
  assert.deepEqual(errors, [], "nothing is reported on the console");
}
