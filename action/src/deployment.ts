/** `command: deploy` and `command: preview`: start a deployment, wait for it and report its end. */

import type { Deployment, StartedDeployment, StartedPreview } from "quillgate/inline";
import { isLive } from "quillgate/values";
import type { StepComment } from "./comment.js";
import { type Connection, waitForEnd } from "./connection.js";
import {
  composeComment,
  type DeploymentContext,
  type DeploymentOutcome,
  describeOutcome,
  explainFailure,
  explainWarning,
  type Followed,
  formatCommands,
  readSummary,
  summarize,
} from "./deployment_report.js";
import { readBranch } from "./event.js";
import { explainError } from "./explain.js";
import { deriveStartKey } from "./idempotency.js";
import { InputError } from "./input_error.js";
import type { DeployInputs, PreviewInputs } from "./inputs.js";
import { prepareComment, readRunUrl, type Start, type Step, start, writeComment } from "./step.js";

/**
 * How long to retry after a 429, in milliseconds. Mintlify's limits of deployments and previews have
 * windows of at most a minute.
 */
export const LIMIT_PERIOD = 120_000;

/** The parts of a report that do not depend on the outcome. */
interface Report {
  context: DeploymentContext;
  comment: StepComment | undefined;
}

/** Publishes the documentation and returns the exit code. */
export async function runDeploy(step: Step, inputs: DeployInputs): Promise<number> {
  const context = makeContext(step, inputs, undefined);
  const started = await start(step, inputs, {
    noun: "deployment",
    key:
      inputs.idempotencyKey ??
      deriveStartKey(step.runner.env, ["deploy", inputs.project, inputs.matrix]),
    send: (client, options) => client.deployments.create(options),
    limitPeriod: LIMIT_PERIOD,
  });
  return await follow(step, inputs, started, { context, comment: undefined });
}

/** Starts a preview and returns the exit code. */
export async function runPreview(step: Step, inputs: PreviewInputs): Promise<number> {
  const { runner, pull } = step;
  if (inputs.branch === undefined && pull?.fromFork) {
    const text = "The branch is in a fork, and Mintlify previews only branches of the repository.";
    runner.annotate("notice", "There is no preview", text);
    runner.setOutput("skipped", "true");
    return 0;
  }
  const branch = inputs.branch ?? readBranch(runner.env, pull);
  if (branch === undefined) {
    const { GITHUB_EVENT_NAME: name = "" } = runner.env;
    throw new InputError(`set the input branch: the event ${name} does not name one`);
  }
  const { project } = inputs;
  const context = makeContext(step, inputs, branch);
  // One comment for all workflows, so that the pull request shows only one link to its preview.
  const place = { step: JSON.stringify(["preview", project]), call: "" };
  const comment = inputs.comment
    ? prepareComment(step, inputs, { ...place, keepsEarlier: false, yieldsToLater: true })
    : undefined;
  const started = await start(step, inputs, {
    noun: "preview",
    key:
      inputs.idempotencyKey ??
      deriveStartKey(runner.env, ["preview", project, branch, inputs.matrix]),
    send: (client, options) => client.previews.create({ branch }, options),
    limitPeriod: LIMIT_PERIOD,
  });
  return await follow(step, inputs, started, { context, comment });
}

function makeContext(
  { runner, pull }: Step,
  { gateway, project, idempotencyKey }: DeployInputs | PreviewInputs,
  branch: string | undefined,
): DeploymentContext {
  const noun = branch === undefined ? "deployment" : "preview";
  const commit = branch === pull?.branch ? pull?.commit : undefined;
  const run = readRunUrl(runner.env);
  const hasOwnKey = idempotencyKey !== undefined;
  return { gateway, project, noun, branch, commit, run, hasOwnKey, isReused: false };
}

