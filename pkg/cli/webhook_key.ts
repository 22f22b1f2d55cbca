/** `quillgate webhook key`: prints the keys that verify a project's webhooks. */

import { type Context, readText } from "./command.js";
import { UsageError } from "./errors.js";
import { loadGatewayModule, MISSING_PACKAGE, type WebhookKeyModule } from "./gateway_package.js";
import { readSecret } from "./standard_input.js";

export async function run(context: Context): Promise<undefined> {
  const { host, output } = context;
  const [project, url] = ["project", "url"].map((name) => readText(context, name));
  if (project === undefined) throw new UsageError("--project is missing: the project's id");
  if (url === undefined) throw new UsageError("--url is missing: the receiver's URL");
  const module = await loadGatewayModule<WebhookKeyModule>(host, "webhook-key");
  if (module === undefined) throw new UsageError(MISSING_PACKAGE);
  const secrets = await readSecret(host, "WEBHOOK_SECRET");
  const keys = module.deriveKeys({ project, url }, secrets);
  if (output.json) await output.printJson({ keys });
  else for (const key of keys) await output.print(key);
}
