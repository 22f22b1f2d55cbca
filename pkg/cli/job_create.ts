/** `quillgate job create`: creates an agent job, and waits for it if requested. */

import { type Context, readText } from "./command.js";
import { runWrite } from "./job_write.js";

export async function run(context: Context): Promise<number> {
  const webhookUrl = readText(context, "webhook-url");
  return runWrite(context, context.arguments[0], (client, prompt, options) =>
    client.agentJobs.create({ prompt }, { ...options, webhookUrl }),
  );
}
