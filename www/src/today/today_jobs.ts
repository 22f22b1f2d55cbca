import type { ListedJob } from "quillgate";
import { parseInstant, readPullRequest } from "quillgate/values";
import { readPullRequestState } from "../jobs/pull_request_state.ts";
import type { Session } from "../session/session.ts";
import { DAY_MS } from "../shell/durations.ts";
import { hasOther } from "./other_items.ts";

export const MAX_ROWS = 5;
/** The maximum number of jobs per request. */
const MAX_JOBS = 100;
export const RECENT_MS = 28 * DAY_MS;
/** How many pull requests to look up on their host. Most of them can be merged. */
const MAX_LOOKUPS = 10;

/** Jobs that need a person. */
export interface Found {
  jobs: readonly ListedJob[];
  /** The number of the newest pull requests or jobs that were checked; null if all were. */
  among: { count: number; what: "pull request" | "job" } | null;
}

export interface TodayJobs {
  /** The newest finished jobs whose pull request is open, or in an unknown state. */
  toReview: Found;
  failed: Found;
  /** All jobs that were read, newest first. */
  read: readonly ListedJob[];
}

/** Reads the jobs that need a person, newest first. Costs no request to Mintlify. */
export async function readTodayJobs(
  session: Session,
  now: number,
  signal: AbortSignal,
): Promise<TodayJobs> {
  const list = await session.client.agentJobs.list({ limit: MAX_JOBS }, { signal });
  const { jobs: read, nextCursor } = list;
  const recent = read.filter(({ createdAt }) => now - (parseInstant(createdAt) ?? 0) <= RECENT_MS);
  const hasOlder = nextCursor !== null && recent.length === read.length;
  const requests = recent.filter(
    ({ status, prLink }) => status === "completed" && readPullRequest(prLink)?.href != null,
  );
  const lookedUp = requests.slice(0, MAX_LOOKUPS);
  const states = await Promise.all(
    lookedUp.map(({ id }) => readPullRequestState(session, id, signal)),
  );
  const isWaiting = (_: ListedJob, place: number) => (states[place]?.state ?? "open") === "open";
  const ofJobs = hasOlder ? ({ count: read.length, what: "job" } as const) : null;
  return {
    toReview: {
      jobs: lookedUp.filter(isWaiting).slice(0, MAX_ROWS),
      among:
        requests.length > lookedUp.length
          ? { count: lookedUp.length, what: "pull request" }
          : ofJobs,
    },
    failed: {
      jobs: recent.filter(({ status }) => status === "failed").slice(0, MAX_ROWS),
      among: ofJobs,
    },
    read,
  };
}

/**
 * Returns whether newer jobs, deletions or other states of jobs are known than those that were read.
 *
 * @param news jobs by id; `null` if a job was deleted
 */
export function isOutdated(
  read: readonly ListedJob[],
  news: readonly (readonly [string, ListedJob | null])[],
): boolean {
  return hasOther(read, news, ({ id }) => id, ["status", "prLink"]);
}
