/** Creates a job or sends it a message, and waits for the job if requested. */

import { randomUUID } from "node:crypto";
import type { AgentJob, ApiError, Client, WriteOptions } from "../index.js";
import { type Context, readSwitch, readText } from "./command.js";
import { connect } from "./connection.js";
import { UsageError } from "./errors.js";
import { findExitCode, getExitCode } from "./exit_codes.js";
import { findExitCodeOfJob, readTimeout, watchJob } from "./job_end.js";
import { showPullRequest } from "./pull_request.js";
import { toLine } from "./table.js";

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
  const { output, signal } = context;
  const waits = readSwitch(context, "wait");
  const timeout = readTimeout(context);
  const force = readSwitch(context, "force");
  const given = readText(context, "idempotency-key");
  if (force && given === undefined) {
    throw new UsageError(
      "--force needs the --idempotency-key of the request with the unknown outcome",
    );
  }
  const { client, baseUrl } = await connect(context);
  // Mintlify itself has no idempotency keys.
  const idempotencyKey = given ?? (baseUrl === null ? undefined : randomUUID());
  const job = await write(client, { idempotencyKey, force, signal }).catch((error: unknown) => {
    hintAtRetry(context, error, idempotencyKey);
    throw error;
  });
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

/** Adds hints on how to repeat a write that may have succeeded. */
function hintAtRetry(
  { output, signal }: Context,
  error: unknown,
  idempotencyKey: string | undefined,
): void {
  const code = findExitCode(error);
  const repeat = `to repeat it safely: --idempotency-key ${idempotencyKey}`;
  // The gateway has completed the write, so it answers a repeated request with the same response.
  const isUnknown = code === getExitCode("outcomeUnknown");
  const { status, cause } = error as ApiError;
  const isStored =
    isUnknown && status < 300 && (cause as Error | undefined)?.name !== "DecodeError";
  if (isStored && idempotencyKey !== undefined) {
    output.hint(repeat);
  } else if (isUnknown) {
    output.hint("check Mintlify's dashboard first: repeating the request may run it twice");
    if (idempotencyKey !== undefined) {
      output.hint(`to repeat it: --idempotency-key ${idempotencyKey} --force`);
    }
  } else if (signal.aborted || code === getExitCode("unavailable")) {
    const again =
      idempotencyKey === undefined
        ? "it may have run: check Mintlify's dashboard before you repeat it"
        : repeat;
    output.hint(again);
  }
}
