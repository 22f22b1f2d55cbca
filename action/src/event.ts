/** Reads the webhook event that triggered the workflow. */

import { readFileSync } from "node:fs";

export interface PullRequest {
  number: number;
  /** Whether the pull request's branch is in another repository. `false` for comment events. */
  fromFork: boolean;
  /** The pull request's branch. `undefined` for comment events. */
  branch: string | undefined;
  /** The latest commit of the branch. `undefined` for comment events. */
  commit: string | undefined;
}

/** Two commits to compare. */
export interface CommitRange {
  base: string;
  head: string;
  /** Whether to compare `head` with the commit where it left `base`. */
  fromMergeBase: boolean;
}

const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const BRANCH = /^refs\/heads\/(.+)$/s;
/** Events that run on the default branch although they are about another one. */
const ABOUT_OTHER_BRANCHES = [
  "check_run",
  "check_suite",
  "delete",
  "issue_comment",
  "page_build",
  "status",
  "workflow_run",
];

/** Returns the event's pull request, or `undefined` for other events. */
export function readPullRequest(env: NodeJS.ProcessEnv): PullRequest | undefined {
  const event = readEvent(env.GITHUB_EVENT_PATH);
  const pull = event?.pull_request;
  if (pull !== undefined) {
    const number = readNumber(pull);
    const { head, base } = pull;
    const fromFork = head !== undefined && head.repo?.id !== base?.repo?.id;
    if (number === undefined) return undefined;
    return { number, fromFork, branch: readText(head?.ref), commit: readCommit(head?.sha) };
  }
  // A comment on a pull request is an `issue_comment` event. Its `issue` is the pull request.
  const issue = event?.issue;
  const number = issue?.pull_request === undefined ? undefined : readNumber(issue);
  if (number === undefined) return undefined;
  return { number, fromFork: false, branch: undefined, commit: undefined };
}

/** Returns the branch that the event is about, or `undefined` if the event does not name it. */
export function readBranch(
  env: NodeJS.ProcessEnv,
  pull: PullRequest | undefined,
): string | undefined {
  if (pull?.branch !== undefined) return pull.branch;
  const { GITHUB_EVENT_NAME: name = "", GITHUB_REF: ref = "" } = env;
  // A push that deletes a branch also runs on the default branch.
  const hasDeleted = readEvent(env.GITHUB_EVENT_PATH)?.deleted === true;
  if (hasDeleted || ABOUT_OTHER_BRANCHES.includes(name)) return undefined;
  return BRANCH.exec(ref)?.[1];
}

/** Returns the name of the repository's default branch, if the event has it. */
export function readDefaultBranch(env: NodeJS.ProcessEnv): string | undefined {
  return readText(readEvent(env.GITHUB_EVENT_PATH)?.repository?.default_branch);
}

/** Returns the commits before and after the event, or the reason why the event has none. */
export function readCommitRange(env: NodeJS.ProcessEnv): CommitRange | string {
  const event = readEvent(env.GITHUB_EVENT_PATH);
  const { pull_request: pull, merge_group: group } = event ?? {};
  const [base, head] = [
    pull?.base?.sha ?? group?.base_sha ?? event?.before,
    pull?.head?.sha ?? group?.head_sha ?? event?.after,
  ].map(readCommit);
  if (base !== undefined && head !== undefined) {
    return { base, head, fromMergeBase: pull !== undefined };
  }
  const { GITHUB_EVENT_NAME: name = "" } = env;
  if (name !== "push") return `the event ${name} has no previous commit`;
  return "the push created or deleted the branch or tag";
}

/** One of a pull request's two branches. */
interface Side {
  ref?: unknown;
  sha?: unknown;
  /** `null` if the repository was deleted. */
  repo?: { id?: number } | null;
}

interface Event {
  pull_request?: { number?: unknown; head?: Side; base?: Side };
  issue?: { number?: unknown; pull_request?: unknown };
  merge_group?: { base_sha?: unknown; head_sha?: unknown };
  repository?: { default_branch?: unknown };
  deleted?: unknown;
  before?: unknown;
  after?: unknown;
}

function readEvent(path: string | undefined): Event | undefined {
  if (!path) return undefined;
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Event;
  } catch {
    return undefined;
  }
}

function readNumber({ number }: { number?: unknown }): number | undefined {
  return Number.isSafeInteger(number) ? (number as number) : undefined;
}

function readText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Returns a commit's id. GitHub writes zeros for a commit that does not exist. */
function readCommit(value: unknown): string | undefined {
  const isCommit = typeof value === "string" && COMMIT.test(value) && /[^0]/.test(value);
  return isCommit ? value : undefined;
}
