/** `quillgate job open`: opens a job's pull request, or else the job on the gateway's page. */

import type { JobId } from "../index.js";
import { openInBrowser } from "./browser.js";
import type { Context } from "./command.js";
import { connect } from "./connection.js";
import { UsageError } from "./errors.js";
import { getJob } from "./job_id.js";
import { toLine } from "./table.js";

export async function run(context: Context): Promise<undefined> {
  const { output, host } = context;
  const { client, baseUrl, projectId } = await connect(context);
  const { id, job } = await getJob(context, client, context.arguments[0] ?? null);
  const url = readWebUrl(job.prLink) ?? buildJobUrl(baseUrl, projectId, id);
  if (url === undefined) {
    throw new UsageError("the job has no pull request, and without a gateway it has no page");
  }
  await (output.json ? output.printJson({ url }) : output.print(toLine(url)));
  if (!(await openInBrowser(url, host))) {
    output.warn("no browser could be started: open the URL yourself, or set BROWSER");
  }
}

/**
 * Returns an http or https URL, or `undefined` for any other. A server's URL with another scheme
 * could start any program on this machine.
 */
function readWebUrl(url: string | null): string | undefined {
  if (url === null || !URL.canParse(url)) return undefined;
  const { protocol, href } = new URL(url);
  return protocol === "https:" || protocol === "http:" ? href : undefined;
}

/** Returns the URL of the gateway's web page for a job, or `undefined` without a gateway. */
function buildJobUrl(baseUrl: string | null, projectId: string, id: JobId): string | undefined {
  if (baseUrl === null || id === null) return undefined;
  const query = new URLSearchParams({ route: "jobs", project: projectId, job: String(id) });
  return `${baseUrl.replace(/\/+$/, "")}/?${query}`;
}
