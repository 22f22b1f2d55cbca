/** `quillgate job show`: prints a job and the gateway's record of the job. */

import type { AgentJob, JobId, JobRecord } from "../index.js";
import { readPullRequest } from "../values.js";
import type { Context } from "./command.js";
import { connect } from "./connection.js";
import { findExitCode, getExitCode } from "./exit_codes.js";
import { getJob } from "./job_id.js";
import type { Output } from "./output.js";
import { showPullRequest } from "./pull_request.js";
import { replaceControls, showValue, writeFields } from "./table.js";

type Client = Awaited<ReturnType<typeof connect>>["client"];

export async function run(context: Context): Promise<undefined> {
  const { output, signal } = context;
  const { client, gateway } = await connect(context);
  const { id, job } = await getJob(context, client, context.arguments[0] ?? null);
  // Mintlify itself has no records.
  const record = gateway === null ? null : await readRecord(client, id, signal);
  if (output.json) {
    await output.printJson({ job, record });
    return;
  }
  await output.write(writeJob(job, record, output));
  if (record !== null) await output.write(writeRecord(record, output));
}

/** Returns the gateway's record of a job, or `null` if it has none. */
async function readRecord(
  client: Client,
  id: JobId,
  signal: AbortSignal,
): Promise<JobRecord | null> {
  try {
    return await client.agentJobs.record(id, { signal });
  } catch (error) {
    if (findExitCode(error) === getExitCode("notFound")) return null;
    throw error;
  }
}

function writeJob(job: AgentJob, record: JobRecord | null, output: Output): string {
  const { id, status, source, model, prLink, archivedAt } = job;
  return writeFields([
    ["id", id],
    ["status", status],
    [readPullRequest(prLink)?.noun ?? "pull request", showPullRequest(prLink)],
    ["repository", source?.repository ?? null],
    ["ref", source?.ref ?? null],
    ["model", model],
    ["created", output.showTime(job.createdAt ?? record?.job.createdAt ?? null)],
    ["created by", record?.job.createdBy ?? null],
    ["archived", output.showTime(archivedAt)],
  ]);
}

function writeRecord({ prompt, messages, changes }: JobRecord, output: Output): string {
  const time = (value: string | null) => showValue(output.showTime(value));
  const prompts = [
    ...(prompt === null ? [] : [{ head: "prompt", text: prompt }]),
    ...messages.map(({ prompt: text, author, sentAt }) => ({
      head: `follow-up by ${showValue(author)}, ${time(sentAt)}`,
      text: text ?? "-",
    })),
  ];
  const parts = [
    ...prompts.map(({ head, text }) => `\n${head}:\n${indent(text)}\n`),
    ...(changes.length === 0 ? [] : ["\nstatus changes:\n"]),
    ...changes.map(({ at, status, prLink }) => {
      const link = showPullRequest(prLink);
      const words = [time(at), showValue(status), ...(link === null ? [] : [showValue(link)])];
      return `  ${words.join("  ")}\n`;
    }),
  ];
  return parts.join("");
}

function indent(text: string): string {
  return replaceControls(text.trimEnd())
    .split("\n")
    .map((line) => `  ${line}`)
    .join("\n");
}
