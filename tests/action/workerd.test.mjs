/** The action against the gateway in workerd and the simulated Mintlify API. */
import assert from "node:assert/strict";
import { describe } from "node:test";
import { useDeploymentGate } from "./deployment_gate.mjs";
import {
  assertFailed,
  COMPLETED,
  errorsOf,
  only,
  PROMPT,
  PULL_REQUEST,
  pullRequestEvent,
} from "./fixtures.mjs";

/** Most of a test's time is spent waiting for the gateway to poll the job. */
const CONCURRENCY = 4;

const site = useDeploymentGate("action", "jobs");
const { test } = site;

describe("the action", { concurrency: CONCURRENCY }, () => {
  test("creates a job, waits for its end and links its pull request", async (run) => {
    const { result, job } = await run.runJob(COMPLETED);
    assert.equal(result.code, 0, result.raw);
    assert.equal(job.prompt, PROMPT);
    const expected = { "job-id": job.id, status: "completed", "pull-request": PULL_REQUEST };
    assert.deepEqual(result.outputs, expected);
    assert.match(result.summary, /^### The job is completed$/m);
    for (const text of [`[acme/docs#12](<${PULL_REQUEST}>)`, `\`${job.id}\``, PROMPT]) {
      assert.ok(result.summary.includes(text), text);
    }
    assert.match(result.log, new RegExp(`The job ${job.id} is completed`));
    const notice = only(result.annotations);
    assert.deepEqual([notice.level, notice.message], ["notice", `Pull request: ${PULL_REQUEST}`]);
    assert.ok(run.github.tokens.length > 0, "the step requested an identity token");
    for (const token of run.github.tokens) assert.ok(result.masks.includes(token));
    assert.doesNotMatch(result.raw, /Warning/, "Node.js warns");
    run.assertNoSecret(result);
  });

  test("writes the job's id to its outputs before the job ends", async (run) => {
    const { running, job } = await run.startJob();
    assert.match(running.readFile("GITHUB_OUTPUT"), new RegExp(`^job-id<<.*\n${job.id}\n`));
    await run.gateway.setJob(job.id, COMPLETED);
    await running.ended;
  });

  test("fails when the job fails", async (run) => {
    const { result, job } = await run.runJob({ status: "failed" });
    assert.equal(result.outputs.status, "failed");
    assertFailed(result, /Re-run the workflow's job to start another/, "The job failed");
    assertFailed(result, new RegExp(job.id));
    assert.match(result.summary, /^### The job failed$/m);
    assert.match(result.summary, /Re-run the workflow's job/);
    assert.match(result.summary, /\| Pull request \| none \|/);
  });

  test("ends after the creation when wait is false", async (run) => {
    const result = await run.run({ with: { wait: false } });
    const [job] = await run.gateway.jobs();
    assert.equal(result.code, 0);
    assert.deepEqual([result.outputs["job-id"], result.outputs.status], [job.id, "active"]);
    assert.match(result.summary, /^### The job has been started$/m);
  });

  test("stops waiting at its timeout and prints the command that resumes", async (run) => {
    const { running, job } = await run.startJob({ with: { timeout: "6s" } });
    const result = await running.ended;
    assert.equal(result.code, 1);
    assert.deepEqual([result.outputs["job-id"], result.outputs.status], [job.id, "active"]);
    assert.match(only(errorsOf(result)).title, /did not end within 6s and is still running/);
    for (const text of [result.log, result.summary]) {
      assert.ok(text.includes(`npx quillgate job watch ${job.id}`), text);
      assert.ok(text.includes(`QUILLGATE_BASE_URL=${run.gateway.url}`), text);
    }
    assert.equal((await run.gateway.jobs())[0].status, "active");
    run.assertNoSecret(result);
  });

  for (const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ]) {
    test(`stops waiting on ${signal} and prints the command that resumes`, async (run) => {
      const { running, job } = await run.startJob();
      running.cancel(signal);
      const result = await running.ended;
      assert.equal(result.code, code, result.raw);
      assert.deepEqual([result.outputs["job-id"], result.outputs.status], [job.id, "active"]);
      assert.match(result.summary, /^### The step was cancelled; the job continues$/m);
      assert.ok(result.summary.includes(`npx quillgate job watch ${job.id}`));
      assert.ok(result.log.includes(`npx quillgate job watch ${job.id}`));
      assert.equal((await run.gateway.jobs())[0].status, "active", "the job continues");
    });
  }

  test("names the job whose creation was in progress when the step was cancelled", async (run) => {
    const held = await run.gateway.holdCreation();
    const running = run.start();
    await held.arrived;
    running.cancel();
    await held.release();
    const result = await running.ended;
    const job = only(await run.gateway.jobs());
    assert.equal(result.code, 130, result.raw);
    assert.equal(result.outputs["job-id"], job.id);
    assert.ok(result.summary.includes(`npx quillgate job watch ${job.id}`));
  });

  test("shows the claims for a rule when no rule matches the workflow", async (run) => {
    run.github.claims = { repository_id: "6666", repository: "mallory/docs" };
    const result = await run.run();
    assertFailed(result, /does not allow this identity/);
    assert.match(only(result.groups), /TRUSTED_ISSUERS/);
    assert.match(result.log, /^repository_id: "6666"$/m);
    assert.match(result.log, /^job_workflow_ref: "mallory\/docs\//m);
    assert.deepEqual(await run.gateway.jobs(), []);
    assert.equal(result.outputs["job-id"], undefined);
    run.assertNoSecret(result);
  });

  test("explains why a pull request from a fork has no identity", async (run) => {
    for (const headId of [7007, null]) {
      const event = pullRequestEvent(12, { headId });
      const identity = { ACTIONS_ID_TOKEN_REQUEST_URL: "", ACTIONS_ID_TOKEN_REQUEST_TOKEN: "" };
      const env = { ...identity, GITHUB_EVENT_NAME: "pull_request" };
      const result = await run.run({ env, event });
      assertFailed(result, /no identity token for .* from a fork/);
      assert.match(result.summary, /from a fork/);
    }
    assert.deepEqual(await run.gateway.jobs(), []);
  });

  test("names the permission that a job without an identity lacks", async (run) => {
    const env = { ACTIONS_ID_TOKEN_REQUEST_URL: "", ACTIONS_ID_TOKEN_REQUEST_TOKEN: "" };
    const result = await run.run({ env, event: pullRequestEvent(12) });
    assertFailed(result, /permissions: id-token: write/);
  });

  test("uses a given access token and requests no identity token", async (run) => {
    const { accessToken } = run.gateway;
    const { result } = await run.runJob(COMPLETED, { with: { token: accessToken } });
    assert.equal(result.code, 0, result.raw);
    assert.deepEqual(run.github.tokens, []);
    assert.ok(result.masks.includes(accessToken));
    run.assertNoSecret(result);
  });

  test("creates one job per delivery of a step, and another for a re-run", async (run) => {
    const inputs = { wait: false };
    const first = await run.run({ with: inputs });
    const again = await run.run({ with: inputs });
    assert.equal(again.outputs["job-id"], first.outputs["job-id"]);
    assert.equal((await run.gateway.jobs()).length, 1);

    const env = { GITHUB_RUN_ATTEMPT: "2" };
    const rerun = await run.run({ with: inputs, env });
    assert.notEqual(rerun.outputs["job-id"], first.outputs["job-id"]);
    const otherStep = await run.run({ with: inputs, env: { GITHUB_ACTION: "other" } });
    const otherJob = await run.run({ with: inputs, env: { GITHUB_JOB: "other" } });
    const otherPrompt = await run.run({ with: { ...inputs, prompt: "Document release 1.3" } });
    const results = [first, rerun, otherStep, otherJob, otherPrompt];
    assert.equal(new Set(results.map(({ outputs }) => outputs["job-id"])).size, 5);
    assert.equal((await run.gateway.jobs()).length, 5);
  });

  test("resumes the job of an earlier attempt with the same idempotency key", async (run) => {
    const inputs = { "idempotency-key": "release-1.2", timeout: "5s" };
    const first = await run.run({ with: inputs });
    assert.equal(first.code, 1);
    const env = { GITHUB_RUN_ATTEMPT: "2" };
    const rerun = run.start({ with: { ...inputs, timeout: "1m" }, env });
    await rerun.waitForOutput(/The job \S+ is active/);
    await run.gateway.setJob(first.outputs["job-id"], COMPLETED);
    const second = await rerun.ended;
    assert.equal(second.outputs["job-id"], first.outputs["job-id"]);
    assert.equal(second.outputs["pull-request"], PULL_REQUEST);
    assert.equal((await run.gateway.jobs()).length, 1);
  });

  test("reports an unknown outcome when the response to a creation was lost", async (run) => {
    await run.gateway.loseCreation();
    const result = await run.run();
    const message = /Check Mintlify's dashboard before a re-run, which starts another job/;
    assertFailed(result, message, "The Action cannot tell whether the job started");
    assert.match(result.summary, /^### The Action cannot tell/);
  });

  test("updates one comment on the pull request in every run", async (run) => {
    const options = { with: { comment: true }, event: pullRequestEvent(12) };
    const { result, job } = await run.runJob(COMPLETED, options);
    assert.equal(result.code, 0, result.raw);
    const comment = only(run.github.comments);
    assert.equal(comment.number, 12);
    assert.deepEqual([comment.writes.length, comment.user.type], [2, "Bot"]);
    assert.match(comment.writes[0], /The job has been started/);
    assert.match(comment.writes[1], /The job is completed.*\[acme\/docs#12\]/);
    assert.ok(comment.body.includes(job.id) && comment.body.includes(`/runs/${run.id}/attempts/1`));
    assert.ok(!comment.body.includes(PROMPT), "a prompt could mention people");

    const rerun = { ...options, env: { GITHUB_RUN_ID: "777", GITHUB_REF: "refs/pull/12/merge" } };
    const { result: second } = await run.runJob({ status: "failed" }, rerun);
    assert.equal(second.code, 1);
    assert.equal(only(run.github.comments), comment);
    assert.match(comment.body, /The job failed/);
    assert.match(comment.body, /runs\/777\/attempts\/1/);
    run.assertNoSecret(second);
  });
});

test("the gateway logs no identity token", () => {
  const tokens = site.githubs.flatMap((github) => github.tokens);
  assert.ok(tokens.length > 0, "no identity token was signed");
  const log = site.gate.gateway.log();
  for (const token of tokens) assert.ok(!log.includes(token));
});
