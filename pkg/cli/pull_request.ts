/** Shows the pull request of a job. */

import { readPullRequest } from "../values.js";

/** Returns the link unchanged, or `null` if the job has no pull request. */
export function showPullRequest(prLink: string | null | undefined): string | null {
  return readPullRequest(prLink) === null ? null : (prLink ?? null);
}
