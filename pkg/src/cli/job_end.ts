/** Waiting for a job's end. */

import type { AgentJob, Client, JobId } from "../index.js";
import { type Context, readText } from "./command.js";
import { readDuration } from "./duration.js";
import { findExitCode, getExitCode } from "./exit_codes.js";
import { WaitProgress } from "./progress.js";
import { toLine } from "./table.js";

/** How a wait ends that leaves a job at work. */
const LEAVING = [getExitCode("waitTimeout"), getExitCode("unavailable"), getExitCode("budget")];

/** How long a command waits for a job, in milliseconds. Read before anything is sent. */
export function readTimeout(context: Context): number {
  return readDuration(readText(context, "timeout") ?? "30m", "--timeout");
}

/**
 * Watches a job until its end.
 *
 * @param onChange called with the job as it is, and after every change
 * @returns the job as it ended
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
    if (signal.aborted || LEAVING.includes(findExitCode(error))) {
      output.hint(`the job goes on; to wait for it: quillgate job watch ${name}`);
    }
    throw error;
  } finally {
    progress.end();
  }
}

/** The exit code of a job that has ended. */
export function findExitCodeOfJob(job: AgentJob | undefined): number {
  return getExitCode(job?.status === "failed" ? "jobFailed" : "ok");
}
