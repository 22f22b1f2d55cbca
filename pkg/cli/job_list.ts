/** `quillgate job list`: prints the jobs created through the gateway. */

import type { ListedJob } from "../index.js";
import { readPullRequest } from "../values.js";
import { type Context, readSwitch, readText } from "./command.js";
import { shortenIds } from "./job_id.js";
import { printListing } from "./listing.js";
import { showPullRequest } from "./pull_request.js";
import type { Column } from "./table.js";

const FILTERS = ["state", "author", "text"] as const;

export async function run(context: Context): Promise<undefined> {
  const { signal } = context;
  const filters = FILTERS.map((name) => [name, readText(context, name)] as const);
  await printListing(context, {
    operation: "agentJobs.list",
    none: "no jobs",
    load: (client, { limit, maxRows }) => {
      const params = { limit, ...Object.fromEntries(filters) };
      return client.agentJobs.list(params, { signal }).all({ maxRows });
    },
    makeColumns: (jobs) => makeColumns(context, jobs),
  });
}

function makeColumns(context: Context, jobs: readonly ListedJob[]): Column<ListedJob>[] {
  const { output } = context;
  const isShort = output.isTerminal && !readSwitch(context, "wide");
  const short = shortenIds(jobs.map(({ id }) => id));
  return [
    {
      head: "ID",
      value: (job) => (isShort ? short[jobs.indexOf(job)] : job.id),
      isWhole: true,
      isKey: true,
    },
    { head: "STATUS", value: ({ status }) => status, isKey: true },
    {
      head: isShort ? "PR" : "PULL REQUEST",
      value: ({ prLink }) =>
        (isShort ? readPullRequest(prLink)?.number : undefined) ?? showPullRequest(prLink),
      link: ({ prLink }) => readPullRequest(prLink)?.href ?? null,
      isWhole: true,
    },
    { head: "CREATED", value: ({ createdAt }) => output.showTime(createdAt) },
    { head: "BY", value: ({ createdBy }) => createdBy },
    { head: "PROMPT", value: ({ prompt }) => prompt, isKey: true },
  ];
}
