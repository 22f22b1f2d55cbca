/** `quillgate job list`: prints the jobs created through the gateway. */

import type { ListedJob } from "../index.js";
import { readPullRequest } from "../values.js";
import { type Context, readSwitch, readText } from "./command.js";
import { connect } from "./connection.js";
import { readCount } from "./duration.js";
import { chooseFormat } from "./format.js";
import { shortenIds } from "./job_id.js";
import { findOperation, readMaxLimit } from "./operations.js";
import { printTable } from "./print_table.js";
import { showPullRequest } from "./pull_request.js";
import type { Column } from "./table.js";
import { openTarget } from "./target.js";
import { escapeCommands } from "./workflow_commands.js";

const FILTERS = ["state", "author", "text"] as const;

export async function run(context: Context): Promise<undefined> {
  const { output, signal } = context;
  const format = chooseFormat(context);
  const maxRows = readCount(readText(context, "rows") ?? "25", "--rows");
  const filters = FILTERS.map((name) => [name, readText(context, name)] as const);
  const { client } = await connect(context);
  const limit = Math.min(maxRows, readMaxLimit(findOperation("agentJobs.list")));
  const params = { limit, ...Object.fromEntries(filters) };
  const jobs = await client.agentJobs.list(params, { signal }).all({ maxRows });
  if (format === "json") {
    await output.printJson(jobs);
  } else if (format === "ndjson") {
    for (const job of jobs) await output.print(escapeCommands(JSON.stringify(job), context.host));
  } else if (jobs.length === 0) {
    output.note("quillgate: no jobs");
  } else {
    await printTable(context, await openTarget(context), jobs, makeColumns(context, jobs));
  }
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
