/**
 * `npm run screenshots [-- FOLDER]`: takes screenshots of every route in Chromium, in both colour
 * schemes and at two widths. The page runs with the gateway in workerd and the simulated Mintlify.
 * FOLDER defaults to `target/screenshots/`. `--as-built` skips the build. `--scene`, `--scheme` and
 * `--width`, each repeatable, limit the screenshots: `--scene views --width phone`.
 */
import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { canaryKey } from "../tests/harness/canary.mjs";
import { accessClaims, mintToken, newSecret } from "../tests/harness/token.mjs";
import { startUpstream } from "../tests/harness/upstream.mjs";
import { BUILD_NEEDS, build, PARTS } from "./build.mjs";
import { runMain } from "./child.mjs";
import { DEMO_SITE, fillDemo } from "./demo_data.mjs";
import { setup } from "./setup.mjs";
import { ROOT } from "./versions.mjs";

const PROJECT = "acme-docs";
const SCHEMES = ["light", "dark"];
const ANALYTICS_LIMIT = 5000;
const WIDTHS = { wide: 1440, phone: 390 };
/** Placeholders of content that is still loading. */
const BUSY = "[aria-busy=true], progress, .listed-line, .trend_space-space:empty";
/** Words that the page shows for a moment only. */
const PASSING = /Connecting…|Loading…/;
/** The content of a route whose code has loaded. */
const DRAWN =
  ".today-sections[aria-busy=false], .report_table-table, .empty, .live_rows-ledger, article, .page_route-route";
/** Scenes by name: the query, a label to wait for, and an action before the screenshot. */
const SCENES = {
  "sign-in": { signedOut: true, search: "", ready: "Access token" },
  today: { search: "?route=today" },
  jobs: { search: "?route=jobs" },
  job: { search: "?route=jobs&job=JOB" },
  deployments: { search: "?route=deployments" },
  deployment: { search: "?route=deployments&deployment=DEPLOYMENT" },
  preview: { search: "?route=deployments&deployment=PREVIEW" },
  warning: { search: "?route=deployments&deployment=WARNING" },
  deploy: { search: "?route=deployments", act: openDeploy },
  views: { search: "?route=views&range=last-28-days" },
  visitors: { search: "?route=visitors&range=last-28-days" },
  feedback: { search: "?route=feedback&range=last-28-days" },
  "feedback-by-page": { search: "?route=feedback&range=last-28-days&show=by-page" },
  searches: { search: "?route=searches&range=last-28-days" },
  conversations: { search: "?route=conversations&range=last-28-days" },
  "views-by-folder": { search: "?route=views&range=last-28-days&show=folders", act: openFolder },
  conversation: { search: "?route=conversations&range=last-28-days", act: openConversation },
  "saved-views": { search: "?route=views&range=last-28-days&sort=-ai", act: openSavedViews },
  page: { search: "?route=views&range=last-28-days&page=/quickstart", act: loadPageReports },
  "session-menu": { search: "?route=jobs", act: openSessionMenu },
  shortcuts: { search: "?route=jobs", act: openKeyList },
  palette: { search: "?route=views&range=last-28-days", act: openPalette },
  "new-job": { search: "?route=jobs", act: openComposer },
};

await runMain(async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      "as-built": { type: "boolean", default: false },
      scene: { type: "string", multiple: true, default: Object.keys(SCENES) },
      scheme: { type: "string", multiple: true, default: SCHEMES },
      width: { type: "string", multiple: true, default: Object.keys(WIDTHS) },
    },
  });
  requireKnown("scene", values.scene, Object.keys(SCENES));
  requireKnown("scheme", values.scheme, SCHEMES);
  requireKnown("width", values.width, Object.keys(WIDTHS));
  const folder = resolve(positionals[0] ?? join(ROOT, "target", "screenshots"));
  await mkdir(folder, { recursive: true });
  const context = await setup({ ...BUILD_NEEDS, browser: true });
  const { package: buildPackage, worker, page } = PARTS;
  if (!values["as-built"]) await build(context, { package: buildPackage, worker, page });

  const site = await startSite(context);
  try {
    for (const scheme of values.scheme) {
      for (const width of values.width) {
        await photograph(site, folder, { scheme, width, scenes: values.scene });
      }
    }
  } finally {
    await site.stop();
  }
  console.log(`screenshots: in ${folder}`);
});

function requireKnown(option, names, known) {
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new Error(`--${option} must be one of ${known.join(", ")}; received ${unknown}`);
}

