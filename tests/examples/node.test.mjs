import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { capture } from "../../scripts/child.mjs";
import { installExample, PROJECT, startPlatform } from "./example.mjs";

let folder;
let platform;

before(async () => {
  folder = await installExample("node");
  platform = await startPlatform({ upstream: { jobDurationMs: 200 } });
});
after(() => platform?.stop());

/** Runs the script with the variables from its README. */
function startJob(...args) {
  const env = {
    PATH: process.env.PATH,
    QUILLGATE_BASE_URL: platform.gateway.url,
    QUILLGATE_PROJECT_ID: PROJECT,
    QUILLGATE_TOKEN: platform.token("jobs:create jobs:read"),
  };
  return capture(process.execPath, ["start_job.mjs", ...args], { cwd: folder, env });
}

test("the Node.js example starts a job, watches it and prints its pull request", async () => {
  const { code, stdout, stderr } = await startJob("Document the new endpoint");
  assert.equal(code, 0, stderr);
  const job = (await platform.upstream.jobs()).find(({ prompt }) => {
    return prompt === "Document the new endpoint";
  });
  assert.equal(stdout, `${job.prLink}\n`);
  assert.match(stderr, new RegExp(`^${job.id}: completed$`, "m"));
});

test("the Node.js example fails when its job fails", async () => {
  const { code, stdout, stderr } = await startJob("[fail] Document the new endpoint");
  assert.equal(code, 1, stderr);
  assert.equal(stdout, "");
  assert.match(stderr, /the job has failed/);
});

test("the Node.js example prints its usage without a prompt and starts no job", async () => {
  const before = (await platform.upstream.jobs()).length;
  const { code, stderr } = await startJob();
  assert.equal(code, 2);
  assert.match(stderr, /usage/);
  assert.equal((await platform.upstream.jobs()).length, before);
});
