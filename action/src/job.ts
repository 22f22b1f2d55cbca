/** `command: job`: creates an agent job, waits for it and reports the outcome. */

import type { AgentJob } from "quillgate/inline";
import type { StepComment } from "./comment.js";
import { type Connection, waitForEnd } from "./connection.js";
import { explainError } from "./explain.js";
import { deriveJobKey } from "./idempotency.js";
import type { JobInputs } from "./inputs.js";
import { startJobPreview } from "./job_preview.js";
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
} from "./report.js";
import { prepareComment, readRunUrl, type Step, start, writeComment } from "./step.js";

/** The parts of a report that do not depend on the outcome. */
interface Report {
  context: Context;
  comment: StepComment | undefined;
}

/** Runs the command and returns the exit code. */
export async function runJob(step: Step, inputs: JobInputs): Promise<number> {
  const { runner, signal } = step;
  const { gateway, project, prompt, idempotencyKey } = inputs;
  const context: Context = {
    ...{ gateway, project, prompt, run: readRunUrl(runner.env) },
    ...{ hasOwnKey: idempotencyKey !== undefined, isReused: false, preview: undefined },
  };
  const comment = inputs.comment ? prepareJobComment(step, inputs) : undefined;
  const report = { context, comment };

  const started = await start(step, inputs, {
    noun: "job",
    key: idempotencyKey ?? deriveJobKey(runner.env, prompt),
    send: (client, options) => client.agentJobs.create({ prompt }, options),
  });
  if (started.connection === undefined) {
    return await finish(step, { ...started, job: undefined }, report);
  }
  const { connection } = started;
  const job: AgentJob = started.data;
  if (job.id === null) {
    const reason = "Mintlify returned no id for the job";
    return await finish(step, { kind: "failed", job, reason }, report);
  }
  context.isReused = started.isReused;
  runner.setOutput("job-id", job.id);
  runner.info(describeStatus(job));
  if (started.isReused) {
    runner.info("It is from an earlier attempt, which had the same idempotency-key.");
  }
  if (!inputs.wait || signal.aborted) {
    return await finish(step, { kind: signal.aborted ? "cancelled" : "started", job }, report);
  }

  // A cancellation stops this write, because the final comment needs the remaining 7.5 s.
  await write(step, { kind: "started", job }, report, signal);
  const outcome = await waitForJob(step, inputs, connection, job);
  if (inputs.preview && outcome.kind === "ended") {
    const preview = await startJobPreview(step, inputs, connection, outcome.job);
    context.preview = preview?.previewUrl ?? undefined;
    runner.setOutput("status-id", preview?.statusId ?? "");
    runner.setOutput("preview-url", preview?.previewUrl ?? "");
  }
  return await finish(step, outcome, report);
}

/** Waits until the job finishes, the timeout expires, the step is cancelled or waiting fails. */
async function waitForJob(
  { runner, signal }: Step,
  { timeout, after }: JobInputs,
  connection: Connection,
  created: AgentJob,
): Promise<Outcome> {
  const explain = (error: unknown) => explainError(error, "job");
  const ending = await waitForEnd(connection, created, {
    ...{ timeout, after, signal, explain },
    wait: (options) => connection.client.agentJobs.wait(created.id, options),
    onUpdate: (next, job) => {
      if (next.status !== job.status) runner.info(describeStatus({ ...next, id: created.id }));
      // Mintlify may omit the id from later responses.
      return { ...next, id: next.id ?? job.id };
    },
  });
  const { state: job, ...rest } = ending;
  if (rest.kind !== "failed") return { ...rest, job } as Outcome;
  return { kind: "failed", job, reason: explain(rest.error) };
}

/** Reports the outcome and returns the exit code. */
async function finish(step: Step, outcome: Outcome, report: Report): Promise<number> {
  const { runner } = step;
  const { context } = report;
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
  await write(step, outcome, report);
  return failure === undefined ? 0 : 1;
}

async function write(
  step: Step,
  outcome: Outcome,
  { context, comment }: Report,
  signal?: AbortSignal,
): Promise<void> {
  const kind = outcome.job === undefined ? "note" : "job";
  const markdown = composeComment(outcome, context);
  await writeComment(step, comment, { kind, markdown }, signal);
}

function describeStatus({ id, status }: AgentJob): string {
  return `The job ${id} is ${status ?? "in a state that is not known"}.`;
}

function prepareJobComment(step: Step, inputs: JobInputs): StepComment | undefined {
  const { GITHUB_WORKFLOW_REF: workflow = "", ...env } = step.runner.env;
  const { GITHUB_JOB: job, GITHUB_ACTION: action, GITHUB_EVENT_NAME: event } = env;
  // Remove the ref after the `@`: runs on all refs share one comment.
  const names = [workflow.split("@")[0], job, action, inputs.project, inputs.matrix];
  return prepareComment(step, inputs, {
    step: JSON.stringify(names),
    // Two calls of a reusable workflow have the same variables.
    call: inputs.prompt,
    // Each user comment such as `/docs` requests a job. The step's comment lists all these jobs.
    keepsEarlier: event === "issue_comment",
    yieldsToLater: false,
  });
}
