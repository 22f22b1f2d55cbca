/** `quillgate automation run`: runs a scheduled automation now. */

import type { Context } from "./command.js";
import { toLine } from "./table.js";
import { sendWrite } from "./write.js";

export async function run(context: Context): Promise<undefined> {
  const { output } = context;
  const [id = ""] = context.arguments;
  const { result } = await sendWrite(context, async (client, options) =>
    client.automations.run(id, options),
  );
  if (output.json) {
    await output.printJson(result);
    return;
  }
  if (result.instanceId !== null) await output.print(toLine(result.instanceId));
  output.note("quillgate: the run is queued; Mintlify's dashboard shows its result");
}
