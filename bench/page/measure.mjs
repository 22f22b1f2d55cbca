/** Runs Lighthouse on all routes except the conversations, with a mid-range phone emulated. */

import { constants, getPriority, setPriority } from "node:os";
import { canaryKey } from "../../tests/harness/canary.mjs";
import { startGateway } from "../../tests/harness/gateway.mjs";
import { freePort } from "../../tests/harness/process.mjs";
import { accessClaims, mintToken, newSecret } from "../../tests/harness/token.mjs";
import { startUpstream } from "../../tests/harness/upstream.mjs";
import { launchBrowser } from "../../tests/page/browser.mjs";
import { startEdge } from "./edge.mjs";
import { ROUTES } from "./routes.mjs";

const PROJECT = "acme-docs";
const CATEGORIES = ["performance", "accessibility", "best-practices"];
/** Other figures and the audits that contain them. */
const AUDITS = {
  lcp: "largest-contentful-paint",
  tbt: "total-blocking-time",
  cls: "cumulative-layout-shift",
};
/** Storage that Lighthouse clears before a run. This module sets the cookies. */
const CLEARED_STORAGE = [
  ...["local_storage", "indexeddb", "file_systems"],
  ...["shader_cache", "service_workers", "cache_storage"],
];
/** Maximum number of attempts, because the browser sometimes records an invalid trace. */
const MAX_ATTEMPTS = 3;

export async function measurePage({ env }, runs, measured = ROUTES) {
  const { default: lighthouse } = await import("lighthouse");
  const priority = getPriority();
  const site = await startSite(env);
  const routes = Object.fromEntries(measured.map((route) => [route, emptyFigures()]));
  const faults = Object.fromEntries(measured.map((route) => [route, []]));
  let version = "";
  try {
    // A warm-up, because a newly started browser is busy.
    await site.audit(lighthouse, "sign-in");
    // Runs alternate between routes, so a disturbance of the machine affects all of them.
    for (let run = 0; run < runs; run++) {
      for (const route of measured) {
        console.log(`bench: Lighthouse ${run + 1} of ${runs}: ${route} …`);
        const { lhr } = await site.audit(lighthouse, route);
        version = lhr.lighthouseVersion;
        recordFigures(routes[route], lhr);
        faults[route] = [...new Set([...faults[route], ...listFaults(lhr)])];
      }
    }
    return { browser: site.browser.version(), lighthouse: version, routes, faults };
  } finally {
    await site.stop();
    changePriority(priority);
  }
}

/** Changes the priority of this process and of the processes that it starts later. */
function changePriority(priority) {
  try {
    setPriority(priority);
  } catch {
    // Raising the priority may require privileges. The other parts compare times of one run only.
  }
}

async function startSite(env) {
  const port = await freePort();
  const browser = await launchBrowser([`--remote-debugging-port=${port}`]);
  const devtools = await browser.newBrowserCDPSession();
  // In production, the servers and Lighthouse run elsewhere, so they must not slow down the
  // browser.
  changePriority(constants.priority.PRIORITY_BELOW_NORMAL);
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
  const edge = await startEdge(gateway.port);
  const scope = "jobs:create jobs:read analytics:read";
  const token = mintToken(accessClaims({ sub: "bench", projects: [PROJECT], scope }), secret);
  const cookie = await openSession(edge.url, token);

  async function audit(lighthouse, route) {
    for (let attempt = 1; ; attempt++) {
      const result = await auditOnce(lighthouse, route);
      const { runtimeError } = result.lhr;
      if (!runtimeError) return result;
      const message = `${route}: ${runtimeError.message}`;
      if (attempt === MAX_ATTEMPTS) throw new Error(message);
      console.log(`bench: ${message} Retrying …`);
    }
  }

  async function auditOnce(lighthouse, route) {
    const isSignedIn = route !== "sign-in";
    await devtools.send("Storage.clearCookies");
    if (isSignedIn) await devtools.send("Storage.setCookies", { cookies: [cookie] });
    const search = isSignedIn ? `?route=${route}&project=${PROJECT}&signed-in=` : "";
    return lighthouse(`${edge.url}/${search}`, {
      port,
      logLevel: "error",
      onlyCategories: CATEGORIES,
      clearStorageTypes: CLEARED_STORAGE,
    });
  }

  const stop = async () => {
    await browser.close();
    await edge.stop();
    await gateway.stop();
    await upstream.stop();
  };
  return { audit, browser, stop };
}

async function openSession(url, token) {
  const response = await fetch(`${url}/session`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: url },
    body: JSON.stringify({ token }),
  });
  const [pair] = response.headers.getSetCookie()[0].split(";");
  const at = pair.indexOf("=");
  const attributes = { url, path: "/", secure: true, httpOnly: true, sameSite: "Strict" };
  return { name: pair.slice(0, at), value: pair.slice(at + 1), ...attributes };
}

function emptyFigures() {
  return Object.fromEntries([...CATEGORIES, ...Object.keys(AUDITS)].map((name) => [name, []]));
}

function recordFigures(figures, { categories, audits }) {
  for (const name of CATEGORIES) figures[name].push(Math.round(categories[name].score * 100));
  for (const [name, audit] of Object.entries(AUDITS))
    figures[name].push(audits[audit].numericValue);
}

function listFaults({ categories, audits }) {
  const judged = ["accessibility", "best-practices"].flatMap((name) => categories[name].auditRefs);
  return judged
    .filter(({ id, weight }) => weight > 0 && audits[id].score !== null && audits[id].score < 1)
    .map(({ id }) => `${id}: ${audits[id].title}`);
}
