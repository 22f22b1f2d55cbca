import { basename, join } from "node:path";
import { run, StepError } from "./child.mjs";
import { ROOT } from "./versions.mjs";

const WASM_TARGET = "wasm32-unknown-unknown";
/** Only what Cargo.lock names is compiled; a lock file that does not fit is an error. */
export const LOCKED = "--locked";

/**
 * @typedef {object} CargoOptions
 * @property {string} [cwd]
 * @property {NodeJS.ProcessEnv} [env]
 * @property {AbortSignal} [signal]
 * @property {string[]} [compiled] receives the name of every crate that had to be compiled
 */

/**
 * Runs a Cargo command that compiles, and tells where the results are, wherever the user's
 * configuration puts the target folder. Progress and warnings are shown.
 *
 * @param {string} step what the command is for
 * @param {string} command such as `build`
 * @param {string[]} args
 * @param {CargoOptions} [options]
 * @returns {Promise<{ target: string, files: string[], executable: string | null }[]>}
 */
export async function cargo(step, command, args, options = {}) {
  const { cwd = ROOT, env = process.env, signal, compiled } = options;
  let messages = "";
  const format = "--message-format=json-render-diagnostics";
  const onStdout = (chunk) => {
    messages += chunk;
  };
  await run(step, "cargo", [command, LOCKED, format, ...args], { cwd, env, signal, onStdout });
  const artifacts = messages
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line))
    .filter(({ reason }) => reason === "compiler-artifact");
  const crates = artifacts.filter(({ fresh }) => !fresh).map((artifact) => crateOf(artifact));
  compiled?.push(...new Set(crates));
  return artifacts.map(({ target, filenames, executable }) => ({
    target: target.name,
    files: filenames,
    executable,
  }));
}

/** `…#serde@1.0.228`, or `…/worker#0.1.0` where the folder has the crate's name. */
function crateOf({ package_id: id }) {
  const [, source, name] = /^(.*)#(.*)$/.exec(id);
  return name.includes("@") ? name.split("@")[0] : basename(source);
}

/**
 * Builds a package's library for wasm32.
 *
 * @param {string} step what the build is for
 * @param {string} crate
 * @param {string[]} args arguments after `cargo build`
 * @param {CargoOptions} options
 * @returns {Promise<string>} the path of the `.wasm` file
 */
export async function cargoBuildWasm(step, crate, args, options) {
  const library = ["--target", WASM_TARGET, "--lib"];
  const artifacts = await cargo(step, "build", [...library, ...args], options);
  const target = crate.replaceAll("-", "_");
  const wasm = artifacts
    .filter((artifact) => artifact.target === target)
    .flatMap((artifact) => artifact.files)
    .find((file) => file.endsWith(".wasm"));
  if (!wasm) throw new StepError(`${step}: ${crate} has no wasm result; is it a cdylib?`);
  return wasm;
}

/**
 * Builds a package's program for this machine.
 *
 * @param {string} step what the build is for
 * @param {string} crate
 * @param {string[]} args arguments after `cargo build`
 * @param {CargoOptions} options
 * @returns {Promise<string>} the path of the executable
 */
export async function cargoBuildProgram(step, crate, args, options) {
  const artifacts = await cargo(step, "build", ["--quiet", "-p", crate, ...args], options);
  const built = artifacts.find(({ target, executable }) => target === crate && executable);
  if (!built) throw new StepError(`${step}: the package ${crate} has no program of that name`);
  return built.executable;
}

/**
 * A target folder of its own, for flags or features of its own. In a shared one Cargo keeps one
 * result of a `cdylib`, so that commands would compile again what others have just compiled.
 */
export function targetFolder(name) {
  return ["--target-dir", join(ROOT, "target", name.replaceAll(" ", "-"))];
}
