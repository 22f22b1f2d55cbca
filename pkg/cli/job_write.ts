/** Creates a job or sends it a message, and waits for the job if requested. */

import type { AgentJob, Client, WriteOptions } from "../index.js";
import { type Context, readSwitch } from "./command.js";
import { getExitCode } from "./exit_codes.js";
import { findExitCodeOfJob, watchJob } from "./job_end.js";
import { showPullRequest } from "./pull_request.js";
import { toLine } from "./table.js";
import { readTimeout } from "./wait.js";
import { sendWrite } from "./write.js";

/**
 * Sends a write request and prints the job's id. With `--wait`, then waits until the job finishes
 * and prints the link of its pull request, if it has one.
 *
 * With `--json`, prints only the job: as the response returned it, or with `--wait` as it finished.
 *
 * @param write sends the request
 * @returns the exit code
 */
export async function runWrite(
  context: Context,
  write: (client: Client, options: WriteOptions) => Promise<AgentJob>,
): Promise<number> {
  const { output } = context;
  const waits = readSwitch(context, "wait");
  const timeout = readTimeout(context);
  const { client, result: job } = await sendWrite(context, write);
  const id = toLine(job.id ?? "");
  if (!waits) {
    await (output.json ? output.printJson(job) : output.print(id));
    output.note(
      `quillgate: ${toLine(job.status ?? "no status")}; to wait: quillgate job watch ${id}`,
    );
    return getExitCode("ok");
  }
  if (!output.json) await output.print(id);
  const ended = await watchJob(context, client, job.id, timeout, (now) => {
    if (!output.interactive) output.note(`quillgate: job ${id} is ${now.status}`);
  });
  const link = showPullRequest(ended?.prLink);
  if (output.json) await output.printJson(ended ?? null);
  else if (link !== null) await output.print(toLine(link));
  if (output.interactive) output.note(`quillgate: job ${id} is ${toLine(ended?.status ?? "gone")}`);
  if (ended?.status === "completed" && link === null)
    output.note("quillgate: no files were changed");
  return findExitCodeOfJob(ended);
}
