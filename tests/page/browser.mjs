/** A real browser, with a record of all that it got to see. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import axe from "axe-core";
import { chromium } from "playwright-core";

const ARGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--no-first-run",
  "--disable-background-networking",
];

/** @param {string[]} [args] more of them */
export function launchBrowser(args = []) {
  return chromium.launch({ executablePath: browserPath(), args: [...ARGS, ...args] });
}

function browserPath() {
  if (process.env.CHROME) return process.env.CHROME;
  const folders = ["/usr/bin", ...(process.env.PATH ?? "").split(delimiter)];
  const names = ["chromium", "chromium-browser", "google-chrome"];
  const paths = folders.flatMap((folder) => names.map((name) => join(folder, name)));
  const found = paths.find((path) => existsSync(path));
  assert.ok(found, "no Chromium found: install it, or name it in the variable CHROME");
  return found;
}

/**
 * Opens a page in a profile of its own, and keeps every address, header, body
 * and console line of it.
 *
 * @param {import("playwright-core").Browser} browser
 * @param {import("playwright-core").BrowserContextOptions} [options]
 */
export async function openPage(browser, options) {
  const context = await browser.newContext({ locale: "en-US", ...options });
  const page = await context.newPage();
  const record = { urls: [], received: [], console: [], violations: [] };
  const reading = [];
  page.setDefaultTimeout(60_000);
  page.on("request", (request) => record.urls.push(request.url()));
  page.on("framenavigated", (frame) => record.urls.push(frame.url()));
  page.on("response", (response) => reading.push(keep(response)));
  await keepStreams(context, page, record);
  page.on("console", (line) => record.console.push({ type: line.type(), text: line.text() }));
  page.on("pageerror", (error) => record.console.push({ type: "error", text: String(error) }));
  await page.exposeFunction("noteViolation", (text) => record.violations.push(text));
  await page.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (event) => {
      window.noteViolation(`${event.violatedDirective} ${event.blockedURI}`);
    });
  });

  async function keep(response) {
    const headers = await response.allHeaders().catch(() => ({}));
    const isStream = headers["content-type"]?.startsWith("text/event-stream");
    // Cancelled and redirected responses have no body to read.
    const body = isStream ? "" : await response.body().catch(() => Buffer.alloc(0));
    record.received.push(JSON.stringify(headers), body.toString("latin1"));
  }

  return {
    page,
    record,
    /** Everything that the browser got or shows, as one text. */
    async everything() {
      await Promise.all(reading);
      const lines = record.console.map(({ text }) => text);
      const storage = await page.evaluate(() => JSON.stringify([localStorage, sessionStorage]));
      const parts = [...record.received, ...lines, ...record.urls, await page.content(), storage];
      return parts.join("\n");
    },
    close: () => context.close(),
  };
}

/** Keeps what event streams bring, as it comes: they may have no end to wait for. */
async function keepStreams(context, page, record) {
  const devtools = await context.newCDPSession(page);
  const streams = new Map();
  const keep = (id, base64 = "") => {
    const { at, text } = streams.get(id);
    const whole = text + Buffer.from(base64, "base64").toString("latin1");
    streams.set(id, { at, text: whole });
    record.received[at] = whole;
  };
  devtools.on("Network.responseReceived", async ({ requestId, response }) => {
    if (response.mimeType !== "text/event-stream") return;
    streams.set(requestId, { at: record.received.push("") - 1, text: "" });
    const begun = await devtools
      .send("Network.streamResourceContent", { requestId })
      .catch(() => undefined);
    keep(requestId, begun?.bufferedData);
  });
  devtools.on("Network.dataReceived", ({ requestId, data }) => {
    if (data !== undefined && streams.has(requestId)) keep(requestId, data);
  });
  await devtools.send("Network.enable");
}

/** How much wider than the window the page is, in pixels. */
export function overflow(page) {
  return page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
}

/** What axe finds against WCAG 2.2 AA and its own good practice: rule, element and why. */
export async function accessibilityFaults(page) {
  await page.evaluate(axe.source);
  // A colour on its way to another is neither.
  await page.evaluate(() => {
    for (const animation of document.getAnimations()) {
      if (Number.isFinite(animation.effect.getComputedTiming().endTime)) animation.finish();
    }
  });
  const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
  const { violations } = await page.evaluate((tags) => globalThis.axe.run({ runOnly: tags }), tags);
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(" ")}: ${failureSummary}`),
  );
}
