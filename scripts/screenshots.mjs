/**
 * `npm run screenshots [-- FOLDER]`: takes screenshots of every route in Chromium, in both colour
 * schemes and at two widths. The page runs with the gateway in workerd and the simulated platform.
 * FOLDER defaults to `target/screenshots/`. `--as-built` skips the build.
 */
import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { canaryKey } from "../tests/harness/canary.mjs";
import { startGateway } from "../tests/harness/gateway.mjs";
import { startUpstream } from "../tests/harness/upstream.mjs";
import { launchBrowser } from "../tests/page/browser.mjs";
import { BUILD_NEEDS, build, PARTS } from "./build.mjs";
import { runMain } from "./child.mjs";
import { setup } from "./setup.mjs";
import { accessClaims, mintToken, newSecret } from "./token.mjs";
import { ROOT } from "./versions.mjs";

const PROJECT = "acme-docs";
const SCHEMES = ["light", "dark"];
const WIDTHS = { wide: 1280, phone: 360 };
const OPERATOR = {
  sub: "operator",
  projects: [PROJECT],
  scope: "analytics:read gateway:operate",
};
const DAY_MS = 86_400_000;
const ARCHIVED_DAYS = 29;
const PROMPTS = [
  "Add a section on token rotation to the authentication guide, with an example request",
  "Fix the broken links in the changelog",
  "Describe the new retry option of the command line",
];

/** Placeholders of content that is still loading. */
const BUSY = "[aria-busy=true], progress, .waiting-line, .trend-space:empty";
/** Scenes by name: the query, a label to wait for, and an action before the screenshot. */
const SCENES = {
  "sign-in": { signedOut: true, search: "", ready: "Access token" },
  jobs: { search: "?route=jobs" },
  job: { search: "?route=jobs&job=JOB" },
  views: { search: "?route=views&range=last-28-days" },
  visitors: { search: "?route=visitors&range=last-28-days" },
  feedback: { search: "?route=feedback&range=last-28-days" },
  searches: { search: "?route=searches&range=last-28-days" },
  "views-by-folder": { search: "?route=views&range=last-28-days&show=folders", act: openFolder },
  "session-menu": { search: "?route=jobs", act: openSessionMenu },
  shortcuts: { search: "?route=jobs", act: openKeyList },
  "new-job": { search: "?route=jobs", act: openComposer },
};

await runMain(async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { "as-built": { type: "boolean", default: false } },
  });
  const folder = resolve(positionals[0] ?? join(ROOT, "target", "screenshots"));
  await mkdir(folder, { recursive: true });
  const context = await setup({ ...BUILD_NEEDS, browser: true });
  const { package: buildPackage, worker, page } = PARTS;
  if (!values["as-built"]) await build(context, { package: buildPackage, worker, page });

  const site = await startSite(context);
  try {
    await startJobs(site);
    for (const scheme of SCHEMES) {
      for (const [width, pixels] of Object.entries(WIDTHS)) {
        await photograph(site, folder, { scheme, width, pixels });
      }
    }
  } finally {
    await site.stop();
  }
  console.log(`screenshots: in ${folder}`);
});

async function startSite({ env }) {
  const adminKey = canaryKey();
  const secret = newSecret();
  const upstream = await startUpstream({
    key: adminKey,
    projects: [PROJECT, "acme-api"],
    pages: 240,
    data: "demo",
    jobDurationMs: 2000,
    env,
  });
  const gateway = await startGateway({
    upstreamUrl: upstream.url,
    adminKey,
    secret,
    archive: true,
    vars: {
      ANALYTICS_LIMIT_PER_HOUR: "1000",
      JOB_POLL_SECONDS: "1",
      JOB_POLLS_PER_HOUR: "100000",
      ARCHIVE_PROJECTS: PROJECT,
    },
    env,
  });
  await fillArchive(gateway, mintToken(accessClaims(OPERATOR), secret));
  const browser = await launchBrowser();
  const scope = "jobs:create jobs:read analytics:read";
  const grant = { sub: "zoe", projects: [PROJECT, "acme-api"], scope };
  const token = mintToken(accessClaims(grant), secret);
  const stop = async () => {
    await browser.close();
    await gateway.stop();
    await upstream.stop();
  };
  return { upstream, url: gateway.url, browser, token, jobId: null, stop };
}

