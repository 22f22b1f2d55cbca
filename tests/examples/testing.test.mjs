import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { capture } from "../../scripts/child.mjs";
import { ROOT } from "../../scripts/versions.mjs";
import { link, write } from "../package/installed.mjs";
import { installExample } from "./example.mjs";

const VITEST = join(ROOT, "node_modules", "vitest", "vitest.mjs");

let folder;

before(async () => {
  folder = await installExample("testing");
  link(folder, "vitest");
});

async function runVitest() {
  const args = [VITEST, "run", "--reporter=json", "--outputFile=report.json"];
  const { code, stdout, stderr } = await capture(process.execPath, args, { cwd: folder });
  const report = JSON.parse(readFileSync(join(folder, "report.json"), "utf8"));
  return { code, report, output: stdout + stderr };
}

test("the tests of the example pass without waiting for a job", async () => {
  const { code, report, output } = await runVitest();
  assert.equal(code, 0, output);
  assert.equal(report.numPassedTests, report.numTotalTests);
  assert.ok(report.numPassedTests >= 8, `only ${report.numPassedTests} tests ran`);
  const results = report.testResults[0].assertionResults;
  for (const { fullName, duration } of results) assert.ok(duration < 30_000, fullName);
});

test("the tests of the example fail when the bot ignores a failed job", async () => {
  const bot = readFileSync(join(folder, "bot.js"), "utf8");
  write(folder, { "bot.js": bot.replace('status === "failed"', "false") });
  const { code, report } = await runVitest();
  assert.equal(code, 1);
  assert.equal(report.numFailedTests, 1);
});
