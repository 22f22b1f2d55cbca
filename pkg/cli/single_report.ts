/** Runs the commands of reports without pages, such as `quillgate caller-stats`. */

import type { Context } from "./command.js";
import { connect } from "./connection.js";
import { explainNoRows } from "./no_rows.js";
import { makeColumns } from "./report_columns.js";
import { type ReportMethod, readLimit, readReport, readReportParams } from "./report_params.js";
import { showValue, writeFields, writeTable } from "./table.js";

type Result = Readonly<Record<string, unknown>>;

export async function run(context: Context): Promise<undefined> {
  const { output, command, signal } = context;
  const operation = readReport(command);
  const params = { ...readReportParams(context, Date.now()), ...readLimit(context) };
  const { client } = await connect(context);
  const result = await callReport(client, operation.name, params, signal);
  if (output.json) {
    await output.printJson(result);
    return;
  }
  const { rows } = operation;
  if (rows === null) {
    await output.write(writeFields(Object.entries(result).filter(isField)));
    return;
  }
  const columns = makeColumns(operation, output);
  await output.write(writeTable(result[rows] as object[], columns, { width: output.columns }));
  if ((result[rows] as object[]).length === 0) explainNoRows(context);
  if (result.hasMore === true) {
    output.note(
      `there are more rows than the ${showValue((result[rows] as object[]).length)} shown`,
    );
  }
}

/** Calls the operation's method with the parameters. `conversation` takes only the thread's id. */
async function callReport(
  { analytics }: Awaited<ReturnType<typeof connect>>["client"],
  name: string,
  params: Record<string, string | number>,
  signal: AbortSignal,
): Promise<Result> {
  const method = name.split(".")[1] as ReportMethod;
  const argument = method === "conversation" ? params.threadId : params;
  // Each report validates its parameters and rejects unknown ones, so the cast is safe.
  return (await analytics[method](argument as never, { signal })) as unknown as Result;
}

function isField(entry: [string, unknown]): entry is [string, string | number | null] {
  return entry[1] === null || ["string", "number"].includes(typeof entry[1]);
}
