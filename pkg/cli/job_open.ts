/** `quillgate job open`: opens a job's pull request, or else the job on the gateway's page. */

import type { JobId } from "../index.js";
import { readWebUrl, showInBrowser } from "./browser.js";
import type { Context } from "./command.js";
import { connect } from "./connection.js";
import { UsageError } from "./errors.js";
import { getJob } from "./job_id.js";
import { toLine } from "./table.js";

export async function run(context: Context): Promise<undefined> {
  const { output } = context;
  const { client, gateway, projectId } = await connect(context);
  const { id, job } = await getJob(context, client, context.arguments[0] ?? null);
  const url = readWebUrl(job.prLink) ?? buildJobUrl(gateway, projectId, id);
  if (url === undefined) {
    throw new UsageError("the job has no pull request, and without a gateway it has no page");
  }
  await (output.json ? output.printJson({ url }) : output.print(toLine(url)));
  await showInBrowser(context, url);
}

/** Returns the URL of the gateway's web page for a job, or `undefined` without a gateway. */
function buildJobUrl(gateway: string | null, projectId: string, id: JobId): string | undefined {
  if (gateway === null || id === null) return undefined;
  const query = new URLSearchParams({ route: "jobs", project: projectId, job: String(id) });
  return `${gateway.replace(/\/+$/, "")}/?${query}`;
}
