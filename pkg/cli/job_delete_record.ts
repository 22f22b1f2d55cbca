/** `quillgate job delete-record`: deletes the gateway's record of a job. */

import { type Context, readSwitch } from "./command.js";
import { connectToGateway } from "./connection.js";
import { UsageError } from "./errors.js";
import { ask } from "./question.js";
import { toLine } from "./table.js";

export async function run(context: Context): Promise<undefined> {
  const { output, signal } = context;
  const [id = ""] = context.arguments;
  if (!readSwitch(context, "yes")) await confirm(context, id);
  const { client } = await connectToGateway(context);
  await client.agentJobs.deleteRecord(id, { signal });
  if (output.json) await output.printJson({ deleted: id });
  else output.note(`quillgate: the record of job ${toLine(id)} is deleted`);
}

/** @throws {UsageError} unless the user confirms */
async function confirm(context: Context, id: string): Promise<void> {
  const { host, output } = context;
  if (host.stdin.isTTY !== true || !output.interactive) {
    throw new UsageError("--yes is required, because the command cannot ask", [
      "it asks on a terminal, without --json and --quiet",
    ]);
  }
  const answer = await ask(context, `Delete the record of job ${toLine(id)}? (y/N)`);
  if (!/^y(es)?$/i.test(answer)) throw new UsageError("the record was not deleted");
}
