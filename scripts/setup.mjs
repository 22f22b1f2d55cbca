/**
 * Installs what the other scripts need, and skips what is already installed. It imports no npm
 * packages, because it runs before they are installed.
 */
import { delimiter, join } from "node:path";
import { runMain, StepError } from "./child.mjs";
import { cliPrograms, firefox } from "./setup/apt.mjs";
import { browser } from "./setup/browser.mjs";
import { cargoDeny, wasmBindgen, wasmPack, wasmTestRunner } from "./setup/cargo_tools.mjs";
import { npmPackages, packageTools } from "./setup/npm_packages.mjs";
import { compareVersions } from "./setup/programs.mjs";
import { python } from "./setup/python.mjs";
import { rust, withCargoOnPath } from "./setup/rust.mjs";
import { ROOT } from "./versions.mjs";

/** Optional requirements, in the order of their installation. */
const OPTIONAL = {
  wasmBindgen,
  wasmTestRunner,
  wasmPack,
  cargoDeny,
  packageTools,
  python,
  browser,
  firefox,
  cliPrograms,
};

/** Installs what is missing. `find` of a requirement returns what `provide` receives, if anything. */
export async function setup(needs = {}, { verbose = false } = {}) {
  const started = performance.now();
  checkSystem();
  const env = withCargoOnPath(process.env);
  const context = { env, bin: npmPrograms(), verbose };
  const requirements = [rust, npmPackages, ...selectOptional(needs)];

  // Checks run concurrently, installations one after another.
  const found = await Promise.all(requirements.map((requirement) => requirement.find(env)));
  for (const [index, requirement] of requirements.entries()) {
    const value = found[index] ?? (await install(requirement, context));
    requirement.provide?.(value, context);
  }
  env.PATH = [join(ROOT, "node_modules", ".bin"), env.PATH].join(delimiter);
  console.log(`setup: ready (${secondsSince(started)})`);
  return context;
}

function selectOptional(needs) {
  return Object.keys(OPTIONAL)
    .filter((name) => needs[name])
    .map((name) => OPTIONAL[name]);
}

async function install(requirement, context) {
  const { title } = requirement;
  const started = performance.now();
  console.log(`setup: installing ${title} …`);
  await requirement.install(context);
  const found = await requirement.find(context.env);
  if (found === undefined) throw new StepError(`${title} is missing after its installation`);
  console.log(`setup: installed ${title} (${secondsSince(started)})`);
  return found;
}

function checkSystem() {
  if (process.platform === "win32") throw new StepError("Windows is not supported: use WSL");
  const found = process.versions.node;
  if (isSupportedNode(found)) return;
  throw new StepError(
    `Node.js ${found} is not supported: install 20.19, or 22.12 or later, from https://nodejs.org/`,
  );
}

/** The range of Vite. npm silently leaves out its binaries for other versions. */
export function isSupportedNode(version) {
  const isFrom = (first) => compareVersions(version, first) >= 0;
  return isFrom("20.19.0") && (isFrom("22.12.0") || !isFrom("21.0.0"));
}

function npmPrograms() {
  const names = ["tsc", "vite"];
  const path = (name) => join(ROOT, "node_modules", ".bin", name);
  const programs = Object.fromEntries(names.map((name) => [name, path(name)]));
  return { ...programs, wasmOpt: path("wasm-opt") };
}

export function secondsSince(started) {
  return `${((performance.now() - started) / 1000).toFixed(1)} s`;
}

if (process.argv[1] === import.meta.filename) {
  const everything = Object.fromEntries(Object.keys(OPTIONAL).map((name) => [name, true]));
  const verbose = process.argv.includes("--verbose");
  await runMain(() => setup(everything, { verbose }));
}
