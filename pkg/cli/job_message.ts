/** `quillgate job message`: sends a follow-up to a job, and waits for it if requested. */

import type { Context } from "./command.js";
import { readFullId } from "./job_id.js";
import { runWrite } from "./job_write.js";
import { readPrompt } from "./prompt.js";

export async function run(context: Context): Promise<number> {
  const [id = null, argument] = context.arguments;
  const prompt = await readPrompt(context, argument);
  return runWrite(context, async (client, options) => {
    const full = await readFullId(context, client, id);
    const job = await client.agentJobs.sendMessage(full, { prompt }, options);
    return { ...job, id: job.id ?? full };
  });
}
