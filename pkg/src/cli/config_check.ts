/** `quillgate config check` */

import { resolve } from "node:path";
import { type Context, readText, UsageError } from "./command.js";
import { exitCode } from "./exit_codes.js";
import { type CheckModule, loadGatewayModule } from "./gateway_package.js";
import { toLine } from "./table.js";

export async function run(context: Context): Promise<number> {
  const { host, output } = context;
  const module = await loadGatewayModule<CheckModule>(host, "check");
  if (module === undefined) {
    throw new UsageError(
      "quillgate-gateway is not installed here: npm install --save-dev quillgate-gateway",
    );
  }
  const secrets = readText(context, "secrets");
  const { problems } = await module.checkConfig({
    configFile: resolve(host.folder, readText(context, "config") ?? "wrangler.toml"),
    env: readText(context, "env"),
    secretsFile: secrets === undefined ? undefined : resolve(host.folder, secrets),
  });
  if (output.json) await output.printJson({ problems });
  else for (const { name, message } of problems) await output.print(toLine(`${name}: ${message}`));
  if (problems.length > 0) return exitCode("findings");
  output.note("quillgate: the variables are right");
  return exitCode("ok");
}
