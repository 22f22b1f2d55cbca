/**
 * Tools that Cargo compiles. Each is compiled once, into a folder that all clones share.
 */
import { rmSync, symlinkSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import { run } from "../child.mjs";
import { digestFiles } from "../files.mjs";
import { ROOT, VERSIONS } from "../versions.mjs";
import { findOnPath, isExecutable, versionOf } from "./programs.mjs";

const BINDGEN = join(ROOT, "scripts", "bindgen");
/** These programs run for seconds, so compile time matters more than run time. */
const QUICK_COMPILATION = {
  CARGO_PROFILE_DEV_DEBUG: "0",
  CARGO_PROFILE_DEV_OPT_LEVEL: "0",
  CARGO_INCREMENTAL: "0",
};

/** Writes the JavaScript glue of a wasm file. */
export const wasmBindgen = localTool({
  title: "wasm-bindgen",
  programs: { wasmBindgen: "quillgate-bindgen" },
});

/** Runs tests compiled to wasm, for Cargo (`.cargo/config.toml`) and for wasm-pack. */
export const wasmTestRunner = localTool({
  title: "wasm-bindgen-test-runner",
  programs: {
    wasmBindgenTestRunner: "wasm-bindgen-test-runner",
    wasmBindgenCli: "wasm-bindgen",
  },
  features: ["test-runner"],
  // The path in `.cargo/config.toml`.
  link: join(ROOT, "node_modules", ".bin", "wasm-bindgen-test-runner"),
});

export const wasmPack = registryTool("wasm-pack", "wasmPack");

export const cargoDeny = registryTool("cargo-deny", "cargoDeny");

/** Returns the folder of installed tools. */
export function toolsFolder(env) {
  return join(env.XDG_CACHE_HOME || join(homedir(), ".cache"), "quillgate", "tools");
}

/** A tool of the crate in `scripts/bindgen`, installed again whenever the crate changes. */
function localTool({ title, programs, features = [], link }) {
  const folder = async (env) => {
    const digest = await digestFiles([BINDGEN]);
    const name = ["quillgate-bindgen", digest.slice(0, 16), ...features].join("-");
    return join(toolsFolder(env), name);
  };
  const flags = features.flatMap((feature) => ["--features", feature]);
  return {
    title,
    async find(env) {
      const bin = join(await folder(env), "bin");
      const paths = Object.values(programs).map((program) => join(bin, program));
      return paths.every(isExecutable) ? bin : undefined;
    },
    install: async (context) =>
      cargoInstall(title, ["--path", BINDGEN, ...flags], await folder(context.env), context),
    provide(bin, context) {
      provide(programs, bin, context);
      if (!link) return;
      rmSync(link, { force: true });
      symlinkSync(join(bin, basename(link)), link);
    },
  };
}

/** A tool from crates.io. It is not installed if the PATH has the pinned version. */
function registryTool(crate, key) {
  const version = VERSIONS[key];
  const programs = { [key]: crate };
  const folder = (env) => join(toolsFolder(env), `${crate}-${version}`);
  return {
    title: `${crate} ${version}`,
    async find(env) {
      const installed = join(folder(env), "bin");
      if (isExecutable(join(installed, crate))) return installed;
      const onPath = findOnPath(crate, env);
      const isPinned = onPath && (await versionOf(onPath, env)) === version;
      return isPinned ? dirname(onPath) : undefined;
    },
    install: (context) =>
      cargoInstall(crate, [crate, "--version", version], folder(context.env), context),
    provide: (bin, context) => provide(programs, bin, context),
  };
}

async function cargoInstall(title, source, folder, context) {
  await mkdir(folder, { recursive: true });
  const args = ["install", ...source, "--locked", "--profile", "dev", "--root", folder];
  const target = { CARGO_TARGET_DIR: join(toolsFolder(context.env), "target") };
  const env = { ...context.env, ...QUICK_COMPILATION, ...target };
  await run(`installing ${title}`, "cargo", args, { ...context, env });
}

function provide(programs, folder, { env, bin }) {
  for (const [key, program] of Object.entries(programs)) {
    bin[key] = join(folder, program);
    // Only if the PATH names another: /usr/bin must not precede the folder of the user's Node.js.
    if (findOnPath(program, env) !== bin[key]) env.PATH = [folder, env.PATH].join(delimiter);
  }
}
