import type { ListedJob } from "quillgate";
import { parseInstant, readPullRequest } from "quillgate/values";
import { readPullRequestState } from "../jobs/pull_request_state.ts";
import type { Session } from "../session/session.ts";
import { MAX_ROWS } from "./today_reports.ts";

/** The maximum number of jobs per request. */
const MAX_JOBS = 100;
const RECENT_MS = 28 * 86_400_000;
/** How many pull requests to look up on their host. Most of them can be merged. */
const MAX_LOOKUPS = 10;

export interface TodayJobs {
  /** The newest finished jobs whose pull request is open, or in an unknown state. */
  toReview: readonly ListedJob[];
  failed: readonly ListedJob[];
}

/** Reads the jobs that need a person, newest first. Costs no request to Mintlify. */
export async function readTodayJobs(
  session: Session,
  now: number,
  signal: AbortSignal,
): Promise<TodayJobs> {
  const { jobs } = await session.client.agentJobs.list({ limit: MAX_JOBS }, { signal });
  const recent = jobs.filter(({ createdAt }) => now - (parseInstant(createdAt) ?? 0) <= RECENT_MS);
  const requests = recent
    .filter(({ status, prLink }) => status === "completed" && readPullRequest(prLink)?.href != null)
    .slice(0, MAX_LOOKUPS);
  const states = await Promise.all(
    requests.map(({ id }) => readPullRequestState(session, id, signal)),
  );
  const isWaiting = (_: ListedJob, place: number) => (states[place]?.state ?? "open") === "open";
  return {
    toReview: requests.filter(isWaiting).slice(0, MAX_ROWS),
    failed: recent.filter(({ status }) => status === "failed").slice(0, MAX_ROWS),
  };
}
