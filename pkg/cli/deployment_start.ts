/** Prints a started deployment, and waits for it if requested. */

import type { Client, StartedDeployment, StartedPreview } from "../index.js";
import type { Context } from "./command.js";
import { reportEnd, watchDeployment } from "./deployment_end.js";
import { getExitCode } from "./exit_codes.js";
import { toLine } from "./table.js";
import { watchStarted } from "./wait.js";

/**
 * Prints the id of a started deployment, so that it is known if the command is interrupted. Without
 * `waits`, also prints the URL of a preview. With `waits`, prints it when the preview is live.
 *
 * With `--json`, prints only one object: the response, or with `waits` also how the deployment ended.
 */
export async function finishStart(
  context: Context,
  client: Client,
  started: StartedDeployment | StartedPreview,
  { timeout, waits }: { timeout: number; waits: boolean },
): Promise<{ code: number; isLive: boolean }> {
  const { output } = context;
  const { statusId } = started;
  const id = toLine(statusId);
  const link = "previewUrl" in started ? started.previewUrl : null;
  if (!output.json) await output.print(id);
  if (!waits) {
    if (output.json) await output.printJson(started);
    else if (link !== null) await output.print(toLine(link));
    output.note(`quillgate: started; to wait: quillgate deployment watch ${id}`);
    return { code: getExitCode("ok"), isLive: false };
  }
  const watched = watchDeployment(context, client, statusId, timeout, (text) => {
    if (!output.interactive) output.note(`quillgate: deployment ${id} is ${text}`);
  });
  const deployment = await watchStarted(context, "deployment", id, watched);
  const end = reportEnd(context, statusId, deployment);
  if (output.json) await output.printJson({ ...started, isLive: end.isLive, deployment });
  else if (end.isLive && link !== null) await output.print(toLine(link));
  return end;
}
