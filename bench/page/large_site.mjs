/** Measures a report on a site with 20,000 pages. */

import { canaryKey } from "../../tests/harness/canary.mjs";
import { startGateway } from "../../tests/harness/gateway.mjs";
import { accessClaims, mintToken, newSecret } from "../../tests/harness/token.mjs";
import { startUpstream } from "../../tests/harness/upstream.mjs";
import { launchBrowser } from "../../tests/page/browser.mjs";
import { measureLongTasks } from "./long_tasks.mjs";

const PAGES = 20_000;
/** Requests for reports per hour. The report and its comparison need 160. */
const LIMIT = 10_000;
const ROUNDS = 12;
const PROJECT = "large-docs";
const LOADED = /^All [\d,]+ pages loaded/;
const VIEWPORT = { width: 1280, height: 800 };

/**
 * @typedef {object} Interaction
 * @property {number} rows
 * @property {number[]} sort milliseconds from a click to the next frame
 * @property {number[]} search milliseconds from an input to the next frame
 * @property {import("./long_tasks.mjs").LongestTasks} longestTasks by action
 *
 * @param {{ env: NodeJS.ProcessEnv }} context
 * @returns {Promise<Interaction>}
 */
export async function measureLargeSite({ env }) {
  const key = canaryKey();
  const secret = newSecret();
  const stops = [];
  try {
    const upstream = await startUpstream({
      key,
      projects: [PROJECT],
      pages: PAGES,
      varyingDays: true,
      analyticsLimit: LIMIT,
      env,
    });
    stops.push(upstream.stop);
    const gateway = await startGateway({
      upstreamUrl: upstream.url,
      adminKey: key,
      secret,
      vars: { ANALYTICS_LIMIT_PER_HOUR: String(LIMIT) },
      env,
    });
    stops.push(gateway.stop);
    const browser = await launchBrowser();
    stops.push(() => browser.close());
    const page = await openReport(browser, gateway.url, secret);
    const longestTasks = await measureLongTasks(page, { hasComparison: true });
    await page.locator(".notices-loadNote", { hasText: LOADED }).waitFor();
    return { ...(await measureInteraction(page)), longestTasks };
  } finally {
    for (const stop of stops.toReversed()) await stop();
  }
}

/** Signs in, and opens the views of last month with its first rows. */
async function openReport(browser, url, secret) {
  const context = await browser.newContext({ locale: "en-US", viewport: VIEWPORT });
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  const claims = accessClaims({ sub: "bench", projects: [PROJECT], scope: "analytics:read" });
  await page.goto(url);
  await page.getByLabel("Access token").fill(mintToken(claims, secret));
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: "Sign out" }).waitFor();
  await page.goto(`${url}/?view=views&range=last-month&sort=-total`);
  await page.getByRole("button", { name: /^Load (all|the rest)/ }).waitFor();
  return page;
}

async function measureInteraction(page) {
  const sort = [];
  const search = [];
  for (let round = 0; round < ROUNDS; round++) {
    const times = await page.evaluate(interact);
    sort.push(...times.sort);
    search.push(...times.search);
  }
  const note = await page.locator(".notices-loadNote", { hasText: LOADED }).textContent();
  const rows = Number(/[\d,]+/.exec(note)[0].replaceAll(",", ""));
  return { rows, sort, search };
}

/** Sorts by three columns and searches for three strings. Runs in the browser. */
async function interact() {
  const untilFrame = (act) =>
    new Promise((resolve) => {
      const started = performance.now();
      act();
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - started)));
    });
  const sort = [];
  for (const column of ["human", "path", "total"]) {
    const button = document.querySelector(`thead [data-column=${column}] button`);
    sort.push(await untilFrame(() => button.click()));
  }
  const search = [];
  const input = document.querySelector("#filter");
  for (const text of ["api", "guides", ""]) {
    search.push(
      await untilFrame(() => {
        input.value = text;
        input.dispatchEvent(new Event("input", { bubbles: true }));
      }),
    );
  }
  return { sort, search };
}
