/** `quillgate job message`: sends a follow-up to a job, and waits for it if requested. */

import type { Context } from "./command.js";
import { readFullId } from "./job_id.js";
import { runWrite } from "./job_write.js";

export async function run(context: Context): Promise<number> {
  const [id = null, argument] = context.arguments;
  return runWrite(context, argument, async (client, prompt, options) => {
    const full = await readFullId(context, client, id);
    const job = await client.agentJobs.sendMessage(full, { prompt }, options);
    return { ...job, id: job.id ?? full };
  });
}
