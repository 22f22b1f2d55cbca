/** `quillgate job list` */

import { type Context, readText } from "./command.js";
import { connect } from "./connection.js";
import { readCount } from "./duration.js";
import { writeTable } from "./table.js";

/** A page of jobs has no more. */
const MOST_PER_PAGE = 100;

export async function run(context: Context): Promise<undefined> {
  const { output, signal } = context;
  const maxRows = readCount(readText(context, "rows") ?? "25", "--rows");
  const { client } = await connect(context);
  const limit = Math.min(maxRows, MOST_PER_PAGE);
  const jobs = await client.agentJobs.list({ limit }, { signal }).all({ maxRows });
  if (output.json) {
    await output.printJson(jobs);
    return;
  }
  const table = writeTable(
    jobs,
    [
      { head: "ID", value: ({ id }) => id },
      { head: "STATUS", value: ({ status }) => status },
      { head: "CREATED", value: ({ createdAt }) => createdAt },
      { head: "BY", value: ({ createdBy }) => createdBy },
      { head: "PULL REQUEST", value: ({ prLink }) => prLink },
      { head: "PROMPT", value: ({ prompt }) => prompt },
    ],
    output.columns,
  );
  await output.write(table);
}
