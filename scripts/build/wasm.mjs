/** Compiler flags of shipped wasm, and the steps from Cargo's output to glue and optimised wasm. */
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { run } from "../child.mjs";
import { removeExports } from "../exports.mjs";
import { whenChanged } from "../freshness.mjs";
import { withShortNames } from "../glue.mjs";
import { ROOT } from "../versions.mjs";

/**
 * Compiles the standard library from source, so that a panic stops immediately and without a
 * message: a sixth less to download. The switches are unstable, so they need `RUSTC_BOOTSTRAP`.
 */
export const BUILD_STD = ["-Z", "build-std=std,panic_abort"];
/** Flags for {@link BUILD_STD}. */
export const SMALL_FLAGS = [
  "-Zunstable-options",
  "-Cpanic=immediate-abort",
  "-Zlocation-detail=none",
  "-Zfmt-debug=none",
  // With a lower threshold, calls of small functions take more bytes than the functions.
  "-Cllvm-args=-inline-threshold=15",
  // The longer names of the v0 mangling would become part of the glue.
  "-Csymbol-mangling-version=legacy",
];

/** wasm-opt uses only the wasm features that the module declares. */
const WASM_OPT_ARGS = [
  "-Oz",
  ...["--strip-producers", "--strip-target-features"],
  "--minify-imports-and-exports-and-modules",
];
/** Largest function to inline into its only caller, in wasm-opt's units. Found by experiment. */
const MAX_INLINED = 20;
/** Folder of JavaScript that wasm-bindgen copies from crates. */
const SNIPPETS = "snippets";

/**
 * Returns an environment with compiler flags that also keep this machine's paths out of the result.
 *
 * @param {import("../build.mjs").Context} context
 * @param {string[]} flags
 * @returns {NodeJS.ProcessEnv}
 */
export function withFlags({ env }, flags) {
  const home = env.CARGO_HOME ?? join(homedir(), ".cargo");
  const paths = [`--remap-path-prefix=${home}=cargo`, `--remap-path-prefix=${ROOT}=quillgate`];
  return {
    ...env,
    RUSTC_BOOTSTRAP: "1",
    CARGO_ENCODED_RUSTFLAGS: [...paths, ...flags].join("\x1f"),
  };
}

/**
 * @typedef {object} WebModule
 * @property {string} name of the step
 * @property {string} module name of the files
 * @property {string} out folder of the files
 * @property {string[]} [args] for wasm-bindgen
 * @property {boolean} small whether to optimise for size
 * @property {RegExp} [unused] exports without a caller
 */

/**
 * Writes the glue and the wasm of a module that an importer instantiates.
 *
 * @param {WebModule} options
 * @param {string} wasm as Cargo compiled it
 * @param {import("../build.mjs").Context} context
 */
export async function bindForWeb({ name, module, out, args = [], small, unused }, wasm, context) {
  const outputs = [...filesOf(module), SNIPPETS].map((file) => join(out, file));
  await whenChanged({ name, inputs: [wasm], outputs, made: context.made }, async () => {
    await rm(join(out, SNIPPETS), { recursive: true, force: true });
    const web = ["--target", "web", "--omit-default-module-path", ...args];
    if (small) web.push("--remove-name-section", "--remove-producers-section");
    await runBindgen(name, wasm, [...web, "--out-name", module, "--out-dir", out], context);
    if (!small) return;
    const [bound, glue] = [`${module}_bg.wasm`, `${module}.js`].map((file) => join(out, file));
    if (unused) await removeExports(bound, unused);
    const shortNames = await optimiseWasm(name, bound, {}, context);
    await writeFile(glue, withShortNames(await readFile(glue, "utf8"), shortNames));
  });
}

/** Names of the files that wasm-bindgen writes for a module. */
export function filesOf(module) {
  return [".js", ".d.ts", "_bg.wasm", "_bg.wasm.d.ts"].map((ending) => module + ending);
}

/**
 * Runs wasm-bindgen.
 *
 * @param {string} name of the step
 * @param {string} wasm as Cargo compiled it
 * @param {string[]} args
 * @param {import("../build.mjs").Context} context
 */
export async function runBindgen(name, wasm, args, context) {
  await run(`binding the ${name}`, context.bin.wasmBindgen, [...args, wasm], context);
}

/**
 * Optimises a wasm file in place.
 *
 * @param {string} name of the step
 * @param {string} path
 * @param {{ keepNames?: boolean, maxInlined?: number }} options `keepNames`: whether functions keep
 *   their names
 * @param {import("../build.mjs").Context} context
 * @returns {Promise<import("../glue.mjs").ShortNames>} the new names of imports and exports
 */
export async function optimiseWasm(name, path, options, context) {
  const { keepNames = false, maxInlined = MAX_INLINED } = options;
  const optimised = `${path}.tmp`;
  let names = "";
  const onStdout = (chunk) => {
    names += chunk;
  };
  const inlining = `--one-caller-inline-max-function-size=${maxInlined}`;
  const debug = keepNames ? "--debuginfo" : "--strip-debug";
  const args = [...WASM_OPT_ARGS, inlining, debug, path, "-o", optimised];
  await run(`optimising the ${name}`, context.bin.wasmOpt, args, { ...context, onStdout });
  await rename(optimised, path);
  return JSON.parse(names);
}
