/** Builds the Worker: its wasm and the JavaScript entry around it. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { cargoBuildWasm, targetFolder } from "../cargo.mjs";
import { StepError } from "../child.mjs";
import { ROOT } from "../versions.mjs";
import { generate } from "./generator.mjs";
import { bindForWeb, withoutLocalPaths } from "./wasm.mjs";

/**
 * @typedef {object} Variant
 * @property {string} name unique, because it also names the records of the steps
 * @property {boolean} optimise whether to make the wasm smaller
 * @property {string[]} cargoArgs
 * @property {string} out folder of `index.js`
 */

export const WORKER = join(ROOT, "worker");
const ENTRY = join(WORKER, "entry");
const BUILD = join(WORKER, "build");
/** The OpenAPI document. A text module, because a string in the script would delay every start. */
const DESCRIPTION = "openapi.txt";
const MODULES = ["index.js", "gateway_bg.wasm", DESCRIPTION];
/** Files of the deployed Worker. */
export const WORKER_MODULES = MODULES.map((file) => join(BUILD, file));

/** The Worker that is tested and deployed. */
const RELEASE = Object.freeze({
  name: "worker",
  optimise: true,
  cargoArgs: ["--profile", "worker", ...targetFolder("worker")],
  out: BUILD,
});
/**
 * The Worker of `npm start`. It shares the dependencies that the wasm tests compile. Tests make it
 * panic, with the route of the feature `trap-route`.
 */
const START = Object.freeze({
  name: "start worker",
  optimise: false,
  cargoArgs: ["--features", "trap-route"],
  out: join(BUILD, "start"),
});
export const START_MAIN = join(START.out, "index.js");
/** Adds `__wbg_reset_state`, with which the entry replaces the instance after a trap. */
const BINDGEN_ARGS = ["--experimental-reset-state-function"];

/**
 * Builds a variant of the Worker: by default the deployed one, into `worker/build/`.
 *
 * @param {import("../build.mjs").Context} context
 * @param {Variant} [variant]
 */
export async function buildWorker(context, variant = RELEASE) {
  const { name, optimise, out } = variant;
  const core = join(out, "core");
  await mkdir(core, { recursive: true });
  await generate(`${name} description`, "openapi", join(core, DESCRIPTION), context);
  const wasm = await compile(variant, context);
  const options = { module: "gateway", out: core, args: BINDGEN_ARGS, optimise };
  await bindForWeb({ name: `${name} core`, ...options }, wasm, context);
  await bundleEntry(variant, core);
}

/**
 * Builds the Worker of `npm start` into `worker/build/start/`.
 *
 * @param {import("../build.mjs").Context} context
 */
export async function buildStartWorker(context) {
  await buildWorker(context, START);
}

function compile({ name, optimise, cargoArgs }, context) {
  const crate = "quillgate-worker";
  const env = optimise ? withoutLocalPaths(context.env) : context.env;
  return cargoBuildWasm(`compiling the ${name}`, crate, ["-p", crate, ...cargoArgs], {
    ...context,
    env,
  });
}

/** Bundles the entry with a core. */
async function bundleEntry({ out }, core) {
  // Imported here because this file is loaded before the npm packages are installed.
  const { build: esbuild } = await import("esbuild");
  await esbuild({
    entryPoints: [join(ENTRY, "index.js")],
    outdir: out,
    bundle: true,
    format: "esm",
    target: "es2023",
    external: ["cloudflare:*"],
    loader: { ".wasm": "copy", ".txt": "copy" },
    assetNames: "[name]",
    logLevel: "warning",
    plugins: [withCore(core)],
  }).catch(() => {
    throw new StepError("bundling the Worker failed");
  });
}

/**
 * Resolves the entry's imports of `../build/core/` to a core.
 *
 * @returns {import("esbuild").Plugin}
 */
function withCore(core) {
  return {
    name: "core",
    setup({ onResolve }) {
      onResolve({ filter: /^\.\.\/build\/core\// }, ({ path }) => ({
        path: join(core, path.slice("../build/core/".length)),
      }));
    },
  };
}
