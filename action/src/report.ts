/** Writes the run's summary and the comment on the pull request. */

import type { AgentJob } from "quillgate/inline";
import { readPullRequest } from "quillgate/values";
import {
  capitalize,
  escapeComment,
  escapeMarkdown,
  formatBlock,
  formatCode,
  formatLink,
  formatRows,
  formatUrl,
  shorten,
} from "./markdown.js";

export type Outcome =
  | { kind: "started"; job: AgentJob }
  | { kind: "ended"; job: AgentJob }
  /**
   * `trouble` is the reason why the step could not follow the job, such as an outage of the
   * gateway. It is a sentence without a full stop.
   */
  | { kind: "timed-out"; job: AgentJob; after: string; trouble: string | undefined }
  /** Without a `job`, it is unknown whether one was created. */
  | { kind: "cancelled"; job: AgentJob | undefined }
  | { kind: "unknown"; job: undefined; reason: string }
  | { kind: "failed"; job: AgentJob | undefined; reason: string };

/** The inputs and the run that an outcome belongs to. */
export interface Context {
  gateway: string;
  project: string;
  prompt: string;
  /** The URL of the workflow's run. */
  run: string;
  /** Whether the workflow set the input `idempotency-key`. */
  hasOwnKey: boolean;
  /** Whether an earlier step with the same idempotency key created the job. */
  isReused: boolean;
  /** The URL of the preview of the job's branch. */
  preview: string | undefined;
}

/** The maximum length of a prompt in the summary, in UTF-16 code units. */
const MAX_PROMPT = 4_000;
/** The summary's text for a finished job without a pull request, by status. */
const NO_PULL_REQUEST: Readonly<Record<string, string>> = {
  completed: "none: no file was changed",
  archived: "none",
  failed: "none",
};

/** Returns the outcome as one sentence without a full stop. */
export function describeOutcome(outcome: Outcome): string {
  const { kind, job } = outcome;
  switch (kind) {
    case "started":
      return "The job has been started";
    case "ended":
      return outcome.job.status === "failed" ? "The job failed" : `The job is ${job?.status}`;
    case "timed-out":
      return outcome.trouble === undefined
        ? `The job did not end within ${outcome.after} and is still running`
        : `The Action did not see the job end within ${outcome.after}`;
    case "cancelled":
      return job === undefined
        ? "The step was cancelled before the gateway confirmed the job"
        : "The step was cancelled; the job continues";
    case "unknown":
      return "The Action cannot tell whether the job started";
    case "failed":
      return job === undefined ? "The job was not started" : "The step stopped waiting for the job";
  }
}

/** Explains why the step failed and what to do. Returns `undefined` if the step succeeded. */
export function explainFailure(outcome: Outcome, context: Context): string | undefined {
  const { kind, job } = outcome;
  switch (kind) {
    case "started":
      return undefined;
    case "ended":
      return job?.status === "failed" ? explainFailedJob(job, context) : undefined;
    case "timed-out":
      return outcome.trouble === undefined
        ? `The job ${job?.id} is still running. Increase the input timeout, or set wait to false.`
        : `${capitalize(outcome.trouble)}. The job ${job?.id} may still be running.`;
    case "cancelled":
      return job === undefined
        ? "The gateway's list of jobs shows whether the job exists."
        : `The job ${job.id} continues.`;
    case "unknown":
      return context.hasOwnKey
        ? `${outcome.reason}. Check Mintlify's dashboard. To start another job, set another idempotency-key.`
        : `${outcome.reason}. Check Mintlify's dashboard before a re-run, which starts another job.`;
    case "failed":
      return outcome.reason;
  }
}

function explainFailedJob({ id }: AgentJob, { project, hasOwnKey, isReused }: Context): string {
  const another = "set another idempotency-key, or start a run that has another";
  const words = `The job ${id} of ${project} failed`;
  if (isReused) {
    return `${words}. It is from an earlier attempt with the same idempotency-key; to start another job, ${another}.`;
  }
  const dashboard = `${words}; Mintlify's dashboard shows why`;
  return hasOwnKey
    ? `${dashboard}. A re-run with the same idempotency-key would find this job again; to start another, ${another}.`
    : `${dashboard}. Re-run the workflow's job to start another.`;
}

