/** Chromium for the browser tests, the traffic of a page, and its accessibility with axe. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import axe from "axe-core";
import { chromium } from "playwright-core";

export const ACTION_TIMEOUT_MS = 60_000;
/** The widest and the narrowest window that the tests use. */
export const WINDOWS = { wide: { width: 1440, height: 900 }, phone: { width: 320, height: 740 } };

const ARGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--no-first-run",
  "--disable-background-networking",
];

export function launchBrowser(args) {
  return chromium.launch(launchOptions(args));
}

export function launchOptions(args = []) {
  return { executablePath: findBrowser(), args: [...ARGS, ...args] };
}

function findBrowser() {
  if (process.env.CHROME) return process.env.CHROME;
  const folders = ["/usr/bin", ...(process.env.PATH ?? "").split(delimiter)];
  const shells = ["chromium-headless-shell", "chrome-headless-shell"];
  const names = [...shells, "chromium", "chromium-browser", "google-chrome"];
  const paths = folders.flatMap((folder) => names.map((name) => join(folder, name)));
  const found = paths.find((path) => existsSync(path));
  assert.ok(found, "no Chromium found: install it, or set CHROME to its path");
  return found;
}

export async function openPage(browser) {
  const context = await browser.newContext({ locale: "en-US" });
  const page = await context.newPage();
  page.setDefaultTimeout(ACTION_TIMEOUT_MS);
  return { page, ...(await recordTraffic(page)), close: () => context.close() };
}

/** Records the traffic, console and policy violations of a page from its first navigation on. */
export async function recordTraffic(page) {
  const record = { urls: [], received: [], console: [], violations: [] };
  const pendingBodies = [];
  page.on("request", (request) => record.urls.push(request.url()));
  page.on("framenavigated", (frame) => record.urls.push(frame.url()));
  page.on("response", (response) => pendingBodies.push(recordResponse(response)));
  await recordEventStreams(page, record);
  page.on("console", (line) => record.console.push({ type: line.type(), text: line.text() }));
  page.on("pageerror", (error) => record.console.push({ type: "error", text: String(error) }));
  await page.exposeFunction("recordViolation", (violation) => record.violations.push(violation));
  await page.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (event) => {
      window.recordViolation(`${event.violatedDirective} ${event.blockedURI}`);
    });
  });

  async function recordResponse(response) {
    const headers = await response.allHeaders().catch(() => ({}));
    const isStream = headers["content-type"]?.startsWith("text/event-stream");
    // The page's own files are the same for everyone.
    const isFile = new URL(response.url()).pathname.startsWith("/assets/");
    // Cancelled and redirected responses have no body to read.
    const body = isStream || isFile ? "" : await response.body().catch(() => Buffer.alloc(0));
    record.received.push(JSON.stringify(headers), body.toString("latin1"));
  }

  return {
    record,
    /** Returns what the browser has requested, received, stored or shown, as one string. */
    async everything() {
      await Promise.all(pendingBodies);
      const lines = record.console.map(({ text }) => text);
      const storage = await page.evaluate(() => JSON.stringify([localStorage, sessionStorage]));
      const parts = [...record.received, ...lines, ...record.urls, await page.content(), storage];
      return parts.join("\n");
    },
  };
}

/** Records event streams chunk by chunk, because they may never end. */
async function recordEventStreams(page, record) {
  const devtools = await page.context().newCDPSession(page);
  const streams = new Map();
  const append = (id, base64 = "") => {
    const stream = streams.get(id);
    stream.text += Buffer.from(base64, "base64").toString("latin1");
    record.received[stream.index] = stream.text;
  };
  devtools.on("Network.responseReceived", async ({ requestId, response }) => {
    if (response.mimeType !== "text/event-stream") return;
    streams.set(requestId, { index: record.received.push("") - 1, text: "" });
    const buffered = await devtools
      .send("Network.streamResourceContent", { requestId })
      .catch(() => undefined);
    append(requestId, buffered?.bufferedData);
  });
  devtools.on("Network.dataReceived", ({ requestId, data }) => {
    if (data !== undefined && streams.has(requestId)) append(requestId, data);
  });
  await devtools.send("Network.enable");
}

/** Returns by how many pixels the page is wider than its window. */
export function overflow(page) {
  return page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
}

/** Rows after the first 30 have the same markup, and hundreds of them take axe many seconds. */
const LATER_ROWS = ".report_table-table tbody:nth-of-type(n + 4) tr";
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
/** The rules of axe that depend on colours. */
const COLOR_RULES = ["color-contrast", "link-in-text-block"];

export async function checkBothSchemes(page, state) {
  for (const [colorScheme, rules] of [
    ["light", TAGS],
    ["dark", COLOR_RULES],
  ]) {
    await page.emulateMedia({ colorScheme });
    assert.deepEqual(await accessibilityFaults(page, { rules }), [], `${state}, ${colorScheme}`);
    assert.ok((await overflow(page)) <= 0, `${state} fits its window, ${colorScheme}`);
  }
}

/** Returns axe's violations: rule, element and reason. The page must be scrolled to its top. */
export async function accessibilityFaults(page, { rules = TAGS } = {}) {
  const isLoaded = await page.evaluate(() => "axe" in globalThis);
  if (!isLoaded) await page.evaluate(axe.source);
  await finishAnimations(page);
  const violations = await page.evaluate(
    async ({ rules, hidden }) => {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(`${hidden} { display: none; }`);
      document.adoptedStyleSheets.push(sheet);
      try {
        const options = { runOnly: rules, resultTypes: ["violations"] };
        return (await globalThis.axe.run(options)).violations;
      } finally {
        const others = document.adoptedStyleSheets.filter((other) => other !== sheet);
        document.adoptedStyleSheets = others;
      }
    },
    { rules, hidden: LATER_ROWS },
  );
  const rows = await page
    .locator(".report_table-table tbody :is(a, button)")
    .evaluateAll((links) => links.map(({ outerHTML }) => outerHTML));
  // Axe reports rows under the bar at the lower edge, though they can be scrolled into view.
  const isRowUnderBar = ({ html, failureSummary }) =>
    rows.includes(html) && failureSummary.includes("partially obscured");
  return violations.flatMap(({ id, nodes }) =>
    nodes
      .filter((node) => !isRowUnderBar(node))
      .map(({ target, failureSummary }) => `${id}: ${target.join(" ")}: ${failureSummary}`),
  );
}

/** Ends all animations, so that no test judges a colour in the middle of a transition. */
export function finishAnimations(page) {
  return page.evaluate(() => {
    for (const animation of document.getAnimations()) {
      if (Number.isFinite(animation.effect.getComputedTiming().endTime)) animation.finish();
    }
  });
}

/** Waits until a table of up to 1,000 rows has all of them in the document. */
export function untilDrawn(page) {
  return page.waitForFunction(() => {
    const table = document.querySelector(".report_table-table");
    const rows = table?.querySelectorAll("tbody tr[aria-rowindex]").length;
    return rows === Number(table?.getAttribute("aria-rowcount")) - 1;
  });
}

/** Returns values with options for their tests. Others than `always` run in `npm run test:matrix`. */
export const matrixOf = (values, always = values.slice(0, 1)) =>
  values.map((value) => [value, { tag: always.includes(value) ? [] : ["@matrix"] }]);
