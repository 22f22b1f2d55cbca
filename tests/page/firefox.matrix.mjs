/**
 * Each route in Firefox. Playwright's protocol does not fit Debian's Firefox, so a script beside the
 * page drives it: both come from one origin, and the page is in a frame.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { listen } from "../harness/listen.mjs";
import { startProgram } from "../harness/process.mjs";
import { accessClaims, mintToken } from "../harness/token.mjs";
import { SitePool, SMALL_SITE } from "./sites.mjs";
import { createGate } from "./waiting.mjs";

const TIMEOUT_MS = 180_000;
const SCOPE = "jobs:create jobs:read analytics:read analytics:conversations";
const DRIVER = "/firefox-driver";
/** The routes, and an element that each shows once it has loaded. */
const ROUTES = {
  today: ".today-sections[aria-busy=false] h2",
  jobs: "main .empty",
  views: ".report_table-table tbody th a",
  visitors: ".report_table-table tbody th a",
  searches: ".report_table-table tbody th",
  feedback: ".report_table-table tbody th a",
  conversations: ".report_table-table tbody th button",
};

let results;
const stops = [];

before(
  async () => {
    const sites = new SitePool();
    stops.push(() => sites.stop());
    const site = await sites.get(SMALL_SITE);
    const project = site.takeProject("plain");
    const claims = accessClaims({ sub: "firefox", projects: [project], scope: SCOPE });
    const token = mintToken(claims, site.secret);
    const { url, received, stop } = await startProxy(site.gateway.port, { token, project });
    stops.push(stop);
    const firefox = openFirefox(`${url}${DRIVER}`);
    stops.push(firefox.stop);
    results = await Promise.race([received, firefox.ended.then((how) => assert.fail(how))]);
  },
  { timeout: TIMEOUT_MS },
);

after(async () => {
  for (const stop of stops.reverse()) await stop();
});

for (const route of ["sign-in", ...Object.keys(ROUTES)]) {
  test(`the route "${route}" works in Firefox`, () => {
    const { problem, faults, overflow } = results[route] ?? { problem: "it was not reached" };
    assert.equal(problem, null);
    assert.deepEqual(faults, []);
    assert.equal(overflow, 0);
  });
}

/** Forwards requests to the gateway, adds the driver, and receives its results. */
async function startProxy(port, visit) {
  const { opened: received, open: receive } = createGate();
  const { url, stop } = await listen((incoming, response) => {
    if (incoming.url === DRIVER) {
      response.setHeader("content-type", "text/html");
      const given = JSON.stringify({ ...visit, routes: ROUTES });
      response.end(`<!doctype html><iframe></iframe><script>(${drive})(${given})</script>`);
      return;
    }
    if (incoming.url === "/firefox-results") {
      json(incoming)
        .then(receive)
        .finally(() => response.end());
      return;
    }
    const { method, url: path, headers } = incoming;
    const outgoing = request({ host: "127.0.0.1", port, method, path, headers }, (answer) => {
      const { "x-frame-options": _, ...others } = answer.headers;
      const policy = others["content-security-policy"];
      if (policy) {
        others["content-security-policy"] = policy.replace(
          "frame-ancestors 'none'",
          "frame-ancestors 'self'",
        );
      }
      response.writeHead(answer.statusCode, others);
      answer.pipe(response);
    });
    outgoing.on("error", () => response.destroy());
    response.on("close", () => outgoing.destroy());
    incoming.pipe(outgoing);
  });
  return { url: url.replace("127.0.0.1", "localhost"), received, stop };
}

function openFirefox(url) {
  const profile = mkdtempSync(join(tmpdir(), "quillgate-firefox-"));
  const preferences = {
    "app.update.enabled": false,
    "browser.shell.checkDefaultBrowser": false,
    "datareporting.policy.dataSubmissionEnabled": false,
    "services.settings.server": "",
  };
  const lines = Object.entries(preferences).map(
    ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`,
  );
  writeFileSync(join(profile, "user.js"), lines.join(""));
  const args = ["--headless", "--no-remote", "--profile", profile, url];
  const env = { ...process.env, HOME: profile, MOZ_CRASHREPORTER_DISABLE: "1" };
  const program = startProgram("page-firefox", process.env.FIREFOX ?? "firefox-esr", args, { env });
  return {
    ended: program.ended,
    async stop() {
      await program.stop();
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Signs in, opens each route, sorts or filters reports, and sends what it found. Runs in Firefox. */
async function drive({ token, project, routes }) {
  const PATIENCE_MS = 20_000;
  const frame = document.querySelector("iframe");
  Object.assign(frame, { width: 1000, height: 700 });
  const results = {};

  function until(find, what) {
    const started = performance.now();
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = find(frame.contentDocument);
        if (found) return resolve(found);
        if (performance.now() - started < PATIENCE_MS) return requestAnimationFrame(look);
        const text = frame.contentDocument?.body?.innerText.slice(0, 300);
        return reject(new Error(`no ${what} at ${frame.contentWindow.location}: ${text}`));
      };
      look();
    });
  }

  /** Loads an address, and records the faults of its document. */
  async function open(address) {
    const faults = [];
    frame.src = address;
    await new Promise((resolve) => frame.addEventListener("load", resolve, { once: true }));
    const { contentWindow: page, contentDocument: content } = frame;
    page.addEventListener("error", ({ message }) => faults.push(message));
    page.addEventListener("unhandledrejection", ({ reason }) => faults.push(String(reason)));
    content.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
      faults.push(`${violatedDirective} ${blockedURI}`),
    );
    return faults;
  }

  async function check(route, address, use) {
    let faults = [];
    let problem = null;
    try {
      faults = await open(address);
      await use();
    } catch (error) {
      problem = String(error);
    }
    const { scrollWidth, clientWidth } = frame.contentDocument.documentElement;
    results[route] = { problem, faults, overflow: scrollWidth - clientWidth };
  }

  await check("sign-in", "/?route=jobs", async () => {
    const input = await until((page) => page?.querySelector("#token"), "form");
    input.value = token;
    input.dispatchEvent(new Event("input", { bubbles: true }));
    input.form.requestSubmit();
    await until((page) => page.querySelector("main .empty"), "list of jobs");
  });
  for (const [route, selector] of Object.entries(routes)) {
    await check(route, `/?route=${route}&project=${project}`, async () => {
      await until((page) => page?.querySelector(selector), selector);
      const headings = frame.contentDocument.querySelectorAll("h1");
      if (headings.length !== 1) throw new Error(`${headings.length} headings`);
      if (!selector.includes("report_table")) return;
      const press = { key: "w", code: "KeyW", bubbles: true, cancelable: true };
      frame.contentDocument.body.dispatchEvent(new KeyboardEvent("keydown", press));
      const { location } = frame.contentWindow;
      await until(() => location.search.includes("range=last-7-days"), "other period");
      await until((page) => page.querySelector(selector), `${selector} of the other period`);
    });
  }
  await fetch("/firefox-results", { method: "POST", body: JSON.stringify(results) });
}
