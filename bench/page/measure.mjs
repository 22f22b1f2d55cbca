/** Lighthouse on every route of the page, as a phone of the middle class loads it. */

import { constants, getPriority, setPriority } from "node:os";
import { canaryKey } from "../../tests/harness/canary.mjs";
import { startGateway } from "../../tests/harness/gateway.mjs";
import { freePort } from "../../tests/harness/process.mjs";
import { accessClaims, mintToken, newSecret } from "../../tests/harness/token.mjs";
import { startUpstream } from "../../tests/harness/upstream.mjs";
import { launchBrowser } from "../../tests/page/browser.mjs";

const PROJECT = "acme-docs";
const CATEGORIES = ["performance", "accessibility", "best-practices"];
/** Other figures, by the audit that has them. */
const AUDITS = {
  lcp: "largest-contentful-paint",
  tbt: "total-blocking-time",
  cls: "cumulative-layout-shift",
};
/** What is kept of a visit before; cookies are set and cleared here. */
const KEPT = [
  ...["local_storage", "indexeddb", "file_systems"],
  ...["shader_cache", "service_workers", "cache_storage"],
];
/** A trace that the browser did not record as it should is recorded again. */
const MOST_ATTEMPTS = 3;
const ROUTES = ["sign-in", "jobs", "views", "visitors", "feedback", "searches"];

/**
 * @param {{ env: NodeJS.ProcessEnv }} context
 * @param {number} runs of each route
 *
 * @typedef {Record<string, number[]>} Figures of each run: the categories as points, `lcp` and
 *   `tbt` in milliseconds, `cls`
 * @typedef {object} Measured
 * @property {string} browser
 * @property {string} lighthouse its version
 * @property {Record<string, Figures>} routes
 * @property {Record<string, string[]>} faults audits of accessibility and best practices that failed
 * @returns {Promise<Measured>}
 */
export async function measurePage({ env }, runs) {
  const { default: lighthouse } = await import("lighthouse");
  const usual = getPriority();
  const site = await startSite(env);
  const routes = Object.fromEntries(ROUTES.map((route) => [route, emptyFigures()]));
  const faults = Object.fromEntries(ROUTES.map((route) => [route, []]));
  let version = "";
  try {
    // A browser that has just been started is busy with itself.
    await site.audit(lighthouse, "sign-in");
    // Rounds alternate, so that a noisy moment of the machine disturbs all routes alike.
    for (let run = 0; run < runs; run++) {
      for (const route of ROUTES) {
        console.log(`bench: Lighthouse ${run + 1} of ${runs}: ${route} …`);
        const { lhr } = await site.audit(lighthouse, route);
        version = lhr.lighthouseVersion;
        noteFigures(routes[route], lhr);
        faults[route] = [...new Set([...faults[route], ...faultsOf(lhr)])];
      }
    }
    return { browser: site.browser.version(), lighthouse: version, routes, faults };
  } finally {
    await site.stop();
    giveWay(usual);
  }
}

/** Changes this process's priority, and that of what it starts from then on. */
function giveWay(priority) {
  try {
    setPriority(priority);
  } catch {
    // Not everybody may take a higher one again: the rest of the bench compares times of one run.
  }
}

async function startSite(env) {
  const port = await freePort();
  const browser = await launchBrowser([`--remote-debugging-port=${port}`]);
  const devtools = await browser.newBrowserCDPSession();
  // What serves the page and measures it would run elsewhere: it must not keep the browser waiting.
  giveWay(constants.priority.PRIORITY_BELOW_NORMAL);
  const key = canaryKey();
  const secret = newSecret();
  const upstream = await startUpstream({ key, projects: [PROJECT], pages: 4000, env });
  const vars = { ANALYTICS_LIMIT_PER_HOUR: "10000" };
  const gateway = await startGateway({
    upstreamUrl: upstream.url,
    adminKey: key,
    secret,
    vars,
    env,
  });
  const scope = "jobs:create jobs:read analytics:read";
  const token = mintToken(accessClaims({ sub: "bench", projects: [PROJECT], scope }), secret);
  const cookie = await openSession(gateway.url, token);

  async function audit(lighthouse, route) {
    for (let attempt = 1; ; attempt++) {
      const result = await auditOnce(lighthouse, route);
      const { runtimeError } = result.lhr;
      if (!runtimeError) return result;
      const message = `${route}: ${runtimeError.message}`;
      if (attempt === MOST_ATTEMPTS) throw new Error(message);
      console.log(`bench: ${message} Once more …`);
    }
  }

  /** Each route as its first visitor loads it: signed in or not, with nothing kept but the cookie. */
  async function auditOnce(lighthouse, route) {
    const isSignedIn = route !== "sign-in";
    await devtools.send("Storage.clearCookies");
    if (isSignedIn) await devtools.send("Storage.setCookies", { cookies: [cookie] });
    const search = isSignedIn ? `?route=${route}&project=${PROJECT}&signed-in=` : "";
    return lighthouse(`${gateway.url}/${search}`, {
      port,
      logLevel: "error",
      onlyCategories: CATEGORIES,
      clearStorageTypes: KEPT,
    });
  }

  const stop = async () => {
    await browser.close();
    await gateway.stop();
    await upstream.stop();
  };
  return { audit, browser, stop };
}

/** Opens a session; gives its cookie as the browser's debugger takes one. */
async function openSession(url, token) {
  const response = await fetch(`${url}/session`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: url },
    body: JSON.stringify({ token }),
  });
  const [pair] = response.headers.getSetCookie()[0].split(";");
  const at = pair.indexOf("=");
  const kept = { url, path: "/", secure: true, httpOnly: true, sameSite: "Strict" };
  return { name: pair.slice(0, at), value: pair.slice(at + 1), ...kept };
}

function emptyFigures() {
  return Object.fromEntries([...CATEGORIES, ...Object.keys(AUDITS)].map((name) => [name, []]));
}

function noteFigures(figures, { categories, audits }) {
  for (const name of CATEGORIES) figures[name].push(Math.round(categories[name].score * 100));
  for (const [name, audit] of Object.entries(AUDITS))
    figures[name].push(audits[audit].numericValue);
}

function faultsOf({ categories, audits }) {
  const judged = ["accessibility", "best-practices"].flatMap((name) => categories[name].auditRefs);
  return judged
    .filter(({ id, weight }) => weight > 0 && audits[id].score !== null && audits[id].score < 1)
    .map(({ id }) => `${id}: ${audits[id].title}`);
}
