/** Writes the run's summary of a deployment or a preview, and the comment on the pull request. */

import type { Deployment } from "quillgate/inline";
import { isLive } from "quillgate/values";
import {
  capitalize,
  escapeComment,
  escapeMarkdown,
  formatBlock,
  formatCode,
  formatRows,
  formatUrl,
} from "./markdown.js";
import { formatCommand, quote } from "./report.js";

/** A deployment or preview that was started. */
export interface Followed {
  statusId: string;
  /** `null` for a deployment, or if Mintlify returned none. */
  previewUrl: string | null;
  /** The last known state; `undefined` before the first one. */
  deployment: Deployment | undefined;
}

export type DeploymentOutcome =
  | { kind: "started" | "ended"; followed: Followed }
  /** `trouble` is as in `Ending`. */
  | { kind: "timed-out"; followed: Followed; after: string; trouble: string | undefined }
  /** Without `followed`, it is unknown whether something was started. */
  | { kind: "cancelled"; followed: Followed | undefined }
  | { kind: "unknown"; followed: undefined; reason: string }
  | { kind: "failed"; followed: Followed | undefined; reason: string };

/** The inputs and the run that an outcome belongs to. */
export interface DeploymentContext {
  gateway: string;
  project: string;
  noun: "deployment" | "preview";
  /** The branch of a preview. */
  branch: string | undefined;
  /** The commit of the event, if it is on the branch. */
  commit: string | undefined;
  /** The URL of the workflow's run. */
  run: string;
  /** Whether the workflow set the input `idempotency-key`. */
  hasOwnKey: boolean;
  /** Whether an earlier attempt of the step started it. */
  isReused: boolean;
}

/** The number of lines of the log in the summary of a failure. */
const LAST_LINES = 10;
const SHORT_COMMIT = 7;

/** Returns Mintlify's sentence about the state, or else the last line of the log. */
export function readSummary(deployment: Deployment | undefined): string | undefined {
  return (deployment?.summary || deployment?.logs?.at(-1)) ?? undefined;
}

/** Returns the outcome as one sentence without a full stop. */
export function describeOutcome(outcome: DeploymentOutcome, { noun }: DeploymentContext): string {
  const { kind, followed } = outcome;
  switch (kind) {
    case "started":
      return `The ${noun} has been started`;
    case "ended": {
      if (!isFollowedLive(followed)) return `The ${noun} failed`;
      const words = noun === "preview" ? "The preview is ready" : "The documentation is live";
      return isClean(followed) ? words : `${words}, but a later step failed`;
    }
    case "timed-out":
      return outcome.trouble === undefined
        ? `The ${noun} did not end within ${outcome.after} and continues`
        : `The Action did not see the ${noun} end within ${outcome.after}`;
    case "cancelled":
      return followed === undefined
        ? `The step was cancelled before the gateway confirmed the ${noun}`
        : `The step was cancelled; the ${noun} continues`;
    case "unknown":
      return `The Action cannot tell whether the ${noun} started`;
    case "failed":
      return followed === undefined
        ? `The ${noun} was not started`
        : `The step stopped waiting for the ${noun}`;
  }
}

/** Explains why the step failed and what to do. Returns `undefined` if the step succeeded. */
export function explainFailure(
  outcome: DeploymentOutcome,
  { noun, hasOwnKey }: DeploymentContext,
): string | undefined {
  const { kind, followed } = outcome;
  const another = hasOwnKey
    ? `To start another ${noun}, set another idempotency-key.`
    : `To start another ${noun}, start a new run: a re-run finds this one.`;
  switch (kind) {
    case "started":
      return undefined;
    case "ended": {
      if (isFollowedLive(followed)) return undefined;
      const why = readSummary(followed.deployment) ?? "Mintlify did not state a reason";
      return `${endSentence(why)} ${another}`;
    }
    case "timed-out":
      return outcome.trouble === undefined
        ? `The ${noun} ${followed.statusId} continues. Increase the input timeout, or set wait to false.`
        : `${capitalize(outcome.trouble)}. The ${noun} ${followed.statusId} may still continue.`;
    case "cancelled":
      return followed === undefined
        ? "The gateway's list of deployments shows whether it exists."
        : `The ${noun} ${followed.statusId} continues.`;
    case "unknown":
      return `${outcome.reason}. Check Mintlify's dashboard. ${another}`;
    case "failed":
      return outcome.reason;
  }
}

