import { join } from "node:path";
import { build } from "esbuild";
import { ROOT } from "../../scripts/versions.mjs";

/** Bundles and imports a module of `www/src/`. Node.js 20 does not run TypeScript. */
export async function importSource(name) {
  return import(await bundleSource(name));
}

/** Imports a module about the rows of reports. */
export const importRows = (name) => importSource(`analytics/rows/${name}`);

export async function bundleSource(name) {
  const { outputFiles } = await build({
    entryPoints: [join(ROOT, "www", "src", name)],
    bundle: true,
    format: "esm",
    platform: "browser",
    write: false,
    logLevel: "silent",
    loader: { ".css": "empty", ".module.css": "empty" },
  });
  const code = Buffer.from(outputFiles[0].contents).toString("base64");
  return `data:text/javascript;base64,${code}`;
}