/** Returns the annotation that links the job's pull request, or `undefined` without one. */
export function announcePullRequest(job: AgentJob | undefined): string | undefined {
  const request = readPullRequest(job?.prLink);
  return request === null ? undefined : `${capitalize(request.noun)}: ${job?.prLink}`;
}

/** Returns the run's summary for an invalid input or environment, as Markdown. */
export function summarizeMistake(words: string): string {
  return `### The step is set up wrongly\n\n> ${escapeMarkdown(words)}\n\nNothing was started.`;
}

/** Returns the run's summary, as Markdown. */
export function summarize(outcome: Outcome, context: Context): string {
  const failure = explainFailure(outcome, context);
  const parts = [
    `### ${describeOutcome(outcome)}`,
    ...(failure === undefined ? [] : [`> ${escapeMarkdown(failure)}`]),
    formatTable(outcome.job, context),
    ...(mayHaveUnknownJob(outcome)
      ? [`To see the project's jobs:\n\n${formatBlock(formatListCommand(context))}`]
      : []),
    ...(isUnfinished(outcome)
      ? [`To continue waiting:\n\n${formatBlock(formatResumeCommand(outcome.job, context))}`]
      : []),
    `<details><summary>Prompt</summary>\n\n${formatBlock(shorten(context.prompt, MAX_PROMPT))}\n\n</details>`,
  ];
  return parts.join("\n\n");
}

/**
 * Returns the comment for the pull request, as Markdown. It omits the prompt: an `@name` in it
 * would notify people.
 */
export function composeComment(outcome: Outcome, context: Context): string {
  const { job } = outcome;
  const run = `[this run](${context.run})`;
  if (job === undefined) {
    const reason = "reason" in outcome ? `: ${escapeComment(outcome.reason)}` : "";
    return `${describeOutcome(outcome)}${reason} (${run})`;
  }
  const request = readPullRequest(job.prLink);
  const link = request === null ? "" : `: ${formatLink(request)}`;
  const reason = "reason" in outcome ? ` (${escapeComment(outcome.reason)})` : "";
  const name = job.id ? `Job ${formatCode(job.id)} of` : "In";
  const { preview } = context;
  return [
    `**${describeOutcome(outcome)}**${link}${reason}`,
    ...(preview === undefined ? [] : [`Preview: ${formatUrl(preview)}`]),
    `${name} the project ${formatCode(context.project)}, from ${run}.`,
  ].join("\n\n");
}

/** Returns whether the step may have created a job without receiving its id. */
export function mayHaveUnknownJob(outcome: Outcome): boolean {
  return outcome.kind === "unknown" || (outcome.kind === "cancelled" && outcome.job === undefined);
}

/** Returns whether the step ended before its job. */
export function isUnfinished(outcome: Outcome): outcome is Outcome & { job: AgentJob } {
  return outcome.kind !== "ended" && typeof outcome.job?.id === "string";
}

/**
 * Returns a shell command that waits for the job. The command reads its token from
 * `QUILLGATE_TOKEN`.
 */
export function formatResumeCommand(job: AgentJob, context: Context): string {
  return formatCommand(`job watch ${quote(job.id ?? "")}`, context);
}

/** Returns a shell command that lists the project's jobs. */
export function formatListCommand(context: Context): string {
  return formatCommand("job list", context);
}

/** Returns a shell command for the CLI, which reads its token from `QUILLGATE_TOKEN`. */
export function formatCommand(
  command: string,
  { gateway, project }: Pick<Context, "gateway" | "project">,
): string {
  const settings = [
    `QUILLGATE_BASE_URL=${quote(gateway)}`,
    `QUILLGATE_PROJECT_ID=${quote(project)}`,
  ];
  return `${settings.join(" ")} npx quillgate ${command}`;
}

function formatTable(job: AgentJob | undefined, { project, preview }: Context): string {
  const request = readPullRequest(job?.prLink);
  const link = request === null ? undefined : formatLink(request);
  const none = NO_PULL_REQUEST[job?.status ?? ""] ?? "none yet";
  return formatRows([
    ["Project", formatCode(project)],
    ...(job?.id ? [["Job", formatCode(job.id)] as const] : []),
    ...(job ? [["Status", escapeMarkdown(job.status ?? "unknown")] as const] : []),
    ...(job ? [[capitalize(request?.noun ?? "pull request"), link ?? none] as const] : []),
    ...(preview === undefined ? [] : [["Preview", formatUrl(preview)] as const]),
  ]);
}

export function quote(text: string): string {
  return /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
