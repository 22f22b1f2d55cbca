/** Runs the documented workflows with deployments against the gateway in workerd. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe } from "node:test";
import { pathToFileURL } from "node:url";
import { makeFolder } from "../harness/folder.mjs";
import { BRANCH, useDeploymentGate } from "./deployment_gate.mjs";
import { only, pullRequestEvent } from "./fixtures.mjs";
import { Cache, readExample, startWorkflowJob, WITHOUT_JQ } from "./workflow.mjs";

const CONCURRENCY = 3;
const SUCCESS = { status: "success", summary: "It is live" };
const FAILURE = { status: "failure", summary: "Invalid file" };
const [BASE, HEAD] = ["a", "b"].map((digit) => digit.repeat(40));
const COMPARISON = `/repos/acme/docs/compare/${BASE}...${HEAD}`;

const { test } = useDeploymentGate("action-deployment-examples", "deployments");

async function runExample(run, heading, { end, id = run.id, event = {}, ...options }) {
  const { job, permissions } = readExample(heading);
  run.github.refusesComments = permissions["pull-requests"] !== "write" && !permissions.contents;
  const running = startWorkflowJob(job, {
    github: { event, run_id: id },
    ...options,
    toStep: (inputs) => {
      const { url, project } = run.gateway;
      const env = { PATH: process.env.PATH, GITHUB_RUN_ID: id };
      const step = run.step({ event, env });
      return { ...step, with: { ...inputs, gateway: url, project } };
    },
  });
  if (end !== undefined) {
    await running.waitForOutput(/has been started/);
    await run.upstream.setDeployment((await run.deployments()).at(-1)._id, end);
  }
  return running.ended;
}

const JQ = { skip: WITHOUT_JQ };

describe("documented workflows", { concurrency: CONCURRENCY }, () => {
  test("the workflow for a remote OpenAPI file deploys when it changes", JQ, async (run, t) => {
    const cache = new Cache();
    t.after(() => cache.clean());
    const file = join(makeFolder(t, "openapi"), "openapi.json");
    const variables = { OPENAPI_URL: pathToFileURL(file).href };
    let at = 0;
    const runWith = (content, end) => {
      writeFileSync(file, content);
      at += 1;
      const id = String(Number(run.id) * 10 + at);
      const heading = "Redeploy when a remote OpenAPI file changes";
      return runExample(run, heading, { end, id, cache, variables });
    };
    const makeFile = (version) => `{"openapi":"3.1.0","info":{"version":${version}}}`;
    const [V1, V2] = [makeFile(1), makeFile(2)];
    const count = async () => (await run.deployments()).length;

    const first = await runWith(V1, SUCCESS);
    assert.deepEqual([first.code, first.outputs.live, await count()], [0, "true", 1], first.raw);
    const same = await runWith(`\n${V1} `);
    assert.deepEqual([same.code, same.outputs, await count()], [0, { skipped: "true" }, 1]);
    const failed = await runWith(V2, FAILURE);
    assert.deepEqual([failed.code, failed.outputs.live, await count()], [1, "false", 2]);
    const retried = await runWith(V2, SUCCESS);
    assert.deepEqual([retried.code, retried.outputs.live, await count()], [0, "true", 3]);
    const reverted = await runWith(V1, SUCCESS);
    assert.deepEqual([reverted.code, await count()], [0, 4], reverted.raw);
    await assert.rejects(runWith("<html>"), /parse error/);
    await assert.rejects(runWith('{"message":"Sign in"}'), /Command failed/);
    assert.equal(await count(), 4);
    assert.equal(cache.keys.length, 4, "every successful run saves the cache");
  });

  test("the workflow for a merge deploys when a path changed that is not excluded", async (run) => {
    const event = { before: BASE, after: HEAD };
    for (const [filename, end, skipped] of [
      ["docs/drafts/a.mdx", undefined, "true"],
      ["docs/a.mdx", SUCCESS, "false"],
    ]) {
      run.github.resources[COMPARISON] = { status: "ahead", files: [{ filename }] };
      const result = await runExample(run, "Deploy on a merge", { end, event });
      assert.deepEqual([result.code, result.outputs.skipped], [0, skipped], result.raw);
    }
    assert.equal((await run.deployments()).length, 1);
  });

  test("the workflow for previews comments on the pull request, and skips forks", async (run) => {
    run.github.resources[COMPARISON] = { status: "diverged", files: [{ filename: "docs/a" }] };
    const head = { ref: BRANCH, sha: HEAD };
    const base = { sha: BASE };
    const fork = pullRequestEvent(12, { headId: 7007, head, base });
    const heading = "A preview for each pull request";
    const skipped = await runExample(run, heading, { event: fork });
    assert.deepEqual([skipped.code, skipped.outputs.skipped], [0, "true"], skipped.raw);

    const event = pullRequestEvent(12, { head, base });
    const result = await runExample(run, heading, { end: SUCCESS, event });
    assert.equal(result.code, 0, result.raw);
    const preview = only(await run.deployments());
    assert.equal(preview.branch, BRANCH);
    const { body, number } = only(run.github.comments);
    assert.ok(number === 12 && body.includes(new URL(preview.previewUrl).href), body);
  });
});
