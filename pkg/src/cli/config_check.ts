/** `quillgate config check` */

import { resolve } from "node:path";
import { type Context, readText, UsageError } from "./command.js";
import { getExitCode } from "./exit_codes.js";
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
  const fileOf = (flag: string) => {
    const path = readText(context, flag);
    return path === undefined ? undefined : resolve(host.folder, path);
  };
  const { problems, count, unchecked } = await module.checkConfig({
    configFile: fileOf("config"),
    env: readText(context, "env"),
    secretsFile: fileOf("secrets"),
  });
  if (output.json) await output.printJson({ problems, count, unchecked });
  else for (const { name, message } of problems) await output.print(toLine(`${name} ${message}`));
  if (problems.length > 0) return getExitCode("findings");
  const note = unchecked.length > 0 ? `; not checked, for want of a value: ${unchecked}` : "";
  output.note(`quillgate: the configuration and its ${count} variables are right${note}`);
  return getExitCode("ok");
}
