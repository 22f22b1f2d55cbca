/** `quillgate deployment watch`: prints every change of a deployment until it ends. */

import type { Context } from "./command.js";
import { connect } from "./connection.js";
import { reportEnd, watchDeployment } from "./deployment_end.js";
import { readTimeout } from "./wait.js";

export async function run(context: Context): Promise<number> {
  const { output } = context;
  const [id = null] = context.arguments;
  const timeout = readTimeout(context);
  const { client } = await connect(context);
  const ended = await watchDeployment(context, client, id, timeout, (text, deployment) =>
    output.json ? output.printJsonLine(deployment) : output.print(text),
  );
  return reportEnd(context, id, ended).code;
}
