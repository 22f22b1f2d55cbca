import { run, StepError } from "./child.mjs";
import { ROOT } from "./versions.mjs";

/**
 * Builds with Cargo and tells where the results are, wherever the user's
 * configuration puts the target folder. Progress and warnings are shown.
 *
 * @param {string} step what the build is for
 * @param {string[]} args arguments after `cargo build`
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv }} [options]
 * @returns {Promise<{ target: string, files: string[], executable: string | null }[]>}
 */
export async function cargoBuild(step, args, { cwd = ROOT, env = process.env } = {}) {
  let messages = "";
  const format = "--message-format=json-render-diagnostics";
  await run(step, "cargo", ["build", ...args, format], {
    cwd,
    env,
    onStdout: (chunk) => {
      messages += chunk;
    },
  });
  return messages
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line))
    .filter(({ reason }) => reason === "compiler-artifact")
    .map(({ target, filenames, executable }) => ({
      target: target.name,
      files: filenames,
      executable,
    }));
}

/**
 * Builds a package's library for wasm32.
 *
 * @returns {Promise<string>} the path of the `.wasm` file
 */
export async function cargoBuildWasm(step, crate, args, options) {
  const release = ["--release", "--target", "wasm32-unknown-unknown", "--lib"];
  const artifacts = await cargoBuild(step, [...release, ...args], options);
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
 * @returns {Promise<string>} the path of the executable
 */
export async function cargoBuildProgram(step, crate, options) {
  const artifacts = await cargoBuild(step, ["--quiet", "-p", crate], options);
  const built = artifacts.find(({ target, executable }) => target === crate && executable);
  if (!built) throw new StepError(`${step}: the package ${crate} has no program of that name`);
  return built.executable;
}
