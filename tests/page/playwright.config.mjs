/** Browser tests of the page: `npx playwright test -c tests/page/playwright.config.mjs [file…]`. */
import { join } from "node:path";
import { defineConfig } from "@playwright/test";
import { LOGS } from "../harness/process.mjs";
import { ACTION_TIMEOUT_MS, launchOptions } from "./browser.mjs";

const RESULTS = join(LOGS, "page");

export default defineConfig({
  testMatch: "*.spec.mjs",
  globalSetup: "./build_simulator.mjs",
  outputDir: RESULTS,
  workers: Number(process.env.QUILLGATE_PAGE_WORKERS || 2),
  fullyParallel: false,
  retries: 0,
  timeout: 240_000,
  expect: { timeout: ACTION_TIMEOUT_MS },
  reporter: [["list"], ["json", { outputFile: join(RESULTS, "report.json") }]],
  use: {
    launchOptions: launchOptions(),
    actionTimeout: ACTION_TIMEOUT_MS,
    navigationTimeout: ACTION_TIMEOUT_MS,
    // A trace slows each test down. To record one, run a test with `--trace on`.
    trace: "off",
    screenshot: "only-on-failure",
  },
});
