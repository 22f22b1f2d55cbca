/** The commands `deploy`, `preview` and `automation` against the gateway in workerd. */
import assert from "node:assert/strict";
import { describe } from "node:test";
import { BRANCH, useDeploymentGate } from "./deployment_gate.mjs";
import { assertFailed, only, pullRequestEvent } from "./fixtures.mjs";

const CONCURRENCY = 4;
const COMMIT = "0123456789abcdef0123456789abcdef01234567";
const SUCCESS = { status: "success", summary: "Your changes are now live!" };
const NOT_REVALIDATED = "Failed to revalidate domain: docs.acme.example";
const LIVE_FAILURE = {
  status: "failure",
  summary: NOT_REVALIDATED,
  logs: ["Successfully updated deployment", NOT_REVALIDATED],
};
const FAILURE = { status: "failure", summary: "Unable to find docs.json", logs: ["Verified"] };
const { test } = useDeploymentGate("action-deployments", "deployments");

async function begin(run, command, options) {
  const running = run.startCommand(command, options);
  await running.waitForOutput(/The (deployment|preview) \S+ has been started/);
  return { running, deployment: (await run.deployments()).at(-1) };
}

async function complete(run, command, end, options) {
  const { running, deployment } = await begin(run, command, options);
  await run.upstream.setDeployment(deployment._id, end);
  return { result: await running.ended, deployment };
}

function onPullRequest({ number = 12, branch = BRANCH, runId, ...rest } = {}) {
  return {
    event: pullRequestEvent(number, { head: { ref: branch, sha: COMMIT } }),
    env: {
      GITHUB_EVENT_NAME: "pull_request",
      GITHUB_REF: `refs/pull/${number}/merge`,
      ...(runId && { GITHUB_RUN_ID: runId }),
    },
    ...rest,
  };
}

