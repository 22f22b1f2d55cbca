import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { LOCKED } from "../../scripts/cargo.mjs";
import { run } from "../../scripts/child.mjs";
import { ROOT } from "../../scripts/versions.mjs";
import { LOGS } from "../harness/process.mjs";
import { serve } from "../package/static_server.mjs";
import { accessibilityFaults, launchBrowser, openPage } from "../page/browser.mjs";
import { PROJECT, startPlatform } from "./example.mjs";

const FOLDER = join(ROOT, "examples", "jobs");
const RANGE = { dateFrom: "2026-10-01", dateTo: "2026-11-01" };

let site;
let platform;
let browser;

before(async () => {
  // The README's command, but without optimisations.
  const target = ["--target", "web", "--no-pack", "--out-dir", "dist"];
  const args = ["build", FOLDER, "--dev", ...target, "--mode", "no-install", LOCKED];
  await run("building the example", "wasm-pack", args);
  site = await serve({ folder: FOLDER });
  platform = await startPlatform({
    upstream: { pages: 320, jobDurationMs: 1000 },
    gateway: { allowedOrigins: site.url },
  });
  browser = await launchBrowser();
});

after(async () => {
  await browser?.close();
  await platform?.stop();
  await site?.stop();
});

async function open(scope) {
  const token = platform.token(scope);
  const opened = await openPage(browser);
  const { page, record } = opened;
  await page.goto(`${site.url}/index.html`);
  await page.getByLabel("Gateway").fill(platform.gateway.url);
  await page.getByLabel("Project").fill(PROJECT);
  await page.getByLabel("Access token").fill(token);
  const check = async () => {
    assert.ok(
      !(await opened.everything()).includes(platform.key),
      "the page received the admin key",
    );
    assert.ok(!record.urls.some((url) => url.includes(token)), "a URL contains the token");
    await opened.close();
  };
  return { ...opened, check };
}

test("the Rust example enables its forms when its module has loaded", async () => {
  const { page, close } = await openPage(browser);
  let sendModule;
  const moduleRequested = new Promise((resolve) => {
    page.route("**/*.wasm", (route) => {
      sendModule = () => route.continue();
      resolve();
    });
  });
  await page.goto(`${site.url}/index.html`);
  await moduleRequested;
  const buttons = ["Start job", "Show page views"].map((name) =>
    page.getByRole("button", { name }),
  );
  for (const button of buttons) assert.ok(await button.isDisabled());
  await sendModule();
  for (const button of buttons) await button.click({ trial: true });
  await close();
});

test("the Rust example starts a job, watches it and links its pull request", async () => {
  const { page, record, check } = await open("jobs:create jobs:read");
  await page.getByLabel("Prompt").fill("Fix the broken links");
  await page.getByRole("button", { name: "Start job" }).click();
  await page.getByText("active", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Stop watching" }).waitFor();

  await page.getByText("completed", { exact: true }).waitFor();
  const [job] = await platform.upstream.jobs();
  const link = page.getByRole("link", { name: "Open pull request" });
  assert.equal(await link.getAttribute("href"), job.prLink);
  assert.equal(job.prompt, "Fix the broken links");
  await page.getByRole("button", { name: "Stop watching" }).waitFor({ state: "hidden" });
  await page.screenshot({ path: join(LOGS, "example-job.png") });

  const created = (await platform.upstream.requests()).filter(({ method }) => method === "POST");
  assert.equal(created.length, 1);
  const errors = record.console.filter(({ type }) => type === "error");
  assert.deepEqual(errors, []);
  await check();
});

test("the Rust example aborts the request of a watch that the user stops", async () => {
  const { page, check } = await open("jobs:create jobs:read");
  await platform.upstream.hold({ operation: "agentJobs.get" });
  await page.getByLabel("Prompt").fill("Continue without me");
  await page.getByRole("button", { name: "Start job" }).click();
  await page.getByText("active", { exact: true }).waitFor();
  await platform.upstream.untilHeld(1);
  const aborted = page.waitForEvent("requestfailed", (request) =>
    /\/job\/[^/]+\/events$/.test(request.url()),
  );
  await page.getByRole("button", { name: "Stop watching" }).click();
  assert.equal((await aborted).failure()?.errorText, "net::ERR_ABORTED");
  await page.getByText("No longer watched").waitFor();
  assert.equal(await page.locator("#job-error").textContent(), "");
  await platform.upstream.release();
  await check();
});

test("the Rust example fills its table with the page views of a range", async () => {
  const { page, check } = await open("analytics:read");
  await page.getByLabel("From").fill(RANGE.dateFrom);
  await page.getByLabel("To (not included)").fill(RANGE.dateTo);
  await page.getByRole("button", { name: "Show page views" }).click();
  const { views } = await platform.upstream.views(RANGE);
  assert.ok(views.length > 250, "the rows fit on one page");
  await page.getByText(`${views.length} pages`, { exact: true }).waitFor();
  const rows = await page
    .locator("#rows tr")
    .evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
  const expected = views.map(({ path, human, ai, total }) => [
    path,
    ...[human, ai, total].map(String),
  ]);
  assert.deepEqual(rows, expected);
  assert.deepEqual(await accessibilityFaults(page), []);
  await page.locator("#table").evaluate((table) => table.scrollIntoView());
  await page.screenshot({ path: join(LOGS, "example-views.png") });
  await check();
});

test("the Rust example shows the gateway's refusals and its own validation errors", async () => {
  const { page, check } = await open("analytics:read");
  await page.getByLabel("Prompt").fill("Not allowed");
  await page.getByRole("button", { name: "Start job" }).click();
  const alert = page.locator("#job-error");
  await alert.filter({ hasText: "status 403" }).waitFor();
  await alert.filter({ hasText: "jobs:create" }).waitFor();

  await page.getByLabel("Prompt").fill("");
  await page.getByRole("button", { name: "Start job" }).click();
  await alert.filter({ hasText: "prompt must have at least one character" }).waitFor();
  await check();
});
