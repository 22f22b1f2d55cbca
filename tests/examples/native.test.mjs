import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { LOCKED } from "../../scripts/cargo.mjs";
import { capture, run } from "../../scripts/child.mjs";
import { ROOT } from "../../scripts/versions.mjs";
import { PROJECT, startPlatform } from "./example.mjs";

const NAME = "quillgate-example-native";
const PROGRAM = join(ROOT, "target", "debug", NAME);
const RANGE = { dateFrom: "2026-10-01", dateTo: "2026-11-01" };

let platform;

before(async () => {
  await run("building the example", "cargo", ["build", LOCKED, "-p", NAME]);
  platform = await startPlatform({ upstream: { jobDurationMs: 200, pages: 320 } });
});
after(() => platform?.stop());

/** Runs the program with the variables from its README. */
function runExample(args, scope = "jobs:create jobs:read analytics:read") {
  const env = {
    QUILLGATE_BASE_URL: platform.gateway.url,
    QUILLGATE_PROJECT_ID: PROJECT,
    QUILLGATE_TOKEN: platform.token(scope),
  };
  return capture(PROGRAM, args, { env });
}

test("the native Rust example follows a job to its pull request", async () => {
  const prompt = "Document the new endpoint";
  const { code, stdout, stderr } = await runExample(["job", prompt]);
  assert.equal(code, 0, stderr);
  const job = (await platform.upstream.jobs()).find((job) => job.prompt === prompt);
  assert.equal(stdout, `${job.prLink}\n`);
  assert.equal(stderr, `${job.id}: active\n${job.id}: completed\n`);
});

test("the native Rust example fails when its job fails", async () => {
  const { code, stdout, stderr } = await runExample(["job", "[fail] Document the new endpoint"]);
  assert.equal(code, 1, stderr);
  assert.equal(stdout, "");
  assert.match(stderr, /the job has failed/);
});

test("the native Rust example exports all page views of a range", async () => {
  const { code, stdout, stderr } = await runExample(["views", RANGE.dateFrom, RANGE.dateTo]);
  assert.equal(code, 0, stderr);
  const rows = stdout.trimEnd().split("\n").map(JSON.parse);
  const { views } = await platform.upstream.views(RANGE);
  assert.ok(views.length > 250, "the rows fit on one page");
  assert.deepEqual(rows, views);
});

test("the native Rust example shows the gateway's refusals and its own validation errors", async () => {
  const refused = await runExample(["job", "Not allowed"], "analytics:read");
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /status 403: .*jobs:create/);

  const invalid = await runExample(["views", RANGE.dateTo, RANGE.dateFrom]);
  assert.equal(invalid.code, 1);
  assert.match(invalid.stderr, /^dateFrom must be before dateTo/);

  const misused = await runExample([]);
  assert.equal(misused.code, 2);
  assert.match(misused.stderr, /^usage: /);
});
