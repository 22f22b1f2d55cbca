/** Creates a job or sends it a message, and waits for the job if requested. */

import type { AgentJob, Client, WriteOptions } from "../index.js";
import { type Context, readSwitch } from "./command.js";
import { getExitCode } from "./exit_codes.js";
import { findExitCodeOfJob, watchJob } from "./job_end.js";
import { readPrompt } from "./prompt.js";
import { showPullRequest } from "./pull_request.js";
import { toLine } from "./table.js";
import { readTimeout, watchStarted } from "./wait.js";
import { prepareWrite } from "./write.js";

/**
 * Sends a prompt and prints the job's id. With `--wait`, then waits until the job finishes
 * and prints the link of its pull request, if it has one.
 *
 * With `--json`, prints only the job: as the response returned it, or with `--wait` as it finished.
 *
 * @param argument the positional argument for the prompt; `-` means stdin
 * @param send sends the request
 * @returns the exit code
 */
export async function runWrite(
  context: Context,
  argument: string | undefined,
  send: (client: Client, prompt: string, options: WriteOptions) => Promise<AgentJob>,
): Promise<number> {
  const { output } = context;
  const waits = readSwitch(context, "wait");
  const timeout = readTimeout(context);
  // Only a command with valid options and settings may open an editor.
  const { client, write } = await prepareWrite(context);
  const { text, discard } = await readPrompt(context, argument);
  const job = await write((_, options) => send(client, text, options));
  await discard();
  const id = toLine(job.id ?? "");
  if (!waits) {
    await (output.json ? output.printJson(job) : output.print(id));
    output.note(
      `quillgate: ${toLine(job.status ?? "no status")}; to wait: quillgate job watch ${id}`,
    );
    return getExitCode("ok");
  }
  if (!output.json) await output.print(id);
  const watched = watchJob(context, client, job.id, timeout, (now) => {
    if (!output.interactive)
      output.note(`quillgate: job ${id} is ${toLine(now.status ?? "no status")}`);
  });
  const ended = await watchStarted(context, "job", id, watched);
  const link = showPullRequest(ended?.prLink);
  if (output.json) await output.printJson(ended ?? null);
  else if (link !== null) await output.print(toLine(link));
  if (output.interactive) output.note(`quillgate: job ${id} is ${toLine(ended?.status ?? "gone")}`);
  if (ended?.status === "completed" && link === null)
    output.note("quillgate: no files were changed");
  return findExitCodeOfJob(ended);
}
