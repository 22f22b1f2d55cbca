/** Loads single modules of the action. */
import { join } from "node:path";
import { build } from "esbuild";
import { ROOT } from "../../scripts/versions.mjs";

export async function loadModule(name) {
  const { outputFiles } = await build({
    ...{ entryPoints: [join(ROOT, "action", "src", name)], bundle: true, write: false },
    ...{ platform: "node", format: "esm", target: "node20.19" },
  });
  const source = Buffer.from(outputFiles[0].contents).toString("base64");
  return import(`data:text/javascript;base64,${source}`);
}
