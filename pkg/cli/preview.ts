/** `quillgate preview`: creates or updates the preview of a branch. */

import { readWebUrl, showInBrowser } from "./browser.js";
import { type Context, readSwitch } from "./command.js";
import { finishStart } from "./deployment_start.js";
import { readTimeout } from "./wait.js";
import { sendWrite } from "./write.js";

export async function run(context: Context): Promise<number> {
  const [branch = ""] = context.arguments;
  const opens = readSwitch(context, "open");
  const waits = opens || readSwitch(context, "wait");
  const timeout = readTimeout(context);
  const { client, result } = await sendWrite(context, async (client, options) =>
    client.previews.create({ branch }, options),
  );
  const { code, isLive } = await finishStart(context, client, result, { timeout, waits });
  const url = readWebUrl(result.previewUrl);
  if (opens && isLive) {
    if (url === undefined) context.output.warn("Mintlify sent no URL of the preview to open");
    else await showInBrowser(context, url);
  }
  return code;
}
