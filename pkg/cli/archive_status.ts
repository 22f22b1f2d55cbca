/** `quillgate archive status`: prints the archive's progress, missing days and failures. */

import type { Context } from "./command.js";
import { connectToGateway } from "./connection.js";
import { showValue, writeFields, writeNumber } from "./table.js";

export async function run(context: Context): Promise<undefined> {
  const { output, signal } = context;
  const { client } = await connectToGateway(context);
  const status = await client.analytics.archiveStatus({ signal });
  if (output.json) {
    await output.printJson(status);
    return;
  }
  const fields = writeFields([
    ["first day", status.dateFrom],
    ["days held", status.complete],
    ["days begun", status.partial],
    ["days that fail", status.failed],
    ["requests needed", status.requests],
    ["hours needed", status.hours ?? "never: the archive's share of the budget is too small"],
    ["complete at", status.completeAt],
    ["database", status.bytes === null ? null : `${writeNumber(status.bytes)} bytes`],
  ]);
  await output.write(fields);
  for (const { dateFrom, dateTo } of status.missing) {
    await output.print(`missing: from ${showValue(dateFrom)} to before ${showValue(dateTo)}`);
  }
  for (const { date, problem, attempts, retryAt } of status.failures) {
    const again = `${showValue(attempts)} attempts, again at ${showValue(retryAt)}`;
    await output.print(`fails: ${showValue(date)}, ${showValue(problem)} (${again})`);
  }
}
