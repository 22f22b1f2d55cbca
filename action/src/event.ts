/** Reads the webhook event that triggered the workflow. */

import { readFileSync } from "node:fs";

export interface PullRequest {
  number: number;
  /** Whether the pull request's branch is in another repository. `false` for comment events. */
  fromFork: boolean;
}

/** Returns the event's pull request, or `undefined` for other events. */
export function readPullRequest(env: NodeJS.ProcessEnv): PullRequest | undefined {
  const event = readEvent(env.GITHUB_EVENT_PATH);
  const pull = event?.pull_request;
  if (pull !== undefined) {
    const number = readNumber(pull);
    const { head, base } = pull as { head?: Side; base?: Side };
    const fromFork = head !== undefined && head.repo?.id !== base?.repo?.id;
    return number === undefined ? undefined : { number, fromFork };
  }
  // A comment on a pull request is an `issue_comment` event. Its `issue` is the pull request.
  const issue = event?.issue;
  const number = issue?.pull_request === undefined ? undefined : readNumber(issue);
  return number === undefined ? undefined : { number, fromFork: false };
}

/** One of a pull request's two branches. */
interface Side {
  /** `null` if the repository was deleted. */
  repo?: { id?: number } | null;
}

interface Event {
  pull_request?: { number?: unknown };
  issue?: { number?: unknown; pull_request?: unknown };
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