/** Explains the failed step of a deployment that is live. */
export function explainWarning({ kind, followed }: DeploymentOutcome): string | undefined {
  if (kind !== "ended" || !isFollowedLive(followed) || isClean(followed)) return undefined;
  return readSummary(followed.deployment) ?? "Mintlify did not state a reason";
}

/** Returns shell commands that continue after this outcome. */
export function formatCommands(
  { kind, followed }: DeploymentOutcome,
  context: DeploymentContext,
): { purpose: string; command: string }[] {
  if (kind === "ended" || kind === "started") return [];
  if (followed !== undefined) {
    const command = formatCommand(`deployment watch ${quote(followed.statusId)}`, context);
    return [{ purpose: "To continue waiting", command }];
  }
  if (kind === "failed") return [];
  const command = formatCommand("deployment list", context);
  return [{ purpose: "To see the project's deployments", command }];
}

/** Returns the run's summary, as Markdown. */
export function summarize(outcome: DeploymentOutcome, context: DeploymentContext): string {
  const { followed } = outcome;
  const { project, branch, isReused } = context;
  const remark = explainFailure(outcome, context) ?? explainWarning(outcome);
  const { deployment, previewUrl } = followed ?? {};
  const commit = readCommit(outcome, context);
  const hasFailed = outcome.kind === "ended" && !isFollowedLive(outcome.followed);
  const log = hasFailed ? (deployment?.logs ?? []).slice(-LAST_LINES) : [];
  const rows: [string, string | undefined][] = [
    ["Project", formatCode(project)],
    ["Branch", branch && formatCode(branch)],
    ["Preview", previewUrl ? formatUrl(previewUrl) : undefined],
    ["Id", followed && formatCode(followed.statusId)],
    ["Status", deployment && escapeMarkdown(deployment.status ?? "unknown")],
    ["Commit", commit && formatCode(commit)],
    ["Started by", isReused ? "an earlier attempt of this step" : undefined],
  ];
  return [
    `### ${describeOutcome(outcome, context)}`,
    ...(remark === undefined ? [] : [`> ${escapeMarkdown(remark)}`]),
    formatRows(rows.flatMap(([name, value]) => (value ? [[name, value] as const] : []))),
    ...(log.length > 0 ? [`The end of the log:\n\n${formatBlock(log.join("\n"))}`] : []),
    ...formatCommands(outcome, context).map(({ purpose, command }) => {
      return `${purpose}:\n\n${formatBlock(command)}`;
    }),
  ].join("\n\n");
}

/** Returns the comment for the pull request, as Markdown. */
export function composeComment(outcome: DeploymentOutcome, context: DeploymentContext): string {
  const { followed } = outcome;
  const run = `[this run](${context.run})`;
  const words = describeOutcome(outcome, context);
  const summary = explainWarning(outcome) ?? readFailureSummary(outcome);
  const reason = summary === undefined ? "" : `: ${escapeComment(summary)}`;
  if (followed === undefined) return `${words}${reason} (${run})`;
  const { previewUrl } = followed;
  const commit = readCommit(outcome, context);
  const place = [
    ...(commit === undefined ? [] : [`Commit ${formatCode(commit)} of`]),
    formatCode(context.branch ?? context.project),
  ].join(" ");
  return [
    `**${words}**${reason}`,
    ...(previewUrl ? [formatUrl(previewUrl)] : []),
    `${place}, from ${run}.${outcome.kind === "ended" && !reason ? PAGES_CAN_BE_MISSING : ""}`,
  ].join("\n\n");
}

/** See docs/mintlify/deployments.md, 4.13. */
const PAGES_CAN_BE_MISSING = " For some minutes, pages can respond with 404.";

function readFailureSummary(outcome: DeploymentOutcome): string | undefined {
  if ("reason" in outcome) return outcome.reason;
  const hasFailed = outcome.kind === "ended" && !isFollowedLive(outcome.followed);
  return hasFailed ? readSummary(outcome.followed.deployment) : undefined;
}

/** Returns the first characters of the published commit, or else of the event's commit. */
function readCommit(
  { followed }: DeploymentOutcome,
  { commit }: DeploymentContext,
): string | undefined {
  return (followed?.deployment?.commit?.sha ?? commit)?.slice(0, SHORT_COMMIT) || undefined;
}

function isFollowedLive({ deployment }: Followed): boolean {
  return deployment !== undefined && isLive(deployment);
}

function isClean({ deployment }: Followed): boolean {
  return deployment?.status === "success";
}

function endSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
