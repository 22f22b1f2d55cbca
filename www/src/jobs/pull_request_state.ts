import { parseInstant } from "quillgate/values";
import type { Session } from "../session/session.ts";

const STATES = ["open", "merged", "closed"] as const;

/** The state of a pull request on GitHub. */
export interface PullRequestState {
  state: (typeof STATES)[number];
  isDraft: boolean;
  /** When it was merged, in milliseconds since the epoch; `null` if it was not, or if unknown. */
  mergedAt: number | null;
}

/**
 * Reads the state of a job's pull request from the gateway. Returns `null` if the state is unknown
 * or the request fails.
 */
export async function readPullRequestState(
  { client, projectId }: Session,
  jobId: string,
  signal: AbortSignal,
): Promise<PullRequestState | null> {
  const [project, job] = [projectId, jobId].map(encodeURIComponent);
  const path = `/v2/agent/${project}/job/${job}/pull-request`;
  try {
    return toPullRequestState(await client.request("GET", path, { signal, maxRetries: 0 }));
  } catch {
    // The link to the pull request works without the state.
    return null;
  }
}

/** Converts a response of the gateway. Returns `null` for a state that the page can't show. */
export function toPullRequestState(body: unknown): PullRequestState | null {
  const { state, isDraft, mergedAt } = (body ?? {}) as Record<string, unknown>;
  const known = STATES.find((one) => one === state);
  if (known === undefined) return null;
  return {
    state: known,
    isDraft: isDraft === true,
    mergedAt: typeof mergedAt === "string" ? parseInstant(mergedAt) : null,
  };
}
