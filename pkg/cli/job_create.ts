/** `quillgate job create`: creates an agent job, and waits for it if requested. */

import { type Context, readText } from "./command.js";
import { runWrite } from "./job_write.js";
import { readPrompt } from "./prompt.js";

export async function run(context: Context): Promise<number> {
  const prompt = await readPrompt(context, context.arguments[0]);
  const webhookUrl = readText(context, "webhook-url");
  return runWrite(context, async (client, options) =>
    client.agentJobs.create({ prompt }, { ...options, webhookUrl }),
  );
}
