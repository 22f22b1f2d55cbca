import { basename, join } from "node:path";
import { run, StepError } from "./child.mjs";
import { ROOT } from "./versions.mjs";

const WASM_TARGET = "wasm32-unknown-unknown";
/** Compiles exactly what Cargo.lock lists, and fails if the lock file is out of date. */
export const LOCKED = "--locked";

/** Compiles, and returns the artifacts that Cargo reports, whatever the target folder. */
export async function cargo(step, command, args, options = {}) {
  const { compiled, verbose, ...others } = options;
  let messages = "";
  const onStdout = (chunk) => {
    messages += chunk;
  };
  const flags = [LOCKED, "--message-format=json-render-diagnostics"];
  if (!verbose) flags.push("--quiet");
  await run(step, "cargo", [command, ...flags, ...args], { ...others, verbose, onStdout });
  const artifacts = messages
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line))
    .filter(({ reason }) => reason === "compiler-artifact");
  const crates = artifacts.filter(({ fresh }) => !fresh).map(crateOf);
  compiled?.push(...new Set(crates));
  return artifacts.map(({ target, filenames, executable }) => ({
    target: target.name,
    files: filenames,
    executable,
  }));
}

/** An id is `…#serde@1.0.228`, or `…/worker#0.1.0` if the folder has the name of the crate. */
function crateOf({ package_id: id }) {
  const [, source, name] = /^(.*)#(.*)$/.exec(id);
  return name.includes("@") ? name.split("@")[0] : basename(source);
}

export async function cargoBuildWasm(step, crate, args, options) {
  const library = ["--target", WASM_TARGET, "--lib"];
  const artifacts = await cargo(step, "build", [...library, ...args], options);
  const target = crate.replaceAll("-", "_");
  const wasm = artifacts
    .filter((artifact) => artifact.target === target)
    .flatMap((artifact) => artifact.files)
    .find((file) => file.endsWith(".wasm"));
  if (!wasm) throw new StepError(`${step}: ${crate} produced no wasm file; is it a cdylib?`);
  return wasm;
}

export async function cargoBuildProgram(step, crate, args, options) {
  const artifacts = await cargo(step, "build", ["-p", crate, ...args], options);
  const built = artifacts.find(({ target, executable }) => target === crate && executable);
  if (!built) throw new StepError(`${step}: the package ${crate} has no binary of the same name`);
  return built.executable;
}

/** Builds of a `cdylib` that share a target folder recompile the crate in turn. */
export function targetFolder(name) {
  return ["--target-dir", join(ROOT, "target", name.replaceAll(" ", "-"))];
}
