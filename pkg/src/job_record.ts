/** What a gateway has recorded of a job. */

import type { JobId } from "./agent_jobs.js";
import type { CallResult } from "./api_promise.js";
import type { RecordTools } from "./job_stream.js";
import type { RequestOptions } from "./options.js";
import type { Sender } from "./task.js";
import type { Transport } from "./transport.js";
import type { JobRecord, ListedJob } from "./types.js";

/**
 * Reads the record of a job. The request is that of the job itself but for its path, so that all that
 * holds for a call holds for this one.
 */
export async function readRecord(
  transport: Transport,
  id: JobId,
  options: RequestOptions,
  site: Error,
  tools: RecordTools,
): Promise<CallResult<JobRecord>> {
  let body: unknown;
  let response!: Response;
  const through = (sender: Sender): Sender => ({
    ...sender,
    async send(request, ...rest) {
      const target = `${request.target}/record`;
      const received = await sender.send({ ...request, target }, ...rest);
      const { status, headers, ok } = received;
      const json = async () => {
        body = await received.json();
        response = received;
        return body;
      };
      return { status, headers, ok, json } as Response;
    },
  });
  const read = async () => {
    await transport.call("agentJobs.get", { id }, options, through);
    return { data: decodeRecord(body, response, tools), response };
  };
  return transport.run(read, site, options.signal);
}

/** Checks a record, and copies what the type knows of it. */
function decodeRecord(body: unknown, response: Response, tools: RecordTools): JobRecord {
  const refuse = (where: string, rule: string): never => {
    throw tools.toDecodeError(where, `must be ${rule}`, response);
  };
  const text = (value: unknown, where: string): string =>
    typeof value === "string" ? value : refuse(where, "text");
  const textOrNull = (value: unknown, where: string) => (value == null ? null : text(value, where));
  const texts = <Name extends string>(value: unknown, where: string, names: Name[]) => {
    if (typeof value !== "object" || value === null) return refuse(where, "an object");
    const own = value as Record<Name, unknown>;
    const copied = names.map((name) => [name, textOrNull(own[name], `${where}.${name}`)]);
    return Object.fromEntries(copied) as Record<Name, string | null>;
  };
  const list = <Name extends string>(value: unknown, where: string, names: Name[]) => {
    if (!Array.isArray(value)) return refuse(where, "an array");
    return value.map((item, at) => texts(item, `${where}[${at}]`, names));
  };
  // It is an object: so much was found out with the answer.
  const record = body as Record<keyof JobRecord, unknown>;
  const job = texts(record.job, "job", JOB);
  return {
    job: { ...job, id: text(job.id, "job.id") },
    prompt: textOrNull(record.prompt, "prompt"),
    messages: list(record.messages, "messages", ["prompt", "author", "sentAt"]),
    changes: list(record.changes, "changes", ["at", "status", "prLink"]),
  };
}

/** The members of a job of the list. */
const JOB: (keyof ListedJob)[] = [
  "id",
  "status",
  "prompt",
  "createdBy",
  "createdAt",
  "prLink",
  "checkedAt",
];
