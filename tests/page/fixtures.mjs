/** The tests of a worker share sites. Each test gets a fresh project and browser context. */
import assert from "node:assert/strict";
import { test as base } from "@playwright/test";
import { recordTraffic } from "./browser.mjs";
import { SitePool, SMALL_SITE } from "./sites.mjs";
import { createVisitor } from "./visitor.mjs";

const START_TIMEOUT_MS = 180_000;

export { expect } from "@playwright/test";

/** Chromium itself reports each 4xx and 5xx response and each request that a test aborts. */
const FAILED_REQUEST =
  /Failed to (load resource: (the server responded with a status of [45]\d\d|net::ERR_)|fetch dynamically imported module)/;

export const test = base.extend({
  siteOptions: [SMALL_SITE, { option: true }],
  projectKind: ["plain", { option: true }],

  sites: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the dependencies from the pattern.
    async ({}, use) => {
      const sites = new SitePool();
      await use(sites);
      await sites.stop();
    },
    { scope: "worker", timeout: START_TIMEOUT_MS },
  ],

  site: [
    async ({ sites, siteOptions }, use) => {
      const site = await sites.get(siteOptions);
      await site.upstream.reset();
      await use(site);
    },
    { timeout: START_TIMEOUT_MS },
  ],

  visitor: async ({ site, page, projectKind }, use) => {
    const traffic = await recordTraffic(page);
    const visitor = createVisitor(site, page, site.takeProject(projectKind));
    await use({ site, page, ...traffic, ...visitor });
    // A request that a handler still forwards is not a failure of the test.
    const tabs = page.context().pages();
    await Promise.all(tabs.map((tab) => tab.unrouteAll({ behavior: "ignoreErrors" })));
  },

  discretion: [
    async ({ visitor }, use, testInfo) => {
      await use();
      if (testInfo.errors.length === 0) await checkDiscretion(visitor);
    },
    { auto: true },
  ],
});

/** Checks that the visit exposed no credential, violated no policy and logged no page error. */
async function checkDiscretion({ site, page, record, everything, tokens }) {
  const all = await everything();
  assert.ok(record.received.length > 0, "the browser received something");
  assert.ok(!all.includes(site.key), "the browser never received the admin key");
  for (const token of tokens) {
    assert.ok(!record.urls.some((url) => url.includes(token)), "no address contains the token");
  }
  const stored = await page.evaluate(() => JSON.stringify([localStorage, sessionStorage]));
  assert.ok(!tokens.some((token) => stored.includes(token)), "no script stored the token");
  assert.deepEqual(record.violations, [], "nothing violated the content security policy");
  const errors = record.console.filter(
    ({ type, text }) => type === "error" && !FAILED_REQUEST.test(text),
  );
  assert.deepEqual(errors, [], "the console shows no error");
}