/** Makes the archive fetch the last four weeks, except for the current day. */
async function fillArchive({ url, runCron }, token) {
  const daily = `${url}/v1/analytics/${PROJECT}/views/daily`;
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const dateFrom = new Date(Date.now() - ARCHIVED_DAYS * DAY_MS).toISOString().slice(0, 10);
  const body = JSON.stringify({ dateFrom });
  const started = await fetch(`${daily}/backfill`, { method: "POST", headers, body });
  if (!started.ok)
    throw new Error(`the backfill failed: ${started.status} ${await started.text()}`);
  for (let run = 0; run < ARCHIVED_DAYS; run++) {
    await runCron();
    const dateTo = new Date().toISOString().slice(0, 10);
    const series = await fetch(`${daily}?dateFrom=${dateFrom}&dateTo=${dateTo}`, { headers });
    const { missing } = await series.json();
    if (missing.length === 0) return;
  }
  throw new Error("the archive is incomplete");
}

/** Starts a job for each prompt, and waits until every job has a pull request. */
async function startJobs(site) {
  const headers = {
    authorization: `Bearer ${site.token}`,
    "content-type": "application/json",
  };
  for (const prompt of PROMPTS) {
    const response = await fetch(`${site.url}/v2/agent/${PROJECT}/job`, {
      method: "POST",
      headers,
      body: JSON.stringify({ prompt }),
    });
    site.jobId ??= (await response.json()).id;
  }
  for (;;) {
    const listed = await fetch(`${site.url}/v2/agent/${PROJECT}/jobs`, { headers });
    const { jobs } = await listed.json();
    if (jobs.every(({ prLink }) => prLink !== null)) return;
  }
}

async function photograph(site, folder, { scheme, width, pixels }) {
  const context = await site.browser.newContext({
    locale: "en-US",
    timezoneId: "UTC",
    colorScheme: scheme,
    viewport: { width: pixels, height: width === "wide" ? 800 : 720 },
    reducedMotion: "reduce",
  });
  const page = await context.newPage();
  for (const [name, scene] of Object.entries(SCENES)) {
    if (!scene.signedOut) await signIn(page, site);
    await page.goto(`${site.url}/${scene.search.replace("JOB", site.jobId)}`);
    if (scene.ready) await page.getByLabel(scene.ready).waitFor();
    else await page.getByRole("heading", { level: 1 }).waitFor();
    await page.waitForFunction((busy) => document.querySelector(busy) === null, BUSY);
    await scene.act?.(page);
    const path = join(folder, `${name}-${scheme}-${width}.png`);
    await page.screenshot({ path });
  }
  await context.close();
}

/** Signs in, once for each browser context. */
async function signIn(page, site) {
  const { length } = await page.context().cookies();
  if (length > 0) return;
  await page.goto(site.url);
  await page.getByLabel("Access token").fill(site.token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: "Sign out" }).waitFor();
}

async function openComposer(page) {
  await page.getByRole("button", { name: "New job", exact: true }).click();
  await page.getByLabel("Prompt", { exact: true }).waitFor();
}

async function openFolder(page) {
  await page.locator(".tree-toggle").first().click();
  await page.locator(".tree-toggle[aria-expanded=true]").waitFor();
}

async function openKeyList(page) {
  await page.keyboard.press("?");
  await page.getByRole("dialog").waitFor();
}

async function openSessionMenu(page) {
  await page.getByRole("button", { name: /Session of/ }).click();
  await page.getByText("Signed in as").waitFor();
}
