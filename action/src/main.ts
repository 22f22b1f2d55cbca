/** The action's entry point: creates one agent job, waits for it and reports the outcome. */

import "./cancellation.js";

import { type AgentJob, AuthenticationError } from "quillgate/inline";
import { ProxyError, readProxies, useProxies } from "../../pkg/dist/proxy.js";
import { cancellation } from "./cancellation.js";
import { CommentError, JobComment } from "./comment.js";
import { type PullRequest, readPullRequest } from "./event.js";
import { AccessToken, type Identity, WorkflowIdentity } from "./identity.js";
import { InputError, type Inputs, readInputs } from "./inputs.js";
import {
  type Connection,
  type CreatedJob,
  connect,
  createJob,
  deriveIdempotencyKey,
  explainCreation,
  mayHaveStarted,
  readProblemKind,
  waitForJob,
} from "./job.js";
import {
  announcePullRequest,
  type Context,
  composeComment,
  describeOutcome,
  explainFailure,
  formatListCommand,
  formatResumeCommand,
  isUnfinished,
  mayHaveUnknownJob,
  type Outcome,
  summarize,
  summarizeMistake,
} from "./report.js";
import { Runner, RunnerError } from "./runner.js";

/**
 * The claims to log when the gateway rejects the identity. Operators need them to write a rule; see
 * docs/github-actions.md.
 */
const SHOWN_CLAIMS = [
  "iss",
  "aud",
  "sub",
  "repository",
  "repository_id",
  "repository_owner_id",
  "event_name",
  "ref",
  "ref_type",
  "environment",
  "job_workflow_ref",
  "actor_id",
  "runner_environment",
];

const runner = new Runner(process.env, (line) => process.stdout.write(`${line}\n`));

try {
  const code = await run(cancellation);
  process.exitCode ??= code;
} catch (error) {
  if (!(error instanceof InputError || error instanceof RunnerError)) throw error;
  runner.annotate("error", "The step is set up wrongly", error.message);
  if (runner.env.GITHUB_STEP_SUMMARY) runner.appendSummary(summarizeMistake(error.message));
  process.exitCode = 1;
}

/** Runs the step and returns its exit code. */
async function run(signal: AbortSignal): Promise<number> {
  const inputs = readInputs(runner);
  await applyProxy();
  const pull = readPullRequest(runner.env);
  const context = readContext(inputs, runner.env);
  const comment = prepareComment(inputs, pull);

  const started = await start(inputs, pull, signal);
  if (!("connection" in started)) return await finish(started, { context, comment });
  const { connection, job } = started;
  context.isReused = started.isReused;
  runner.setOutput("job-id", job.id ?? "");
  runner.info(describeStatus(job));
  if (started.isReused) {
    runner.info("It is from an earlier attempt, which had the same idempotency-key.");
  }
  if (!inputs.wait || signal.aborted) {
    const kind = signal.aborted ? "cancelled" : "started";
    return await finish({ kind, job }, { context, comment });
  }

  // A cancellation stops this write, because the final comment needs the remaining 7.5 s.
  await writeComment(comment, { kind: "started", job }, context, signal);
  let status = job.status;
  const outcome = await waitForJob(connection, job, {
    ...{ timeout: inputs.timeout, after: runner.input("timeout").trim(), signal },
    onUpdate: (next) => {
      if (next.status !== status) runner.info(describeStatus(next));
      status = next.status;
    },
  });
  return await finish(outcome, { context, comment });
}

/** Sends requests through the runner's proxy, or warns that this Node.js cannot. */
async function applyProxy(): Promise<void> {
  try {
    const proxies = readProxies(runner.env);
    if (proxies === undefined || (await useProxies(proxies, runner.env))) return;
  } catch (error) {
    if (error instanceof ProxyError) throw new InputError(error.message);
    throw error;
  }
  const text = `The runner's Node.js ${process.versions.node} needs NODE_USE_ENV_PROXY: 1 in the step's env, or a newer runner`;
  runner.annotate("warning", "The runner's proxy is not used", text);
}

/** Creates the job. Returns the step's outcome if that fails. */
async function start(
  inputs: Inputs,
  pull: PullRequest | undefined,
  signal: AbortSignal,
): Promise<({ connection: Connection } & CreatedJob) | Outcome> {
  let identity: Identity | undefined;
  let connection: Connection | undefined;
  try {
    identity = inputs.token
      ? new AccessToken(inputs.token)
      : new WorkflowIdentity(runner, inputs.audience, pull);
    const token = await identity.token(signal);
    connection = connect(inputs, identity, token, runner);
    const key = inputs.idempotencyKey ?? deriveIdempotencyKey(runner.env, inputs.prompt);
    const created = await createJob(connection, inputs, key, { runner, signal });
    if (created.job.id !== null) return { connection, ...created };
    return { kind: "failed", job: created.job, reason: "Mintlify returned no id for the job" };
  } catch (error) {
    if (signal.aborted) return { kind: "cancelled", job: undefined };
    const isUnknown = readProblemKind(error) === "identity-not-mapped";
    if (isUnknown || error instanceof AuthenticationError) showClaims(identity);
    const kind = connection && mayHaveStarted(error, connection) ? "unknown" : "failed";
    const reason = explainCreation(error, inputs, connection?.reachability);
    return { kind, job: undefined, reason };
  }
}

