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

/** Returns an environment in which compiled files contain no paths of this machine. */
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

/** Writes the glue and the wasm of a module that an importer instantiates. */
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

export function filesOf(module) {
  return [".js", ".d.ts", "_bg.wasm", "_bg.wasm.d.ts"].map((ending) => module + ending);
}

export async function runBindgen(name, wasm, args, context) {
  await run(`binding the ${name}`, context.bin.wasmBindgen, [...args, wasm], context);
}

/** Optimises a wasm file in place. */
export async function optimiseWasm(name, path, args, context) {
  const optimised = `${path}.tmp`;
  const all = [...WASM_OPT_ARGS, ...args, path, "-o", optimised];
  await run(`optimising the ${name}`, context.bin.wasmOpt, all, context);
  await rename(optimised, path);
}
