/** `quillgate job list` */

import { type Context, readText } from "./command.js";
import { connect } from "./connection.js";
import { readCount } from "./duration.js";
import { writeTable } from "./table.js";

/** The maximum number of jobs per page. */
const MAX_PER_PAGE = 100;

export async function run(context: Context): Promise<undefined> {
  const { output, signal } = context;
  const maxRows = readCount(readText(context, "rows") ?? "25", "--rows");
  const { client } = await connect(context);
  const limit = Math.min(maxRows, MAX_PER_PAGE);
  const jobs = await client.agentJobs.list({ limit }, { signal }).all({ maxRows });
  if (output.json) {
    await output.printJson(jobs);
    return;
  }
  const table = writeTable(
    jobs,
    [
      { head: "ID", value: ({ id }) => id, isWhole: true },
      { head: "STATUS", value: ({ status }) => status },
      {
        head: "CREATED",
        value: ({ createdAt }) => createdAt,
        short: ({ createdAt }) => toMinutes(createdAt),
      },
      { head: "BY", value: ({ createdBy }) => createdBy },
      { head: "PULL REQUEST", value: ({ prLink }) => prLink, isWhole: true },
      { head: "PROMPT", value: ({ prompt }) => prompt },
    ],
    output.columns,
  );
  await output.write(table);
}

/** Shortens a UTC date-time to `YYYY-MM-DD HH:MM`. */
function toMinutes(time: string | null): string | null {
  return time?.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d).*Z$/, "$1 $2") ?? null;
}
