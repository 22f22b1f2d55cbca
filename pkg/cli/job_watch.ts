/** `quillgate job watch`: prints every change of a job until the job finishes. */

import type { AgentJob } from "../index.js";
import type { Context } from "./command.js";
import { connect } from "./connection.js";
import { findExitCodeOfJob, watchJob } from "./job_end.js";
import { withJob } from "./job_id.js";
import { showPullRequest } from "./pull_request.js";
import { toLine } from "./table.js";
import { readTimeout } from "./wait.js";

export async function run(context: Context): Promise<number> {
  const { output } = context;
  const [id = null] = context.arguments;
  const timeout = readTimeout(context);
  const { client } = await connect(context);
  const print = (job: AgentJob) =>
    output.json
      ? output.printJsonLine(job)
      : output.print(
          [job.status ?? "no status", showPullRequest(job.prLink) ?? ""]
            .map(toLine)
            .join(" ")
            .trimEnd(),
        );
  const ended = await withJob(context, client, id, (full) =>
    watchJob(context, client, full, timeout, print),
  );
  return findExitCodeOfJob(ended);
}
