/** A workflow run that uses the action: its steps, and the GitHub and the gateway that they call. */
import assert from "node:assert/strict";
import { startStep } from "./runner.mjs";

export const REPOSITORY_ID = "2002";
export const PROMPT = "Document release 1.2";
export const PULL_REQUEST = "https://github.com/acme/docs/pull/12";
export const COMPLETED = { status: "completed", prLink: PULL_REQUEST };

/** Makes idempotency keys differ between tests, which share a gateway. */
let lastRunId = 12345678900;

export class WorkflowRun {
  constructor({ github, gateway }) {
    lastRunId += 1;
    this.id = String(lastRunId);
    this.github = github;
    this.gateway = gateway;
  }

  step({ with: inputs, env, ...rest } = {}) {
    const { url, project } = this.gateway;
    return {
      with: { gateway: url, project, prompt: PROMPT, ...inputs },
      env: {
        ...this.github.identityVariables(),
        GITHUB_API_URL: this.github.url,
        GITHUB_RUN_ID: this.id,
        ...env,
      },
      githubToken: this.github.githubToken,
      ...rest,
    };
  }

  runCommand(command, { with: inputs, ...rest } = {}) {
    return this.run({ with: { command, prompt: undefined, ...inputs }, ...rest });
  }

  startCommand(command, { with: inputs, ...rest } = {}) {
    return this.start({ with: { command, prompt: undefined, ...inputs }, ...rest });
  }

  start(overrides) {
    return startStep(this.step(overrides));
  }

  run(overrides) {
    return this.start(overrides).ended;
  }

  async startJob(overrides) {
    const running = this.start(overrides);
    await running.waitForOutput(/The job \S+ is active/);
    const job = (await this.gateway.jobs()).at(-1);
    return { running, job };
  }

  async runJob(end, overrides) {
    const { running, job } = await this.startJob(overrides);
    await this.gateway.setJob(job.id, end);
    return { result: await running.ended, job };
  }

  assertNoSecret(result) {
    const { requestToken, githubToken, tokens, comments } = this.github;
    const secrets = [requestToken, githubToken, this.gateway.accessToken, ...tokens];
    const shown = [result.log, result.summary, JSON.stringify(result.outputs)].join("\n");
    // GitHub's runner hides only masked values, so the step must mask each token before it logs.
    const written = result.raw.split("\n").filter((line) => !line.startsWith("::add-mask::"));
    for (const secret of secrets) {
      assert.ok(!shown.includes(secret), "a secret is shown");
      assert.ok(!written.join("\n").includes(secret), "a secret is written to the log");
      assert.ok(!comments.some(({ body }) => body.includes(secret)), "a secret is in a comment");
    }
  }
}

export function only(list) {
  assert.equal(list.length, 1, JSON.stringify(list));
  return list[0];
}

export function warningsOf({ annotations }) {
  return annotations.filter(({ level }) => level === "warning");
}

export function errorsOf({ annotations }) {
  return annotations.filter(({ level }) => level === "error");
}

/** Asserts that a step failed with one error. */
export function assertFailed(result, message, title) {
  const error = only(errorsOf(result));
  assert.match(error.message, message);
  if (title !== undefined) assert.equal(error.title, title);
  assert.equal(result.code, 1, result.raw);
}

/** The event payload of a pull request from this repository, or from a fork with another id. */
export function pullRequestEvent(number, { headId = Number(REPOSITORY_ID), head, base } = {}) {
  return {
    number,
    pull_request: {
      number,
      head: { repo: headId === null ? null : { id: headId }, ...head },
      base: { repo: { id: Number(REPOSITORY_ID) }, ...base },
    },
  };
}
