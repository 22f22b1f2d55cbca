/** Waits for jobs to finish. */

import type { AgentJob, Client, JobId } from "../index.js";
import type { Context } from "./command.js";
import { getExitCode } from "./exit_codes.js";
import { watchToEnd } from "./wait.js";

/**
 * Watches a job until it finishes.
 *
 * @param timeout in milliseconds
 * @param onChange called with the current job, and again after every change
 * @returns the finished job
 * @throws {JobWaitTimeoutError} if the timeout expires first; the job continues
 */
export async function watchJob(
  context: Context,
  client: Client,
  id: JobId,
  timeout: number,
  onChange: (job: AgentJob) => Promise<void> | void,
): Promise<AgentJob | undefined> {
  const { signal } = context;
  const last = await watchToEnd(context, {
    noun: "job",
    id: String(id),
    timeout,
    changes: () => client.agentJobs.watch(id, { timeout, signal }),
    describe: ({ job }) => job.status ?? "no status",
    onChange: ({ job }) => onChange(job),
  });
  return last?.job;
}

export function findExitCodeOfJob(job: AgentJob | undefined): number {
  return getExitCode(job?.status === "failed" ? "jobFailed" : "ok");
}
