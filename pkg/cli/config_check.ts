/** `quillgate config check`: checks a gateway's configuration before a deployment. */

import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type Context, readText } from "./command.js";
import { UsageError } from "./errors.js";
import { getExitCode } from "./exit_codes.js";
import { type CheckModule, loadGatewayModule, MISSING_PACKAGE } from "./gateway_package.js";
import { toLine } from "./table.js";

export async function run(context: Context): Promise<number> {
  const { host, output } = context;
  const module = await loadGatewayModule<CheckModule>(host, "check");
  if (module === undefined) {
    // In the wrong folder, the package is missing as well. Report the missing configuration.
    if (readText(context, "config") === undefined && !hasConfiguration(host.folder)) {
      throw new UsageError(`there is no wrangler.toml in ${host.folder}`);
    }
    throw new UsageError(MISSING_PACKAGE);
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
  const note =
    unchecked.length > 0
      ? `; not checked, because their values are unknown: ${unchecked.join(", ")}`
      : "";
  output.note(
    `quillgate: the configuration is valid, with ${count} ${count === 1 ? "variable" : "variables"}${note}`,
  );
  return getExitCode("ok");
}

/** Looks for a wrangler configuration in a folder and its parents, as wrangler does. */
function hasConfiguration(folder: string): boolean {
  const names = ["wrangler.toml", "wrangler.json", "wrangler.jsonc"];
  if (names.some((name) => existsSync(join(folder, name)))) return true;
  return folder !== dirname(folder) && hasConfiguration(dirname(folder));
}
