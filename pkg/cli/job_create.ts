/** `quillgate job create` */

import type { Context } from "./command.js";
import { runWrite } from "./job_write.js";
import { readPrompt } from "./prompt.js";

export async function run(context: Context): Promise<number> {
  const prompt = await readPrompt(context, context.arguments[0]);
  return runWrite(context, (client, options) =>
    client.agentJobs.create({ prompt }, options).then((job) => job),
  );
}
