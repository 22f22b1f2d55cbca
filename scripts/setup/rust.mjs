/** The Rust toolchain that `rust-toolchain.toml` selects. */
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { capture, run, StepError } from "../child.mjs";
import { ROOT } from "../versions.mjs";
import { findOnPath } from "./programs.mjs";

const TOOLCHAIN = join(ROOT, "rust-toolchain.toml");

const TARGET = "wasm32-unknown-unknown";
const COMPONENTS = ["rustfmt", "clippy", "rust-src"];

export const rust = {
  title: "the Rust toolchain",
  async find(env) {
    const { hasToolchain, missing } = await findToolchain(env);
    if (!hasToolchain || missing.length > 0) return undefined;
    await checkCargo(env);
    return true;
  },
  async install(context) {
    const { env } = context;
    if (!findOnPath("rustup", env)) {
      throw new StepError("rustup is missing: install it from https://rustup.rs/");
    }
    let { hasToolchain, missing } = await findToolchain(env);
    if (!hasToolchain) {
      await run("installing the Rust toolchain", "rustup", ["toolchain", "install"], context);
      ({ missing } = await findToolchain(env));
    }
    if (missing.includes(TARGET)) {
      await run(`adding the target ${TARGET}`, "rustup", ["target", "add", TARGET], context);
    }
    const components = missing.filter((name) => name !== TARGET);
    if (components.length > 0) {
      const args = ["component", "add", ...components];
      await run("adding Rust components", "rustup", args, context);
    }
  },
};

async function findToolchain(env) {
  // This list contains targets too, as the component rust-std-<target>.
  const list = ["component", "list", "--installed"];
  const { code, stdout } = await capture("rustup", list, { env });
  const isInstalled = (name) => stdout.split("\n").some((line) => line.startsWith(name));
  const missing = COMPONENTS.filter((name) => !isInstalled(name));
  if (!isInstalled(`rust-std-${TARGET}`)) missing.push(TARGET);
  return { hasToolchain: code === 0, missing };
}

/** Another Cargo before rustup's on the PATH, such as Homebrew's, ignores `rust-toolchain.toml`. */
async function checkCargo(env) {
  const [, version] = /^channel = "(.*)"$/m.exec(await readFile(TOOLCHAIN, "utf8"));
  const { stdout } = await capture("cargo", ["--version"], { cwd: ROOT, env });
  if (stdout.startsWith(`cargo ${version} `)) return;
  const found = findOnPath("cargo", env);
  throw new StepError(
    `${found ?? "cargo"} is not Cargo ${version}: put rustup's folder, usually ~/.cargo/bin, first on the PATH, and unset RUSTUP_TOOLCHAIN and overrides of rustup`,
  );
}

/** Adds Cargo's folder to the PATH, for shells that were opened before rustup was installed. */
export function withCargoOnPath(env) {
  const folder = join(env.CARGO_HOME ?? join(homedir(), ".cargo"), "bin");
  const folders = (env.PATH ?? "").split(delimiter);
  if (folders.includes(folder)) return { ...env };
  return { ...env, PATH: [...folders, folder].join(delimiter) };
}
