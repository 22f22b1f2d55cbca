/** `quillgate job list`: prints the jobs created through the gateway. */

import { readPullRequest } from "../values.js";
import { type Context, readText } from "./command.js";
import { connect } from "./connection.js";
import { readCount } from "./duration.js";
import { findOperation } from "./operations.js";
import { showPullRequest } from "./pull_request.js";
import { writeTable } from "./table.js";

const FILTERS = ["state", "author", "text"] as const;

export async function run(context: Context): Promise<undefined> {
  const { output, signal } = context;
  const maxRows = readCount(readText(context, "rows") ?? "25", "--rows");
  const filters = FILTERS.map((name) => [name, readText(context, name)] as const);
  const { client } = await connect(context);
  const limit = Math.min(maxRows, readMaxLimit());
  const params = { limit, ...Object.fromEntries(filters) };
  const jobs = await client.agentJobs.list(params, { signal }).all({ maxRows });
  if (output.json) {
    await output.printJson(jobs);
    return;
  }
  const table = writeTable(
    jobs,
    [
      { head: "ID", value: ({ id }) => id, isWhole: true },
      { head: "STATUS", value: ({ status }) => status },
      { head: "CREATED", value: ({ createdAt }) => output.showTime(createdAt) },
      { head: "BY", value: ({ createdBy }) => createdBy },
      {
        head: "PULL REQUEST",
        value: ({ prLink }) => showPullRequest(prLink),
        label: ({ prLink }) => readPullRequest(prLink)?.number ?? showPullRequest(prLink),
        link: ({ prLink }) => readPullRequest(prLink)?.href ?? null,
        isWhole: true,
      },
      { head: "PROMPT", value: ({ prompt }) => prompt },
    ],
    { width: output.columns, hasLinks: output.hasLinks },
  );
  await output.write(table);
}

/** Returns the maximum of the parameter `limit`. */
function readMaxLimit(): number {
  const { parameters } = findOperation("agentJobs.list");
  return parameters.find(({ name }) => name === "limit")?.max ?? Number.POSITIVE_INFINITY;
}
