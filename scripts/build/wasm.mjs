/** The steps from Cargo's output to glue and optimised wasm. */
import { rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { run } from "../child.mjs";
import { whenChanged } from "../freshness.mjs";
import { ROOT } from "../versions.mjs";

/** Without `--enable-*` options, wasm-opt uses only the wasm features that the module declares. */
const WASM_OPT_ARGS = ["-Oz", "--strip-producers", "--strip-target-features"];
/** Folder of JavaScript that wasm-bindgen copies from crates. */
const SNIPPETS = "snippets";

/**
 * Returns an environment in which compiled files contain no paths of this machine.
 *
 * @param {NodeJS.ProcessEnv} env
 * @param {string[]} [flags] for the compiler
 * @returns {NodeJS.ProcessEnv}
 */
export function withoutLocalPaths(env, flags = []) {
  const folders = {
    cargo: env.CARGO_HOME ?? join(homedir(), ".cargo"),
    rustup: env.RUSTUP_HOME ?? join(homedir(), ".rustup"),
    quillgate: ROOT,
  };
  const paths = Object.entries(folders).map(
    ([name, folder]) => `--remap-path-prefix=${folder}=${name}`,
  );
  return { ...env, CARGO_ENCODED_RUSTFLAGS: [...paths, ...flags].join("\x1f") };
}

/**
 * @typedef {object} WebModule
 * @property {string} name of the step
 * @property {string} module name of the files
 * @property {string} out folder of the files
 * @property {string[]} [args] for wasm-bindgen
 * @property {boolean} optimise whether to make the wasm smaller
 */

/**
 * Writes the glue and the wasm of a module that an importer instantiates.
 *
 * @param {WebModule} options
 * @param {string} wasm path of the file that Cargo compiled
 * @param {import("../build.mjs").Context} context
 */
export async function bindForWeb({ name, module, out, args = [], optimise }, wasm, context) {
  const outputs = [...filesOf(module), SNIPPETS].map((file) => join(out, file));
  await whenChanged({ name, inputs: [wasm], outputs, made: context.made }, async () => {
    await rm(join(out, SNIPPETS), { recursive: true, force: true });
    const web = ["--target", "web", "--omit-default-module-path", ...args];
    if (optimise) web.push("--remove-name-section", "--remove-producers-section");
    await runBindgen(name, wasm, [...web, "--out-name", module, "--out-dir", out], context);
    if (optimise) await optimiseWasm(name, join(out, `${module}_bg.wasm`), [], context);
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
 * @param {string} wasm path of the file that Cargo compiled
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
 * @param {string[]} args for wasm-opt
 * @param {import("../build.mjs").Context} context
 */
export async function optimiseWasm(name, path, args, context) {
  const optimised = `${path}.tmp`;
  const all = [...WASM_OPT_ARGS, ...args, path, "-o", optimised];
  await run(`optimising the ${name}`, context.bin.wasmOpt, all, context);
  await rename(optimised, path);
}
