/** Sorting and searching 20,000 rows, on the page as it is and as it was, in one run. */

import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { capture, run } from "../../scripts/child.mjs";
import { ROOT } from "../../scripts/versions.mjs";
import { canaryKey } from "../../tests/harness/canary.mjs";
import { startGateway } from "../../tests/harness/gateway.mjs";
import { accessClaims, mintToken, newSecret } from "../../tests/harness/token.mjs";
import { startUpstream } from "../../tests/harness/upstream.mjs";
import { launchBrowser } from "../../tests/page/browser.mjs";

/** The page before it had sessions, comparisons and one list of jobs. */
const EARLIER = "d3c07fb";
const PAGES = 20_000;
const ROUNDS = 12;
const PROJECT = "large-docs";
/** Where the earlier page is built: below the root, whose packages it finds. */
const FOLDER = join(ROOT, "target", "page-before");
const LOADED = /^All [\d,]+ pages loaded/;
const WIDTH = { width: 1280, height: 800 };

/**
 * @typedef {object} Interaction
 * @property {number} rows
 * @property {number[]} sort milliseconds from the click to the next frame
 * @property {number[]} search likewise, of an input
 * @property {number[]} tasks that took longer than 50 ms, from the first rows on
 *
 * @param {{ env: NodeJS.ProcessEnv }} context
 * @returns {Promise<{ now: Interaction, before: Interaction | null }>}
 */
export async function measureLargeSite({ env }) {
  const key = canaryKey();
  const secret = newSecret();
  const vars = { ANALYTICS_LIMIT_PER_HOUR: "10000" };
  const options = { adminKey: key, secret, vars, env };
  const browser = await launchBrowser();
  const servers = [];
  /** Each page has a platform of its own, since all rows take most of what one allows in an hour. */
  const open = async (assets) => {
    const upstream = await startUpstream({ key, projects: [PROJECT], pages: PAGES, env });
    servers.push(upstream);
    const own = { ...options, upstreamUrl: upstream.url, ...(assets && { assets }) };
    const gateway = await startGateway(own);
    servers.push(gateway);
    return openLoaded(browser, gateway.url, secret);
  };
  try {
    const earlier = await buildEarlier(env);
    const pages = { now: await open(), before: earlier && (await open(earlier)) };
    return await alternate(pages);
  } finally {
    await browser.close();
    for (const server of servers.toReversed()) await server.stop();
  }
}

/** Builds the earlier page; null where the history does not reach back to it. */
async function buildEarlier(env) {
  const { code } = await capture("git", ["cat-file", "-e", `${EARLIER}^{commit}`], { cwd: ROOT });
  if (code !== 0) return null;
  await rm(FOLDER, { recursive: true, force: true });
  await mkdir(FOLDER, { recursive: true });
  const archive = join(FOLDER, "www.tar");
  await run("reading the earlier page", "git", ["archive", "-o", archive, EARLIER, "www"], { env });
  await run("unpacking it", "tar", ["-xf", archive, "-C", FOLDER], { env });
  const vite = join(ROOT, "node_modules", ".bin", "vite");
  await run("building it", vite, ["build", join(FOLDER, "www")], { env });
  return join(FOLDER, "www", "dist");
}

/** Signs in, opens a month that is over, and loads every row of it. */
async function openLoaded(browser, url, secret) {
  const context = await browser.newContext({ locale: "en-US", viewport: WIDTH });
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  const claims = accessClaims({ sub: "bench", projects: [PROJECT], scope: "analytics:read" });
  await page.goto(url);
  await page.getByLabel("Access token").fill(mintToken(claims, secret));
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: "Sign out" }).waitFor();
  // Either page reads the older spelling.
  await page.goto(`${url}/?view=views&range=last-month&sort=-total`);
  await page.getByRole("button", { name: /^Load (all|the rest)/ }).waitFor();
  await page.evaluate(() => {
    globalThis.longTasks = [];
    const note = (list) => globalThis.longTasks.push(...list.getEntries().map((e) => e.duration));
    new PerformanceObserver(note).observe({ type: "longtask" });
  });
  await page.getByRole("button", { name: /^Load (all|the rest)/ }).click();
  await page.locator(".load-note", { hasText: LOADED }).waitFor();
  return page;
}

/** Rounds alternate between the pages, so that a noisy moment disturbs both alike. */
async function alternate(pages) {
  const names = Object.keys(pages).filter((name) => pages[name] !== null);
  const measured = { now: null, before: null };
  for (const name of names) measured[name] = { rows: 0, sort: [], search: [], tasks: [] };
  for (let round = 0; round < ROUNDS; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const { sort, search } = await pages[name].evaluate(interact);
      measured[name].sort.push(...sort);
      measured[name].search.push(...search);
    }
  }
  for (const name of names) {
    const note = await pages[name].locator(".load-note", { hasText: LOADED }).textContent();
    measured[name].rows = Number(/[\d,]+/.exec(note)[0].replaceAll(",", ""));
    measured[name].tasks = await pages[name].evaluate(() => globalThis.longTasks);
  }
  return measured;
}

/** Sorts by three columns and searches for three words; runs in the browser. */
async function interact() {
  const untilFrame = (act) =>
    new Promise((resolve) => {
      const started = performance.now();
      act();
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - started)));
    });
  const sort = [];
  for (const column of ["human", "path", "total"]) {
    const button = document.querySelector(`thead .column-${column} button`);
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
