/** `quillgate deployment delete-record`: deletes the gateway's record of a deployment. */

import type { Context } from "./command.js";
import { connectToGateway } from "./connection.js";
import { confirm } from "./question.js";
import { toLine } from "./table.js";

export async function run(context: Context): Promise<undefined> {
  const { output, signal } = context;
  const [id = ""] = context.arguments;
  const name = toLine(id);
  await confirm(context, `Delete the record of deployment ${name}?`, "the record was not deleted");
  const { client } = await connectToGateway(context);
  await client.deployments.deleteRecord(id, { signal });
  if (output.json) await output.printJson({ deleted: id });
  else output.note(`quillgate: the record of deployment ${name} is deleted`);
}
