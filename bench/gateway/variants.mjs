/** The Workers of the benchmark, including the upstream, and their bundles. */
import { copyFile, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { ROOT } from "../../scripts/versions.mjs";

const WORKERS = fileURLToPath(new URL("workers/", import.meta.url));

/** Output folder of `npm run build -- worker`. */
export const PRESENT = join(ROOT, "worker", "build");
export const SCRIPT = "index.js";
export const WASM = "gateway_bg.wasm";
export const TEXT = "openapi.txt";
/** Files of a built Worker. */
export const MODULES = [SCRIPT, WASM, TEXT];
/** Processor times, cold start and size are compared with the build of this commit. */
export const BASELINE_COMMIT = "d66a0cde";

/**
 * A Worker of the benchmark. Its bundle is a folder with the variant's name, which contains
 * {@link SCRIPT}.
 *
 * @typedef {object} Variant
 * @property {string} [description] for the report
 * @property {boolean} [isBuild] whether it is a build of Quillgate, with all {@link MODULES}
 * @property {boolean} [hasObjects] whether it has both Durable Object classes
 *
 * @type {Record<string, Variant>}
 */
export const VARIANTS = {
  quillgate: { description: "the current Worker", isBuild: true, hasObjects: true },
  baseline: { description: `the Worker of ${BASELINE_COMMIT}`, isBuild: true, hasObjects: true },
  hono: { description: "Hono with its middleware, same checks, job reads only" },
  upstream: {},
};

/** Durable Object classes by binding name. */
export const OBJECTS = { PROJECT_GATE: "ProjectGate", ORG_GATE: "OrgGate" };

/**
 * Writes all bundles to a folder. The Worker must have been built.
 *
 * @param {string} folder
 * @param {string} [baseline] folder with the baseline build
 */
export async function bundleVariants(folder, baseline) {
  for (const name of ["hono", "upstream"]) {
    await bundle(`${name}.mjs`, join(folder, name));
  }
  await copyBuild(PRESENT, join(folder, "quillgate"));
  if (baseline) await copyBuild(baseline, join(folder, "baseline"));
}

async function bundle(file, outdir) {
  await build({ entryPoints: [{ in: join(WORKERS, file), out: "index" }], outdir, ...OPTIONS });
}

const OPTIONS = {
  bundle: true,
  format: "esm",
  target: "es2023",
  // The conditions of Cloudflare's bundler.
  conditions: ["workerd", "worker", "browser"],
  external: ["cloudflare:*"],
  loader: { ".txt": "copy", ".wasm": "copy" },
  assetNames: "[name]",
  logLevel: "error",
};

async function copyBuild(from, to) {
  await mkdir(to);
  for (const name of MODULES) await copyFile(join(from, name), join(to, name));
}

/** Reads the compatibility date and flags of the deployed gateway. */
export async function readCompatibility() {
  const text = await readFile(join(ROOT, "worker", "wrangler.toml"), "utf8");
  const date = /^compatibility_date = "(.+)"$/m.exec(text)?.[1];
  const flags = /^compatibility_flags = (\[.*\])$/m.exec(text)?.[1];
  if (!date || !flags) throw new Error("worker/wrangler.toml has no compatibility date or flags");
  return { date, flags: JSON.parse(flags) };
}
