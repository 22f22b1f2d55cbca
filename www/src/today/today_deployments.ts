import type { ListedDeployment } from "quillgate";
import { parseInstant } from "quillgate/values";
import type { Session } from "../session/session.ts";
import { hasOther } from "./other_items.ts";
import { MAX_ROWS, RECENT_MS } from "./today_jobs.ts";

/** The maximum number of deployments per request. */
const MAX_DEPLOYMENTS = 100;

export interface TodayDeployments {
  /** Failed deployments, newest first, unless a later one of the same branch is live. */
  failed: readonly ListedDeployment[];
  /** All deployments that were read, newest first. */
  read: readonly ListedDeployment[];
}

/** Reads the deployments that need a person. Costs no request to Mintlify. */
export async function readTodayDeployments(
  { client }: Session,
  now: number,
  signal: AbortSignal,
): Promise<TodayDeployments> {
  const { deployments } = await client.deployments.list({ limit: MAX_DEPLOYMENTS }, { signal });
  return { failed: failedOf(deployments, now), read: deployments };
}

/** Returns the failed deployments of the last 28 days whose content is not live. */
export function failedOf(
  deployments: readonly ListedDeployment[],
  now: number,
): readonly ListedDeployment[] {
  const live = new Set<string | null>();
  const failed: ListedDeployment[] = [];
  for (const deployment of deployments) {
    const { branch, status, isLive, createdAt } = deployment;
    const isRecent = now - (parseInstant(createdAt) ?? 0) <= RECENT_MS;
    if (status === "success" || isLive === true) live.add(branch);
    else if (status === "failure" && isRecent && !live.has(branch)) failed.push(deployment);
  }
  return failed.slice(0, MAX_ROWS);
}

/**
 * Returns whether newer deployments, deletions or other states are known than those that were read.
 *
 * @param news deployments by id; `null` if a record was deleted
 */
export function hasOtherDeployments(
  read: readonly ListedDeployment[],
  news: readonly (readonly [string, ListedDeployment | null])[],
): boolean {
  return hasOther(read, news, ({ statusId }) => statusId, ["status", "isLive"]);
}