async function startSite({ env }) {
  // These modules import npm packages, which `setup` has installed by now.
  const { startGateway } = await import("../tests/harness/gateway.mjs");
  const { launchBrowser } = await import("../tests/page/browser.mjs");
  const adminKey = canaryKey();
  const secret = newSecret();
  const upstream = await startUpstream({
    key: adminKey,
    projects: [PROJECT, "acme-api"],
    analyticsLimit: ANALYTICS_LIMIT,
    ...DEMO_SITE,
    env,
  });
  const gateway = await startGateway({
    upstreamUrl: upstream.url,
    adminKey,
    secret,
    archive: true,
    vars: {
      ANALYTICS_LIMIT_PER_HOUR: String(ANALYTICS_LIMIT),
      JOB_POLL_SECONDS: "1",
      JOB_POLLS_PER_HOUR: "100000",
      ARCHIVE_PROJECTS: PROJECT,
    },
    env,
  });
  await fillDemo({ project: PROJECT, secret, gateway, upstream });
  const browser = await launchBrowser();
  const scope =
    "jobs:create jobs:read deployments:create deployments:read analytics:read analytics:conversations";
  const grant = { sub: "zoe", projects: [PROJECT, "acme-api"], scope };
  const token = mintToken(accessClaims(grant), secret);
  const stop = async () => {
    await browser.close();
    await gateway.stop();
    await upstream.stop();
  };
  const ids = {
    JOB: await findJob(gateway.url, token),
    ...(await findDeployments(gateway.url, token)),
  };
  return { url: gateway.url, browser, token, ids, stop };
}

async function getJson(address, token) {
  const response = await fetch(address, { headers: { authorization: `Bearer ${token}` } });
  return response.json();
}

/** Finds a failed deployment, a preview, and a deployment that is live with a warning. */
async function findDeployments(url, token) {
  const { deployments } = await getJson(`${url}/v1/project/${PROJECT}/deployments`, token);
  const find = (isWanted) => deployments.find(isWanted).statusId;
  return {
    DEPLOYMENT: find(({ status, isLive }) => status === "failure" && !isLive),
    PREVIEW: find(({ branch }) => branch !== null),
    WARNING: find(({ status, isLive }) => status === "failure" && isLive),
  };
}

async function findJob(url, token) {
  const { jobs } = await getJson(`${url}/v2/agent/${PROJECT}/jobs`, token);
  return jobs.find(({ status, prLink }) => status === "completed" && prLink !== null).id;
}

async function photograph(site, folder, { scheme, width, scenes }) {
  const context = await site.browser.newContext({
    locale: "en-US",
    timezoneId: "UTC",
    colorScheme: scheme,
    viewport: { width: WIDTHS[width], height: width === "wide" ? 800 : 720 },
    reducedMotion: "reduce",
  });
  const page = await context.newPage();
  // The browser uses the page's font from its cache only.
  await page.goto(site.url);
  await page.evaluate(() => document.fonts.ready);
  for (const name of scenes) {
    const scene = SCENES[name];
    if (!scene.signedOut) await signIn(page, site);
    await page.goto(`${site.url}/${scene.search.replace(/[A-Z]+$/, (name) => site.ids[name])}`);
    if (scene.ready) await page.getByLabel(scene.ready).waitFor();
    else await page.locator("main").locator(DRAWN).first().waitFor();
    await page.waitForFunction((busy) => document.querySelector(busy) === null, BUSY);
    await scene.act?.(page);
    const path = join(folder, `${name}-${scheme}-${width}.png`);
    await page.getByText(PASSING).first().waitFor({ state: "detached" });
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

async function openDeploy(page) {
  await page.getByRole("button", { name: "Deploy", exact: true }).click();
  await page.getByRole("dialog", { name: "Deploy the site?" }).waitFor();
}

async function openConversation(page) {
  const rows = page.getByRole("row", { name: /Answered/ });
  await rows.first().getByRole("rowheader").getByRole("button").first().click();
  await page.getByRole("dialog").locator(".conversation_dialog-body").first().waitFor();
}

async function loadPageReports(page) {
  for (const name of ["visitors", "feedback", "searches"]) {
    await page.getByRole("button", { name: `Load ${name}` }).click();
  }
  await page.getByRole("button", { name: /^Load/ }).first().waitFor({ state: "detached" });
}

async function openFolder(page) {
  await page.locator(".report_table-treeToggle").first().click();
  await page.locator(".report_table-treeToggle[aria-expanded=true]").waitFor();
}

async function openSavedViews(page) {
  const options = page.getByRole("button", { name: "Filter and options" });
  if (await options.isVisible()) await options.click();
  const open = page.getByRole("button", { name: /^Views:/ });
  await open.click();
  const saved = await page.getByRole("button", { name: /^Read by AI/ }).count();
  if (saved === 0) {
    await page.getByLabel("Save this report as").fill("Read by AI");
    await page.keyboard.press("Enter");
    await open.click();
  }
  await page.getByRole("button", { name: /^Read by AI/ }).waitFor();
}

async function openKeyList(page) {
  await page.keyboard.press("?");
  await page.getByRole("dialog").waitFor();
}

async function openPalette(page) {
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog", { name: "Command palette" }).waitFor();
}

async function openSessionMenu(page) {
  await page.getByRole("button", { name: /^Account:/ }).click();
  await page.getByText("Signed in as").waitFor();
}
