/** `quillgate job delete-record`: deletes the gateway's record of a job. */

import type { Context } from "./command.js";
import { connectToGateway } from "./connection.js";
import { withJob } from "./job_id.js";
import { confirm } from "./question.js";
import { toLine } from "./table.js";

export async function run(context: Context): Promise<undefined> {
  const { output, signal } = context;
  const [id = ""] = context.arguments;
  await confirm(context, `Delete the record of job ${toLine(id)}?`, "the record was not deleted");
  const { client } = await connectToGateway(context);
  const deleted = await withJob(context, client, id, async (full) => {
    await client.agentJobs.deleteRecord(full, { signal });
    return full;
  });
  if (output.json) await output.printJson({ deleted });
  else output.note(`quillgate: the record of job ${toLine(String(deleted))} is deleted`);
}
