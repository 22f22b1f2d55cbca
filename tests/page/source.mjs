/** The page's own modules, without a browser. */
import { join } from "node:path";
import { build } from "esbuild";
import { ROOT } from "../../scripts/versions.mjs";

/**
 * Imports a module of `www/src/`, which Node.js 20 cannot read as it is.
 *
 * @param {string} name such as `analytics/csv.ts`
 */
export async function importSource(name) {
  const { outputFiles } = await build({
    entryPoints: [join(ROOT, "www", "src", name)],
    bundle: true,
    format: "esm",
    platform: "browser",
    write: false,
    logLevel: "silent",
    loader: { ".css": "empty" },
  });
  const code = Buffer.from(outputFiles[0].contents).toString("base64");
  return import(`data:text/javascript;base64,${code}`);
}
