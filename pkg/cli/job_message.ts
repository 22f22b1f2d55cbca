/** `quillgate job message`: sends a follow-up to a job, and waits for it if requested. */

import type { Context } from "./command.js";
import { runWrite } from "./job_write.js";
import { readPrompt } from "./prompt.js";

export async function run(context: Context): Promise<number> {
  const [id = null, argument] = context.arguments;
  const prompt = await readPrompt(context, argument);
  return runWrite(context, (client, options) =>
    client.agentJobs.sendMessage(id, { prompt }, options).then((job) => job),
  );
}
