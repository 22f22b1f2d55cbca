/** The input `preview` of jobs, against the gateway in workerd and the simulated Mintlify API. */
import assert from "node:assert/strict";
import { describe } from "node:test";
import { BRANCH, useDeploymentGate } from "./deployment_gate.mjs";
import { COMPLETED, only, PULL_REQUEST, pullRequestEvent, warningsOf } from "./fixtures.mjs";

const CONCURRENCY = 4;

const { test } = useDeploymentGate("action-job-previews", "all");

describe("preview: true of a job", { concurrency: CONCURRENCY }, () => {
  const OPTIONS = { with: { preview: true, comment: true }, event: pullRequestEvent(7) };

  test("previews the branch of the job's pull request and links it", async (run) => {
    run.github.resources["/repos/acme/docs/pulls/12"] = { head: { ref: BRANCH } };
    const { result } = await run.runJob(COMPLETED, OPTIONS);
    assert.equal(result.code, 0, result.raw);
    const preview = only(await run.deployments());
    assert.equal(preview.branch, BRANCH);
    assert.equal(result.outputs["pull-request"], PULL_REQUEST);
    assert.equal(result.outputs["preview-url"], preview.previewUrl);
    assert.equal(result.outputs["status-id"], preview._id);
    const link = `(<${new URL(preview.previewUrl).href}>)`;
    const comment = only(run.github.comments);
    for (const text of [result.summary, comment.body]) assert.ok(text.includes(link), text);
  });

  for (const [name, end] of [
    ["no pull request", { status: "completed" }],
    ["failed", { status: "failed", prLink: PULL_REQUEST }],
  ]) {
    test(`starts no preview for a job with the result: ${name}`, async (run) => {
      const { result } = await run.runJob(end, OPTIONS);
      assert.equal(result.outputs["preview-url"], "");
      assert.deepEqual([await run.deployments(), warningsOf(result)], [[], []]);
    });
  }

  test("never previews the default branch when the pull request cannot be read", async (run) => {
    // The simulated job has the branch `main`.
    const event = { ...OPTIONS.event, repository: { default_branch: "main" } };
    const { result } = await run.runJob(COMPLETED, { ...OPTIONS, event });
    assert.equal(result.code, 0, result.raw);
    assert.match(only(warningsOf(result)).message, /branch of the pull request is not known/);
    assert.deepEqual(await run.deployments(), []);
  });
});
