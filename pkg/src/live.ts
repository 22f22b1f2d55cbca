/** Decides whether the content of a deployment is live. */

import { LOG_FAILED, LOG_NOT_REVALIDATED, LOG_PUBLISHED } from "./generated/protocol.js";
import type { Deployment } from "./types.js";

/**
 * Returns whether the content of a deployment is live: the deployment succeeded, or it failed only
 * because a domain could not be revalidated after the publication.
 *
 * @example
 * ```ts
 * import { isLive } from "quillgate/values";
 *
 * isLive({ status: "success", summary: null, logs: null }); // true
 * ```
 */
export function isLive({
  status,
  summary,
  logs,
}: Pick<Deployment, "status" | "summary" | "logs">): boolean {
  if (status !== "failure") return status === "success";
  const lines = [...(logs ?? []), summary ?? ""].map((line) => line.trim());
  const reason = lines.at(-1) ?? "";
  const failed = lines.filter((line) => line.startsWith(LOG_FAILED));
  return (
    lines.some((line) => line.startsWith(LOG_PUBLISHED)) &&
    failed.length > 0 &&
    failed.every((line) => line.startsWith(LOG_NOT_REVALIDATED)) &&
    // Sentences about other failures have no common start, so the summary decides.
    (reason === "" || reason.startsWith(LOG_NOT_REVALIDATED))
  );
}
