/** Loads the package as plain ES modules in pages of Chromium and Firefox. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { capture } from "../../../scripts/child.mjs";
import { startProgram } from "../../harness/process.mjs";
import { launchBrowser } from "../../page/browser.mjs";
import { write } from "../installed.mjs";
import { cell, conclude, folder, KEY, RUN_CHECKS, site } from "./fixtures.mjs";

const PAGE_TIMEOUT_MS = 120_000;
const WEB_ENTRY = "/node_modules/quillgate/dist/web.js";
const IMPORT_MAP = `<script type="importmap">{"imports":{"quillgate":"${WEB_ENTRY}"}}</script>`;

/** A promise, since checks that run concurrently share one browser. */
let browser;

after(async () => {
  await (await browser)?.close();
});

/** Without top-level `await`, which service workers and Parcel refuse. */
export function pageEntry(name, specifier, settings = "browser_settings") {
  return `
import * as quillgate from "${specifier}";
import { conform } from "./conformance.mjs";
import settings from "./${settings}.mjs";
async function check() {
  ${RUN_CHECKS}
  await fetch("/result/${name}", { method: "POST", body: JSON.stringify(results) });
}
check();
`;
}

export function pageOf(module) {
  return `<!doctype html><meta charset="utf-8"><title>quillgate</title><script type="module" src="${module}"></script>`;
}

function pageWith(script, head = "") {
  return `<!doctype html><meta charset="utf-8"><title>quillgate</title>${head}<script type="module">${script}</script>`;
}

/** Throws unless a content security policy blocks `eval` and `new Function`. */
const ASSERT_NO_EVAL = `
let allowed = true;
try { new Function(""); } catch { allowed = false; }
if (allowed) throw new Error("the page can evaluate strings");
`;

export async function inChromium(row, name, url, server = site) {
  browser ??= launchBrowser();
  const opened = await browser;
  row.version ||= opened.version();
  const page = await opened.newPage();
  const lines = [];
  page.on("console", (line) => lines.push(line.text()));
  const failed = new Promise((_, reject) => {
    page.on("pageerror", reject);
    page.on("crash", () => reject(new Error("the page crashed")));
  });
  const timeout = AbortSignal.timeout(PAGE_TIMEOUT_MS);
  const expired = new Promise((_, reject) => {
    timeout.onabort = () => reject(new Error(`no results from ${url}: ${lines.join("\n")}`));
  });
  try {
    await page.goto(url);
    conclude(row, await Promise.race([server.result(name), failed, expired]));
    assert.ok(!lines.join("\n").includes(KEY));
  } finally {
    await page.close();
  }
}

export function checkModules() {
  cell("Chromium", "ES modules, by address", (row) => {
    write(folder, { "address.html": pageWith(pageEntry("address", WEB_ENTRY)) });
    return inChromium(row, "address", `${site.url}/address.html`);
  });

  cell("Chromium", "ES modules, by an import map", (row) => {
    const page = pageWith(pageEntry("map", "quillgate", "gateway_settings"), IMPORT_MAP);
    write(folder, { "map.html": page });
    return inChromium(row, "map", `${site.url}/map.html`);
  });

  cell("Chromium", "ES modules, in a module worker", (row) => {
    write(folder, {
      "worker.html": pageWith('new Worker("/worker.mjs", { type: "module" });'),
      "worker.mjs": pageEntry("worker", WEB_ENTRY),
    });
    return inChromium(row, "worker", `${site.url}/worker.html`);
  });
}

/** Checks the package in a service worker, such as that of a browser extension, which refuses `import()`. */
export function checkServiceWorker() {
  cell("Chromium", "ES modules, in a service worker", (row) => {
    const register = 'navigator.serviceWorker.register("/service_worker.mjs", { type: "module" });';
    const entry = pageEntry("service-worker", WEB_ENTRY);
    const install = 'addEventListener("install", (event) => event.waitUntil(check()));';
    write(folder, {
      "service_worker.html": pageWith(register),
      "service_worker.mjs": entry.replace("\ncheck();", `\n${install}`),
    });
    return inChromium(row, "service-worker", `${site.url}/service_worker.html`);
  });
}

/** Checks an entry under a policy that forbids the evaluation of strings. */
export function checkStrictPolicy(entry) {
  const what = entry === "inline" ? " of `quillgate/inline`" : "";
  cell("Chromium", `ES modules${what}, under \`script-src 'self' 'wasm-unsafe-eval'\``, (row) => {
    const page = pageEntry(`strict-${entry}`, `/node_modules/quillgate/dist/${entry}.js`);
    write(folder, {
      [`strict-${entry}.html`]: pageOf(`/strict-${entry}.mjs`),
      [`strict-${entry}.mjs`]: `${ASSERT_NO_EVAL}${page}`,
    });
    return inChromium(row, `strict-${entry}`, `${site.url}/strict-${entry}.html`);
  });
}

export function checkFirefox() {
  cell("Firefox", "ES modules, by an import map", async (row) => {
    const firefox = process.env.FIREFOX ?? "firefox-esr";
    const { stdout } = await capture(firefox, ["--version"]);
    row.version = /[\d.]+\w*/.exec(stdout)?.[0] ?? "";
    const page = pageWith(pageEntry("firefox", "quillgate", "gateway_settings"), IMPORT_MAP);
    write(folder, { "firefox.html": page });
    const profile = mkdtempSync(join(tmpdir(), "quillgate-firefox-"));
    writeFileSync(join(profile, "user.js"), FIREFOX_PREFERENCES);
    const args = ["--headless", "--no-remote", "--profile", profile, `${site.url}/firefox.html`];
    const env = { ...process.env, HOME: profile, MOZ_CRASHREPORTER_DISABLE: "1" };
    const program = startProgram("package-firefox", firefox, args, { env });
    try {
      // Without results, `until` checks again whether Firefox is still running.
      const check = () => Promise.race([site.result("firefox"), shortWait()]);
      conclude(row, await program.until(check, PAGE_TIMEOUT_MS));
    } finally {
      await program.stop();
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    }
  });
}

const FIREFOX_PREFERENCES = Object.entries({
  "app.update.enabled": false,
  "browser.shell.checkDefaultBrowser": false,
  "datareporting.policy.dataSubmissionEnabled": false,
  "network.captive-portal-service.enabled": false,
  "network.connectivity-service.enabled": false,
  "browser.safebrowsing.downloads.remote.enabled": false,
  "services.settings.server": "",
  "toolkit.telemetry.enabled": false,
})
  .map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`)
  .join("");

function shortWait() {
  return new Promise((resolve) => setTimeout(resolve, 100));
}
