/** `quillgate deploy`: publishes the documentation, and waits until it is live if requested. */

import { type Context, readSwitch } from "./command.js";
import { finishStart } from "./deployment_start.js";
import { readTimeout } from "./wait.js";
import { sendWrite } from "./write.js";

export async function run(context: Context): Promise<number> {
  const timeout = readTimeout(context);
  const { client, result } = await sendWrite(context, async (client, options) =>
    client.deployments.create(options),
  );
  const end = await finishStart(context, client, result, {
    timeout,
    waits: readSwitch(context, "wait"),
  });
  return end.code;
}