describe("command: deploy", { concurrency: CONCURRENCY }, () => {
  test("publishes, waits until it is live and reports it", async (run) => {
    const { result, deployment } = await complete(run, "deploy", SUCCESS);
    assert.equal(result.code, 0, result.raw);
    const expected = { ...SUCCESS, "status-id": deployment._id, live: "true" };
    assert.deepEqual(result.outputs, expected);
    assert.deepEqual(result.annotations, []);
    assert.match(result.summary, /^### The documentation is live$/m);
    assert.ok(result.summary.includes(`\`${deployment._id}\``), result.summary);
    for (const token of run.github.tokens) assert.ok(result.masks.includes(token));
    run.assertNoSecret(result);
  });

  test("succeeds with a warning when it is live despite a failure", async (run) => {
    const { result } = await complete(run, "deploy", LIVE_FAILURE);
    assert.equal(result.code, 0, result.raw);
    assert.deepEqual([result.outputs.status, result.outputs.live], ["failure", "true"]);
    const { level, title, message } = only(result.annotations);
    assert.deepEqual([level, message], ["warning", NOT_REVALIDATED]);
    assert.equal(title, "The documentation is live, but a later step failed");
  });

  test("fails with the reason and the log when it is not live", async (run) => {
    const { result } = await complete(run, "deploy", FAILURE);
    assert.deepEqual([result.outputs.status, result.outputs.live], ["failure", "false"]);
    assert.equal(result.outputs.summary, FAILURE.summary);
    const message = /^Unable to find docs\.json\. To start another deployment, start a new/;
    assertFailed(result, message, "The deployment failed");
    assert.match(result.summary, /The end of the log:\n\n```text\nVerified\n```/);
  });

  test("starts one deployment for all attempts of a step, and others for other steps", async (run) => {
    const deploy = (env) => run.runCommand("deploy", { with: { wait: false }, env });
    const first = await deploy();
    const rerun = await deploy({ GITHUB_RUN_ATTEMPT: "2" });
    assert.equal(rerun.outputs["status-id"], first.outputs["status-id"]);
    assert.match(rerun.log, /from an earlier attempt/);
    assert.match(rerun.summary, /an earlier attempt of this step/);
    assert.equal((await run.deployments()).length, 1);
    await deploy({ GITHUB_ACTION: "__quillgate_2" });
    await deploy({ GITHUB_JOB: "other" });
    await deploy({ GITHUB_RUN_ID: "1" });
    assert.equal((await run.deployments()).length, 4);
  });

  test("ends on cancellation, and the deployment continues", async (run) => {
    const { running, deployment } = await begin(run, "deploy");
    running.cancel();
    const result = await running.ended;
    assert.equal(result.code, 130, result.raw);
    assert.equal(result.outputs["status-id"], deployment._id);
    assert.match(result.summary, /^### The step was cancelled; the deployment continues$/m);
    assert.ok(result.summary.includes(`npx quillgate deployment watch ${deployment._id}`));
  });

  test("reports an unknown outcome in every attempt when the response was lost", async (run) => {
    const operation = { operation: "deployments.create", target: run.gateway.project };
    await run.upstream.fault({ ...operation, times: 1, fault: { kind: "reset", process: true } });
    for (const GITHUB_RUN_ATTEMPT of ["1", "2"]) {
      const result = await run.runCommand("deploy", { env: { GITHUB_RUN_ATTEMPT } });
      const message = /Check Mintlify's dashboard\. To start another deployment, start a new run/;
      assertFailed(result, message, "The Action cannot tell whether the deployment started");
      assert.match(result.summary, /npx quillgate deployment list/);
    }
    assert.equal((await run.deployments()).length, 1);
  });
});

describe("command: preview", { concurrency: CONCURRENCY }, () => {
  test("previews the branch of the pull request and links it in one comment", async (run) => {
    const options = onPullRequest();
    const { result, deployment } = await complete(run, "preview", SUCCESS, options);
    assert.equal(result.code, 0, result.raw);
    assert.equal(deployment.branch, BRANCH);
    const { "preview-url": url, "status-id": id, live } = result.outputs;
    assert.deepEqual([id, live, url], [deployment._id, "true", deployment.previewUrl]);
    assert.equal(only(result.annotations).message, url);
    const comment = only(run.github.comments);
    assert.equal(comment.number, 12);
    assert.match(comment.writes[0], /^\*\*The preview has been started\*\*$/m);
    assert.match(comment.body, /^\*\*The preview is ready\*\*$/m);
    assert.ok(comment.body.includes(`(<${new URL(url).href}>)`), comment.body);
    assert.match(comment.body, /^Commit `[0-9a-f]{7}` of `docs\/größe-文書`, from \[this run\]/m);
    run.assertNoSecret(result);

    const later = onPullRequest({ runId: String(Number(run.id) + 1) });
    const { result: second } = await complete(run, "preview", FAILURE, later);
    assert.equal(second.code, 1);
    assert.equal(only(run.github.comments), comment);
    assert.match(comment.body, /\*\*The preview failed\*\*: Unable to find docs\.json/);
  });

  test("previews the branch of the input instead of the event's", async (run) => {
    const options = onPullRequest({ with: { branch: "next", wait: false, comment: false } });
    const result = await run.runCommand("preview", options);
    const deployment = only(await run.deployments());
    assert.deepEqual([result.code, deployment.branch], [0, "next"], result.raw);
    assert.equal(result.outputs["preview-url"], deployment.previewUrl);
    assert.deepEqual(run.github.comments, []);
  });

  for (const [name, env, event] of [
    [
      "a comment",
      { GITHUB_EVENT_NAME: "issue_comment" },
      { issue: { number: 1, pull_request: {} } },
    ],
    ...["check_run", "check_suite", "delete", "page_build", "status", "workflow_run"].map(
      (name) => [name, { GITHUB_EVENT_NAME: name }],
    ),
    ["a push that deleted a branch", { GITHUB_EVENT_NAME: "push" }, { deleted: true }],
    ["a tag", { GITHUB_REF: "refs/tags/v1" }],
  ]) {
    test(`requires the input branch when the event is ${name}`, async (run) => {
      const result = await run.runCommand("preview", { env, event });
      assertFailed(result, /set the input branch/);
      assert.deepEqual(await run.deployments(), []);
    });
  }

  test("skips the branch of a fork with a notice, without an identity", async (run) => {
    for (const headId of [7007, null]) {
      const event = pullRequestEvent(12, { headId, head: { ref: "main" } });
      const identity = { ACTIONS_ID_TOKEN_REQUEST_URL: "", ACTIONS_ID_TOKEN_REQUEST_TOKEN: "" };
      const result = await run.runCommand("preview", { event, env: identity });
      assert.deepEqual([result.code, result.outputs], [0, { skipped: "true" }], result.raw);
      assert.equal(only(result.annotations).level, "notice");
    }
    assert.deepEqual([await run.deployments(), run.github.comments], [[], []]);
  });

  test("finds its comment behind a page of others, and never writes to another user's", async (run) => {
    const { github } = run;
    const preview = () => run.runCommand("preview", onPullRequest({ with: { wait: false } }));
    await preview();
    const { body, user } = github.comments.pop();
    const copy = github.addComment(12, body, { id: 666, login: "mallory", type: "User" });
    for (let at = 0; at < 120; at++) github.addComment(12, `No. ${at}`, { id: 1, type: "User" });
    const own = github.addComment(12, body, user);
    await preview();
    assert.deepEqual([copy.writes.length, own.writes.length], [1, 2]);
    assert.equal(github.comments.length, 122);
  });

  test("does not replace the comment of a later run when an earlier one is cancelled", async (run) => {
    const { running } = await begin(run, "preview", onPullRequest());
    await run.github.untilCommented();
    const later = onPullRequest({ with: { wait: false }, runId: String(Number(run.id) + 1) });
    await run.runCommand("preview", later);
    const { body } = only(run.github.comments);
    running.cancel();
    const result = await running.ended;
    assert.equal(result.code, 130, result.raw);
    assert.equal(only(run.github.comments).body, body);
  });

  test("starts a preview for each job of a matrix, and warns about a second step", async (run) => {
    const preview = (matrix) => {
      const env = { GITHUB_RUN_ATTEMPT: "1" };
      return run.runCommand("preview", { with: { branch: "a", wait: false, matrix }, env });
    };
    const first = await preview('{"site":"one"}');
    const other = await preview('{"site":"two"}');
    assert.notEqual(other.outputs["status-id"], first.outputs["status-id"]);
    const again = await preview('{"site":"one"}');
    assert.equal(again.outputs["status-id"], first.outputs["status-id"]);
    assert.match(again.raw, /::warning title=Not started again::Another step of this run/);
    assert.doesNotMatch(first.raw, /::warning/);
  });
});

describe("command: automation", { concurrency: CONCURRENCY }, () => {
  test("runs the automation once for all attempts of a step", async (run) => {
    run.github.claims = { event_name: "workflow_dispatch" };
    const options = { with: { automation: "weekly" } };
    const first = await run.runCommand("automation", options);
    assert.equal(first.code, 0, first.raw);
    const env = { GITHUB_RUN_ATTEMPT: "2" };
    const rerun = await run.runCommand("automation", { ...options, env });
    assert.equal((await run.automations()).length, 1);
    assert.ok(first.outputs["instance-id"]);
    assert.deepEqual(rerun.outputs, first.outputs);
    assert.match(rerun.summary, /^### The automation was queued by an earlier attempt/m);
    run.assertNoSecret(first);
  });
});
