/** `quillgate job watch`: prints every change of a job until the job finishes. */

import type { Context } from "./command.js";
import { connect } from "./connection.js";
import { findExitCodeOfJob, readTimeout, watchJob } from "./job_end.js";
import { showPullRequest } from "./pull_request.js";
import { toLine } from "./table.js";

export async function run(context: Context): Promise<number> {
  const { output } = context;
  const [id = null] = context.arguments;
  const timeout = readTimeout(context);
  const { client } = await connect(context);
  const ended = await watchJob(context, client, id, timeout, (job) =>
    output.print(
      output.json
        ? JSON.stringify(job)
        : [job.status ?? "no status", showPullRequest(job.prLink) ?? ""]
            .map(toLine)
            .join(" ")
            .trimEnd(),
    ),
  );
  return findExitCodeOfJob(ended);
}
