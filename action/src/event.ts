/** Reads the event that triggered the workflow. */

import { readFileSync } from "node:fs";

/** The pull request of an event. */
export interface PullRequest {
  number: number;
  /**
   * Whether its branch is in another repository; `false` for comments, whose events do not include
   * this.
   */
  fromFork: boolean;
}

/** Returns the pull request of the event, or `undefined` if the event has none. */
export function readPullRequest(env: NodeJS.ProcessEnv): PullRequest | undefined {
  const event = readEvent(env.GITHUB_EVENT_PATH);
  const pull = event?.pull_request;
  if (pull !== undefined) {
    const number = readNumber(pull);
    const { head, base } = pull as { head?: Side; base?: Side };
    const fromFork = head !== undefined && head.repo?.id !== base?.repo?.id;
    return number === undefined ? undefined : { number, fromFork };
  }
  // GitHub reports a comment on a pull request as an event of an issue.
  const issue = event?.issue;
  const number = issue?.pull_request === undefined ? undefined : readNumber(issue);
  return number === undefined ? undefined : { number, fromFork: false };
}

/** A pull request's branch. `repo` is `null` if the repository was deleted. */
interface Side {
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
