/**
 * Requirement for schemathesis, which is installed in a virtual environment. Each list of packages
 * and each version of Python has its own environment.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { capture, run, StepError } from "../child.mjs";
import { ROOT } from "../versions.mjs";
import { canUseApt, installWithApt } from "./apt.mjs";
import { toolsFolder } from "./cargo_tools.mjs";
import { compareVersions, findOnPath, versionOf } from "./programs.mjs";

/** Every package, with its hashes. */
const PACKAGES = join(ROOT, "tests", "openapi", "requirements.txt");
/** The oldest Python that all of them support. */
const MIN_VERSION = "3.11.0";
/** Written after a complete installation. */
const STAMP = ".quillgate-installed";

export const python = {
  title: "schemathesis",
  async find(env) {
    const found = await findPython(env);
    if (problemOf(found)) return undefined;
    const folder = await environmentFolder(found, env);
    return existsSync(join(folder, STAMP)) ? join(folder, "bin", "schemathesis") : undefined;
  },
  async install(context) {
    const { env } = context;
    let found = await findPython(env);
    if (problemOf(found) && canUseApt(env) && !env.PYTHON) {
      await installWithApt("Python", ["python3", "python3-venv"], context);
      found = await findPython(env);
    }
    const problem = problemOf(found);
    if (problem) {
      throw new StepError(
        `${problem}: install Python ${MIN_VERSION} or newer with its venv module (python3-venv on ` +
          "Debian and Ubuntu) and put it on the PATH, or set PYTHON to its path",
      );
    }
    await installPackages(found.python, await environmentFolder(found, env), context);
  },
  provide(path, { env, bin }) {
    bin.schemathesis = env.SCHEMATHESIS = path;
  },
};

async function findPython(env) {
  const path = findOnPath(env.PYTHON || "python3", env);
  if (!path) return {};
  const [version, { code }] = await Promise.all([
    versionOf(path, env),
    // Debian ships these modules in a separate package.
    capture(path, ["-c", "import ensurepip, venv"], { env, timeoutMs: 10_000 }),
  ]);
  return { python: path, version, hasVenv: code === 0 };
}

function problemOf({ version, hasVenv }) {
  if (!version) return "Python is missing";
  if (compareVersions(version, MIN_VERSION) < 0) return `Python ${version} is too old`;
  return hasVenv ? undefined : "Python's venv module is missing";
}

async function environmentFolder({ version }, env) {
  const hash = createHash("sha256")
    .update(await readFile(PACKAGES))
    .digest("hex");
  return join(toolsFolder(env), `python-${version}-${hash.slice(0, 16)}`);
}

async function installPackages(program, folder, context) {
  await rm(folder, { recursive: true, force: true });
  await mkdir(dirname(folder), { recursive: true });
  await run("creating a virtual environment", program, ["-m", "venv", folder], context);
  const options = ["--quiet", "--disable-pip-version-check", "--no-input", "--require-hashes"];
  const args = ["-m", "pip", "install", ...options, "-r", PACKAGES];
  await run("installing schemathesis", join(folder, "bin", "python"), args, context);
  await writeFile(join(folder, STAMP), "");
}