/** Waits for what was started, and reports the outcome. */
async function follow(
  step: Step,
  inputs: DeployInputs | PreviewInputs,
  started: Start<StartedDeployment | StartedPreview>,
  report: Report,
): Promise<number> {
  const { runner, signal } = step;
  const { context, comment } = report;
  if (started.connection === undefined) {
    return await finish(step, { ...started, followed: undefined }, report);
  }
  const { connection, data, isReused } = started;
  const previewUrl = "previewUrl" in data ? data.previewUrl : null;
  const followed: Followed = { statusId: data.statusId, previewUrl, deployment: undefined };
  context.isReused = isReused;
  runner.setOutput("status-id", data.statusId);
  if (context.noun === "preview") runner.setOutput("preview-url", previewUrl ?? "");
  runner.info(`The ${context.noun} ${data.statusId} has been started.`);
  if (isReused) runner.info("It is from an earlier attempt, which had the same idempotency-key.");
  if (isReused && runner.env.GITHUB_RUN_ATTEMPT === "1") {
    const text = `Another step of this run has started ${data.statusId}. To start another ${context.noun}, set the input idempotency-key.`;
    runner.annotate("warning", "Not started again", text);
  }
  if (!inputs.wait || signal.aborted) {
    return await finish(step, { kind: signal.aborted ? "cancelled" : "started", followed }, report);
  }
  // A cancellation stops this write, because the final comment needs the remaining 7.5 s.
  const markdown = composeComment({ kind: "started", followed }, context);
  await writeComment(step, comment, { kind: "job", markdown }, signal);
  return await finish(
    step,
    await waitForDeployment(step, inputs, connection, followed, context),
    report,
  );
}

async function waitForDeployment(
  { runner, signal }: Step,
  { timeout, after }: DeployInputs | PreviewInputs,
  connection: Connection,
  started: Followed,
  { noun }: DeploymentContext,
): Promise<DeploymentOutcome> {
  const { statusId } = started;
  const explain = (error: unknown) => explainError(error, noun);
  let shown: string | undefined;
  const ending = await waitForEnd<Deployment | undefined>(connection, undefined, {
    ...{ timeout, after, signal, explain },
    wait: (options) => connection.client.deployments.wait(statusId, options),
    onUpdate: (next) => {
      const line = describeStatus(next);
      if (line !== shown) runner.info(`The ${noun} ${statusId} is ${line}`);
      shown = line;
      return next;
    },
  });
  const { state: deployment, ...rest } = ending;
  const followed = { ...started, deployment };
  if (rest.kind !== "failed") return { ...rest, followed };
  return { kind: "failed", followed, reason: explain(rest.error) };
}

/** Returns the status and the last line of the log, such as `in_progress: Building`. */
function describeStatus(deployment: Deployment | undefined): string {
  const { status, logs, summary } = deployment ?? {};
  const detail = logs?.at(-1) ?? summary;
  return [status ?? "in a state that is not known", detail].filter(Boolean).join(": ");
}

/** Reports the outcome and returns the exit code. */
async function finish(step: Step, outcome: DeploymentOutcome, report: Report): Promise<number> {
  const { runner } = step;
  const { context, comment } = report;
  const { followed } = outcome;
  runner.setOutput("status", followed?.deployment?.status ?? "");
  runner.setOutput("live", outcome.kind === "ended" ? String(isOutcomeLive(outcome)) : "");
  runner.setOutput("summary", readSummary(followed?.deployment) ?? "");
  const words = describeOutcome(outcome, context);
  for (const { purpose, command } of formatCommands(outcome, context)) {
    runner.info(`${purpose}, with an access token in QUILLGATE_TOKEN:`);
    runner.info(command);
  }
  const failure = explainFailure(outcome, context);
  const warning = explainWarning(outcome);
  if (failure !== undefined) {
    runner.annotate(outcome.kind === "cancelled" ? "warning" : "error", words, failure);
  } else if (warning !== undefined) runner.annotate("warning", words, warning);
  else if (followed?.previewUrl) runner.annotate("notice", words, followed.previewUrl);
  else runner.info(`${words}.`);
  runner.appendSummary(summarize(outcome, context));
  const kind = followed === undefined ? "note" : "job";
  const markdown = composeComment(outcome, context);
  await writeComment(step, comment, { kind, markdown });
  return failure === undefined ? 0 : 1;
}

function isOutcomeLive({ followed }: DeploymentOutcome): boolean {
  return followed?.deployment !== undefined && isLive(followed.deployment);
}
