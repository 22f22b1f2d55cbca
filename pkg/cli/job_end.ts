/** Waits for jobs to finish. */

import type { AgentJob, Client, JobId } from "../index.js";
import { type Context, readText } from "./command.js";
import { readDuration } from "./duration.js";
import { findExitCode, getExitCode } from "./exit_codes.js";
import { WaitProgress } from "./progress.js";
import { toLine } from "./table.js";

/** After these exit codes, the job may still be running. */
const UNFINISHED_CODES = [
  getExitCode("waitTimeout"),
  getExitCode("unavailable"),
  getExitCode("budget"),
];

/**
 * Parses `--timeout`, a duration such as `30m`, which is the default.
 *
 * Call this before the first request, so that an invalid timeout creates no job.
 *
 * @returns milliseconds
 * @throws {UsageError} if the timeout is malformed or exceeds 2³¹ − 1 ms
 */
export function readTimeout(context: Context): number {
  return readDuration(readText(context, "timeout") ?? "30m", "--timeout");
}

/**
 * Watches a job until it finishes.
 *
 * @param timeout in milliseconds
 * @param onChange called with the current job, and again after every change
 * @returns the finished job
 * @throws {JobWaitTimeoutError} if the timeout expires first; the job continues
 */
export async function watchJob(
  { output, signal }: Context,
  client: Client,
  id: JobId,
  timeout: number,
  onChange: (job: AgentJob) => Promise<void> | void,
): Promise<AgentJob | undefined> {
  const name = toLine(String(id));
  const progress = new WaitProgress(output, `job ${name}`, timeout);
  try {
    let last: AgentJob | undefined;
    for await (const { job } of client.agentJobs.watch(id, { timeout, signal })) {
      last = job;
      progress.setText(`job ${name}: ${toLine(job.status ?? "no status")}`);
      await onChange(job);
    }
    return last;
  } catch (error) {
    if (signal.aborted || UNFINISHED_CODES.includes(findExitCode(error))) {
      output.hint(`the job continues; to wait for it: quillgate job watch ${name}`);
    }
    throw error;
  } finally {
    progress.end();
  }
}

export function findExitCodeOfJob(job: AgentJob | undefined): number {
  return getExitCode(job?.status === "failed" ? "jobFailed" : "ok");
}
