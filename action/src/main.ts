/** The action: starts one agent job, waits for it, and says what became of it. */

import { type AgentJob, AuthenticationError, PermissionError } from "quillgate/inline";
import { CommentError, JobComment } from "./comment.js";
import { type PullRequest, readPullRequest } from "./event.js";
import { AccessToken, type Identity, WorkflowIdentity } from "./identity.js";
import { InputError, type Inputs, readInputs } from "./inputs.js";
import {
  type Connection,
  connect,
  createJob,
  deriveIdempotencyKey,
  explainError,
  mayHaveStarted,
  waitForJob,
} from "./job.js";
import {
  type Context,
  composeComment,
  describeOutcome,
  formatResumeCommand,
  isUnfinished,
  type Outcome,
  summarize,
} from "./report.js";
import { Runner, RunnerError } from "./runner.js";

/** As a shell says that a signal ended a program. */
const SIGNAL_CODES = { SIGINT: 130, SIGTERM: 143, SIGBREAK: 149 } as const;
/** The claims that rules are made of; see docs/github-actions.md. */
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
const cancellation = new AbortController();
for (const [name, code] of Object.entries(SIGNAL_CODES)) {
  process.on(name, () => {
    // Asked a second time, it leaves things as they are.
    if (cancellation.signal.aborted) process.exit();
    process.exitCode = code;
    cancellation.abort(new Error("the step was cancelled"));
  });
}

try {
  const code = await run(cancellation.signal);
  process.exitCode ??= code;
} catch (error) {
  if (!(error instanceof InputError || error instanceof RunnerError)) throw error;
  runner.annotate("error", "The step is set up wrongly", error.message);
  process.exitCode = 1;
}

/** Runs the step, and gives its exit code. */
async function run(signal: AbortSignal): Promise<number> {
  const inputs = readInputs(runner);
  const pull = readPullRequest(runner.env);
  const context = readContext(inputs, runner.env);
  const comment = prepareComment(inputs, pull);

  const started = await start(inputs, pull, signal);
  if (!("connection" in started)) return await finish(started, { context, comment });
  const { connection, job } = started;
  runner.setOutput("job-id", job.id ?? "");
  runner.info(describeStatus(job));
  if (!inputs.wait || signal.aborted) {
    const kind = signal.aborted ? "cancelled" : "started";
    return await finish({ kind, job }, { context, comment });
  }

  // A cancellation leaves seven seconds, which are for the last comment.
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

/** Who the workflow is, and the job that it has started; or why there is none. */
async function start(
  inputs: Inputs,
  pull: PullRequest | undefined,
  signal: AbortSignal,
): Promise<{ connection: Connection; job: AgentJob } | Outcome> {
  let identity: Identity | undefined;
  try {
    identity = inputs.token
      ? new AccessToken(inputs.token)
      : new WorkflowIdentity(runner, inputs.audience, pull);
    const token = await identity.token(signal);
    const connection = connect(inputs, identity, token, runner);
    const key = inputs.idempotencyKey ?? deriveIdempotencyKey(runner.env, inputs.prompt);
    const job = await createJob(connection, inputs, key, signal);
    if (job.id !== null) return { connection, job };
    return { kind: "failed", job, reason: "the platform gave the job no identifier" };
  } catch (error) {
    if (signal.aborted) return { kind: "cancelled", job: undefined };
    if (error instanceof AuthenticationError || error instanceof PermissionError) {
      showClaims(identity);
    }
    const kind = mayHaveStarted(error) ? "unknown" : "failed";
    return { kind, job: undefined, reason: explainError(error) };
  }
}

/** What the gateway's operator needs to write a rule, or to see why the rule does not fit. */
function showClaims(identity: Identity | undefined): void {
  const claims = identity?.claims;
  if (claims === undefined) return;
  const lines = SHOWN_CLAIMS.flatMap((name) => {
    return claims[name] === undefined ? [] : [`${name}: ${JSON.stringify(claims[name])}`];
  });
  runner.group("The claims of this workflow's identity, for the gateway's TRUSTED_ISSUERS", lines);
}

/** Tells everybody, and gives the exit code. */
async function finish(
  outcome: Outcome,
  { context, comment }: { context: Context; comment: JobComment | undefined },
): Promise<number> {
  const { job } = outcome;
  runner.setOutput("status", job?.status ?? "");
  runner.setOutput("pull-request", job?.prLink ?? "");
  const words = describeOutcome(outcome);
  if (job?.prLink) runner.annotate("notice", words, `Pull request: ${job.prLink}`);
  if (isUnfinished(outcome) && outcome.kind !== "started") {
    runner.info("To go on waiting, with an access token in QUILLGATE_TOKEN:");
    runner.info(formatResumeCommand(outcome.job, context));
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

/** What an annotation says where the step does not succeed. */
function explainFailure(outcome: Outcome, { project }: Context): string | undefined {
  const { kind, job } = outcome;
  switch (kind) {
    case "started":
      return undefined;
    case "ended":
      return job?.status === "failed" ? `The job ${job.id} of ${project} has failed.` : undefined;
    case "timed-out":
      return `The job ${job?.id} goes on. Give the input timeout more time, or set wait to false.`;
    case "cancelled":
      return job === undefined
        ? "The gateway's list of jobs shows whether there is one."
        : `The job ${job.id} goes on.`;
    case "unknown":
      return (
        `${outcome.reason}. Look at the platform's dashboard first: a re-run starts another job, ` +
        "unless it has the same idempotency-key."
      );
    case "failed":
      return outcome.reason;
  }
}

function readContext({ gateway, project, prompt }: Inputs, env: NodeJS.ProcessEnv): Context {
  const { GITHUB_SERVER_URL: server = "https://github.com", GITHUB_REPOSITORY: repository } = env;
  const { GITHUB_RUN_ID: id, GITHUB_RUN_ATTEMPT: attempt = "1" } = env;
  const run = `${server}/${repository}/actions/runs/${id}/attempts/${attempt}`;
  return { gateway, project, prompt, run };
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
  // Without the branch, which follows an @: a comment outlives it.
  const names = [workflow.split("@")[0], job, step, inputs.project];
  const place = { api, repository, number: pull.number, token: inputs.githubToken };
  return new JobComment({ ...place, step: JSON.stringify(names) });
}

/** The job is what counts: without its comment the step still succeeds. */
async function writeComment(
  comment: JobComment | undefined,
  outcome: Outcome,
  context: Context,
  signal?: AbortSignal,
): Promise<void> {
  try {
    await comment?.write(composeComment(outcome, context), signal);
  } catch (error) {
    if (!(error instanceof CommentError)) throw error;
    if (signal?.aborted) return;
    runner.annotate("warning", "The comment was not written", error.message);
  }
}
