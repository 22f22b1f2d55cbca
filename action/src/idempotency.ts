/** Derives the idempotency keys of steps. */

import { createHash } from "node:crypto";

/** The variables that identify a step of a run. */
const STEP = [
  ...["GITHUB_SERVER_URL", "GITHUB_REPOSITORY_ID", "GITHUB_REPOSITORY", "GITHUB_WORKFLOW_REF"],
  ...["GITHUB_WORKFLOW", "GITHUB_RUN_ID"],
];

/**
 * Returns the default idempotency key of a job. Each attempt of a run has its own key, so a re-run
 * creates another job.
 *
 * All jobs of a matrix have the same variables, so the key also includes the prompt.
 */
export function deriveJobKey(env: NodeJS.ProcessEnv, prompt: string): string {
  const { GITHUB_RUN_ID: run = "", GITHUB_RUN_ATTEMPT: attempt = "" } = env;
  const names = [...STEP, "GITHUB_RUN_ATTEMPT", "GITHUB_JOB", "GITHUB_ACTION"];
  return `github-${run}-${attempt}-${digest([...names.map((name) => env[name] ?? ""), prompt])}`;
}

/**
 * Returns the default idempotency key of a deployment, a preview or an automation. All attempts of a
 * run have the same key, so a re-run finds the deployment of the first attempt.
 *
 * @param parts distinguish steps with the same variables, such as those of a matrix
 */
export function deriveStartKey(env: NodeJS.ProcessEnv, parts: readonly string[]): string {
  const names = [...STEP, "GITHUB_JOB", "GITHUB_ACTION"];
  const values = names.map((name) => env[name] ?? "");
  return `github-${env.GITHUB_RUN_ID ?? ""}-${digest([...values, ...parts])}`;
}

/** Returns the idempotency key of the preview of a job. */
export function derivePreviewKey(jobId: string, branch: string): string {
  return `github-preview-${digest([jobId, branch])}`;
}

function digest(parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32);
}
