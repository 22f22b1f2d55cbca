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
  reporter: [["list"], ["json", { outputFile: join(RESULTS, "report.json") }]],
  use: {
    launchOptions: launchOptions(),
    actionTimeout: ACTION_TIMEOUT_MS,
    navigationTimeout: ACTION_TIMEOUT_MS,
    // Recording snapshots (which include requests) and screenshots doubles the time of the tests.
    // To record them, run a test with `--trace on`.
    trace: { mode: "retain-on-failure", snapshots: false, screenshots: false },
    screenshot: "only-on-failure",
  },
});
