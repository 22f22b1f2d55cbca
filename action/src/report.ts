/** What became of the step, in words: for the run's summary and for the pull request's comment. */

import type { AgentJob } from "quillgate/inline";

/** What became of the step. */
export type Outcome =
  | { kind: "started"; job: AgentJob }
  | { kind: "ended"; job: AgentJob }
  | { kind: "timed-out"; job: AgentJob; after: string }
  /** `job` is missing where it was not created, or nobody knows whether it was. */
  | { kind: "cancelled"; job: AgentJob | undefined }
  | { kind: "unknown"; job: undefined; reason: string }
  | { kind: "failed"; job: AgentJob | undefined; reason: string };

/** Where the step ran, and what it asked for. */
export interface Context {
  gateway: string;
  project: string;
  prompt: string;
  /** The address of the workflow's run. */
  run: string;
}

const LONGEST_PROMPT = 4_000;

/** The outcome in one sentence. */
export function describeOutcome(outcome: Outcome): string {
  const { kind, job } = outcome;
  switch (kind) {
    case "started":
      return "The job has been started";
    case "ended":
      return outcome.job.status === "failed" ? "The job failed" : `The job is ${job?.status}`;
    case "timed-out":
      return `The job has not ended within ${outcome.after}, and goes on`;
    case "cancelled":
      return job === undefined
        ? "The step was cancelled before the gateway said that it has created the job"
        : "The step was cancelled; the job goes on";
    case "unknown":
      return "It is not known whether the job was started";
    case "failed":
      return job === undefined ? "The job was not started" : "The job is no longer waited for";
  }
}

/** The summary on the run's page. */
export function summarize(outcome: Outcome, context: Context): string {
  const parts = [
    `### ${describeOutcome(outcome)}`,
    ...("reason" in outcome ? [`> ${escapeMarkdown(outcome.reason)}`] : []),
    formatTable(outcome.job, context),
    ...(isUnfinished(outcome)
      ? [`To go on waiting:\n\n${formatBlock(formatResumeCommand(outcome.job, context))}`]
      : []),
    `<details><summary>Prompt</summary>\n\n${formatBlock(shorten(context.prompt))}\n\n</details>`,
  ];
  return parts.join("\n\n");
}

/** The comment on the pull request; the prompt stays out of it, since it could mention people. */
export function composeComment(outcome: Outcome, context: Context): string {
  const { job } = outcome;
  const link = job?.prLink ? formatLink(job.prLink) : undefined;
  const parts = [
    `**${describeOutcome(outcome)}**${link ? `: ${link}` : ""}`,
    `${job?.id ? `Job ${formatCode(job.id)} of` : "In"} the project ${formatCode(context.project)}, from [this run](${context.run}).`,
  ];
  return parts.join("\n\n");
}

/** Whether there is a job that the step no longer waits for, and that may not have ended. */
export function isUnfinished(outcome: Outcome): outcome is Outcome & { job: AgentJob } {
  return outcome.kind !== "ended" && typeof outcome.job?.id === "string";
}

/** What goes on waiting for the job from a terminal; the token comes from `QUILLGATE_TOKEN`. */
export function formatResumeCommand(job: AgentJob, { gateway, project }: Context): string {
  const settings = [
    `QUILLGATE_BASE_URL=${quote(gateway)}`,
    `QUILLGATE_PROJECT_ID=${quote(project)}`,
  ];
  return `${settings.join(" ")} npx quillgate job watch ${quote(job.id ?? "")}`;
}

function formatTable(job: AgentJob | undefined, { project }: Context): string {
  const link = job?.prLink ? formatLink(job.prLink) : undefined;
  const none = job?.status === "completed" ? "none: no file was changed" : "none yet";
  const rows = [
    ["Project", formatCode(project)],
    ...(job?.id ? [["Job", formatCode(job.id)]] : []),
    ...(job ? [["Status", escapeMarkdown(job.status ?? "unknown")]] : []),
    ...(job ? [["Pull request", link ?? none]] : []),
  ];
  const lines = rows.map(([name, value]) => `| ${name} | ${value?.replaceAll("|", "\\|")} |`);
  return ["| | |", "| --- | --- |", ...lines].join("\n");
}

/** A link where the address is one of the web; what else it could be is only shown. */
function formatLink(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.protocol !== "https:") return formatCode(address);
  const [, repository, number] = /^\/([\w.-]+\/[\w.-]+)\/pull\/(\d+)$/.exec(url.pathname) ?? [];
  const label = repository ? `${repository}#${number}` : `${url.host}${url.pathname}`;
  return `[${escapeMarkdown(label)}](<${url.href}>)`;
}

function escapeMarkdown(text: string): string {
  return joinLines(text).replace(/[\\`*_{}[\]<>~@]/g, "\\$&");
}

function formatCode(text: string): string {
  const line = joinLines(text);
  const marks = "`".repeat(findLongestRun(line) + 1);
  return marks.length === 1 ? `\`${line}\`` : `${marks} ${line} ${marks}`;
}

/** A block that no text within can end. */
function formatBlock(text: string): string {
  const marks = "`".repeat(Math.max(3, findLongestRun(text) + 1));
  return `${marks}text\n${text}\n${marks}`;
}

function findLongestRun(text: string): number {
  return Math.max(0, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length));
}

function joinLines(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

function shorten(text: string): string {
  if (text.length <= LONGEST_PROMPT) return text;
  return `${text.slice(0, LONGEST_PROMPT)}\n… (${text.length} characters in all)`;
}

function quote(text: string): string {
  return /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