function showClaims(identity: Identity | undefined): void {
  const claims = identity?.claims;
  if (claims === undefined) return;
  const lines = SHOWN_CLAIMS.flatMap((name) => {
    return claims[name] === undefined ? [] : [`${name}: ${JSON.stringify(claims[name])}`];
  });
  runner.group("The claims of this workflow's identity, for the gateway's TRUSTED_ISSUERS", lines);
}

/** Reports the outcome and returns the exit code. */
async function finish(
  outcome: Outcome,
  { context, comment }: { context: Context; comment: JobComment | undefined },
): Promise<number> {
  const { job } = outcome;
  runner.setOutput("status", job?.status ?? "");
  const request = announcePullRequest(job);
  runner.setOutput("pull-request", request === undefined ? "" : (job?.prLink ?? ""));
  const words = describeOutcome(outcome);
  if (request !== undefined) runner.annotate("notice", words, request);
  if (isUnfinished(outcome) && outcome.kind !== "started") {
    runner.info("To continue waiting, with an access token in QUILLGATE_TOKEN:");
    runner.info(formatResumeCommand(outcome.job, context));
  }
  if (mayHaveUnknownJob(outcome)) {
    runner.info("To see the project's jobs, with an access token in QUILLGATE_TOKEN:");
    runner.info(formatListCommand(context));
  }
  const failure = explainFailure(outcome, context);
  if (failure !== undefined) {
    const level = outcome.kind === "cancelled" ? "warning" : "error";
    runner.annotate(level, words, failure);
  }
  runner.appendSummary(summarize(outcome, context));
  await writeComment(comment, outcome, context);
  return failure === undefined ? 0 : 1;
}

function describeStatus({ id, status }: AgentJob): string {
  return `The job ${id} is ${status ?? "in a state that is not known"}.`;
}

function readContext(inputs: Inputs, env: NodeJS.ProcessEnv): Context {
  const { gateway, project, prompt, idempotencyKey } = inputs;
  const { GITHUB_SERVER_URL: server = "https://github.com", GITHUB_REPOSITORY: repository } = env;
  const { GITHUB_RUN_ID: id, GITHUB_RUN_ATTEMPT: attempt = "1" } = env;
  const run = `${server}/${repository}/actions/runs/${id}/attempts/${attempt}`;
  const hasOwnKey = idempotencyKey !== undefined;
  return { gateway, project, prompt, run, hasOwnKey, isReused: false };
}

function prepareComment(inputs: Inputs, pull: PullRequest | undefined): JobComment | undefined {
  if (!inputs.comment) return undefined;
  if (pull === undefined) {
    runner.info("There is no comment, since this event is not about a pull request.");
    return undefined;
  }
  const { GITHUB_API_URL: api = "https://api.github.com", GITHUB_REPOSITORY: repository } =
    runner.env;
  if (inputs.githubToken === undefined || !repository) {
    throw new InputError("the input github-token is missing, which writes the comment");
  }
  const { GITHUB_WORKFLOW_REF: workflow = "", GITHUB_JOB: job, GITHUB_ACTION: step } = runner.env;
  // Remove the ref after the `@`: runs on all refs share one comment.
  const names = [workflow.split("@")[0], job, step, inputs.project, inputs.matrix];
  const { GITHUB_EVENT_NAME: event, GITHUB_RUN_ID: run = "" } = runner.env;
  return new JobComment({
    ...{ api, repository, number: pull.number, token: inputs.githubToken, run },
    step: JSON.stringify(names),
    // Two calls of a reusable workflow have the same variables.
    call: inputs.prompt,
    // Each user comment such as `/docs` requests a job. The step's comment lists all these jobs.
    keepsEarlier: event === "issue_comment",
  });
}

/** Writes the comment. A failure is only a warning, because it does not affect the job. */
async function writeComment(
  comment: JobComment | undefined,
  outcome: Outcome,
  context: Context,
  signal?: AbortSignal,
): Promise<void> {
  try {
    const kind = outcome.job === undefined ? "note" : "job";
    await comment?.write({ kind, markdown: composeComment(outcome, context) }, signal);
  } catch (error) {
    if (!(error instanceof CommentError)) throw error;
    if (signal?.aborted) return;
    runner.annotate("warning", "The comment was not written", error.message);
  }
}
