/**
 * Sets up what the other scripts need, and only that. Safe to run again at any
 * time: what is there already is left alone.
 */
import { createHash } from "node:crypto";
import { accessSync, constants, existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { capture, run, runMain, StepError } from "./child.mjs";
import { NODE_MINIMUM, pinMismatch, ROOT, VERSIONS } from "./versions.mjs";

const TARGET = "wasm32-unknown-unknown";
const COMPONENTS = ["rustfmt", "clippy", "rust-src"];
/** Other runtimes, bundlers and checkers: apart, since only the package's tests need them. */
const PACKAGE_TOOLS = join("tests", "package", "tools");
/** The programs in Python, each package with its hashes. */
const PYTHON_PACKAGES = join(ROOT, "tests", "openapi", "requirements.txt");
/** The oldest Python that they all run on. */
const PYTHON_MINIMUM = "3.11.0";

/** What each pinned tool is called, and which programs it must bring. */
const TOOLS = {
  wasmBindgen: {
    crate: "wasm-bindgen-cli",
    programs: ["wasm-bindgen", "wasm-bindgen-test-runner"],
  },
  wasmPack: { crate: "wasm-pack", programs: ["wasm-pack"] },
  // Quick to compile rather than quick to run: it runs for two seconds.
  cargoDeny: { crate: "cargo-deny", programs: ["cargo-deny"], profile: "dev" },
};

/**
 * @typedef {object} Needs
 * @property {boolean} [wasmBindgen] the wasm-bindgen CLI and its test runner
 * @property {boolean} [wasmPack]
 * @property {boolean} [cargoDeny]
 * @property {boolean} [browser] Chromium and the driver of the same version
 * @property {boolean} [firefox]
 * @property {boolean} [spreadsheet] LibreOffice's
 * @property {boolean} [shells] zsh and fish, whose completions are tried where they are
 * @property {boolean} [packageTools] what is in `tests/package/tools`
 * @property {boolean} [python] what is in `tests/openapi/requirements.txt`
 *
 * @typedef {object} Context
 * @property {NodeJS.ProcessEnv} env the environment to run tools in
 * @property {Record<string, string>} bin the absolute path of each program
 */

/**
 * Makes sure that Node.js, the Rust toolchain, the asked-for tools and the npm
 * packages are there, installing what is missing.
 *
 * @param {Needs} [needs]
 * @returns {Promise<Context>}
 * @throws {StepError} when something is missing that only the user can install
 */
export async function setup(needs = {}) {
  const env = withCargoOnPath(process.env);
  const bin = npmPrograms();
  const started = performance.now();

  await step("Node.js", checkNode);
  // Looking is quick and side by side; installing is one after another.
  const looks = lookAhead(needs, env);
  await step("Rust toolchain", () => ensureRust(env, looks.rust));
  for (const name of Object.keys(TOOLS)) {
    if (needs[name]) {
      const title = `${TOOLS[name].crate} ${VERSIONS[name]}`;
      await step(title, () => ensureTool(name, env, bin, looks[name]));
    }
  }
  const workspaces = ["pkg", "www"];
  await step("npm packages", () => ensurePackages(env, ".", workspaces));
  if (needs.packageTools) {
    await step("npm packages of the package's tests", () => ensurePackages(env, PACKAGE_TOOLS));
  }
  if (needs.python) await step("schemathesis", () => ensurePython(env, bin, looks.python));
  if (needs.browser) await step("browser", () => ensureBrowser(env, bin, looks.browser));
  if (needs.firefox) await step("Firefox", () => ensureFirefox(env, bin, looks.firefox));
  if (needs.spreadsheet) await step("spreadsheet", () => ensureSpreadsheet(env, bin));
  if (needs.shells) await step("shells", () => installShells(env));

  env.PATH = [join(ROOT, "node_modules", ".bin"), env.PATH].join(delimiter);
  console.log(`setup: ready in ${seconds(started)}`);
  return { env, bin };
}

/** Runs one step and says in one line what came of it. */
async function step(title, body) {
  const started = performance.now();
  const outcome = await body();
  console.log(`setup: ${title}: ${outcome} (${seconds(started)})`);
}

function lookAhead(needs, env) {
  const looks = { rust: lookForRust(env) };
  for (const name of Object.keys(TOOLS)) if (needs[name]) looks[name] = lookForTool(name, env);
  if (needs.python) looks.python = lookForPython(env);
  if (needs.browser) looks.browser = lookForBrowser(env);
  if (needs.firefox) looks.firefox = lookForFirefox(env);
  return looks;
}

/** Programs that come with `npm ci`. */
function npmPrograms() {
  const path = (name) => join(ROOT, "node_modules", ".bin", name);
  return {
    biome: path("biome"),
    esbuild: path("esbuild"),
    tsc: path("tsc"),
    vite: path("vite"),
    wasmOpt: path("wasm-opt"),
    wrangler: path("wrangler"),
  };
}

// --- Node.js ---------------------------------------------------------------

function checkNode() {
  const found = process.versions.node;
  if (compareVersions(found, NODE_MINIMUM) < 0) {
    throw new StepError(
      `Node.js ${NODE_MINIMUM} or newer is needed, this is ${found}: see https://nodejs.org/`,
    );
  }
  const mismatch = pinMismatch();
  if (mismatch) throw new StepError(mismatch);
  return found;
}

/** Negative when `a` is the older of two dotted versions. */
function compareVersions(a, b) {
  const [left, right] = [a, b].map((version) => version.split(".").map(Number));
  return left[0] - right[0] || left[1] - right[1] || left[2] - right[2];
}

// --- Rust ------------------------------------------------------------------

/** A shell opened before rustup was installed does not have its folder on PATH. */
function withCargoOnPath(env) {
  const folder = join(env.CARGO_HOME ?? join(homedir(), ".cargo"), "bin");
  const path = env.PATH ?? "";
  if (path.split(delimiter).includes(folder)) return { ...env };
  return { ...env, PATH: [path, folder].join(delimiter) };
}

/** What the toolchain that rust-toolchain.toml selects still lacks. */
async function lookForRust(env) {
  if (!findOnPath("rustup", env)) return { rustup: false };
  // One listing names targets too, as the component rust-std-<target>.
  const { code, stdout } = await capture("rustup", ["component", "list", "--installed"], { env });
  const has = (name) => stdout.split("\n").some((line) => line.startsWith(name));
  return {
    rustup: true,
    toolchain: code === 0,
    target: has(`rust-std-${TARGET}`),
    components: COMPONENTS.filter((name) => !has(name)),
  };
}

async function ensureRust(env, look) {
  let found = await look;
  if (!found.rustup) {
    throw new StepError("rustup is needed and not on PATH: install it from https://rustup.rs/");
  }
  const did = [];
  if (!found.toolchain) {
    console.log("setup: installing the toolchain of rust-toolchain.toml …");
    await run("installing the Rust toolchain", "rustup", ["toolchain", "install"], { env });
    did.push("installed the toolchain");
    found = await lookForRust(env);
  }
  if (!found.target) {
    await run("adding the wasm target", "rustup", ["target", "add", TARGET], { env });
    did.push(`added ${TARGET}`);
  }
  if (found.components.length > 0) {
    const args = ["component", "add", ...found.components];
    await run("adding Rust components", "rustup", args, { env });
    did.push(`added ${found.components.join(", ")}`);
  }
  return did.join(", ") || `has ${TARGET}`;
}

// --- pinned tools ----------------------------------------------------------

function cacheRoot(env) {
  return join(env.XDG_CACHE_HOME || join(homedir(), ".cache"), "quillgate", "tools");
}

function cachedFolder(name, env) {
  return join(cacheRoot(env), `${TOOLS[name].crate}-${VERSIONS[name]}`);
}

/** The folder that holds a tool's programs in the pinned version, if any. */
async function lookForTool(name, env) {
  const [main, ...others] = TOOLS[name].programs;
  const onPath = findOnPath(main, env);
  const folders = [onPath && dirname(onPath), join(cachedFolder(name, env), "bin")];
  for (const folder of folders.filter(Boolean)) {
    if (!others.every((program) => isExecutable(join(folder, program)))) continue;
    if ((await versionOf(join(folder, main), env)) === VERSIONS[name]) return folder;
  }
  return undefined;
}

async function ensureTool(name, env, bin, look) {
  const found = await look;
  const folder = found ?? (await installTool(name, env));
  for (const program of TOOLS[name].programs) bin[camelCase(program)] = join(folder, program);
  // Only when PATH would give another version: a folder such as /usr/bin must
  // not move before the one that holds the user's Node.js.
  if (findOnPath(TOOLS[name].programs[0], env) !== join(folder, TOOLS[name].programs[0])) {
    env.PATH = [folder, env.PATH].join(delimiter);
  }
  return found ? folder : `installed in ${folder}`;
}

async function installTool(name, env) {
  const folder = cachedFolder(name, env);
  const { crate, profile = "release" } = TOOLS[name];
  const version = ["--version", VERSIONS[name], "--profile", profile];
  const install = ["install", crate, ...version, "--root", folder];
  const target = join(cacheRoot(env), "target");
  const options = { env: { ...env, CARGO_TARGET_DIR: target, CARGO_PROFILE_DEV_DEBUG: "0" } };
  await mkdir(folder, { recursive: true });
  console.log(`setup: installing ${crate} ${VERSIONS[name]}, once, with cargo …`);
  try {
    await run(`installing ${crate}`, "cargo", [...install, "--locked"], options);
  } catch {
    // A registry may lack a version that the tool's lock file names: one that was yanked, or one
    // that a mirror does not have. The tool itself is pinned, its output is tested, and none of
    // its code is shipped, so newer compatible crates beneath it are taken rather than nothing.
    console.log("setup: not with its own lock file; trying without …");
    await run(`installing ${crate}`, "cargo", install, options);
  }
  return join(folder, "bin");
}

/** The version that a program says it has; run outside of the repository. */
async function versionOf(program, env) {
  const { stdout } = await capture(program, ["--version"], {
    cwd: tmpdir(),
    env,
    timeoutMs: 10_000,
  });
  return /\d+\.\d+(?:\.\d+)?(?:[-.][\w.]+)?/.exec(stdout)?.[0];
}

// --- npm -------------------------------------------------------------------

async function ensurePackages(env, folder, workspaces = []) {
  const cwd = join(ROOT, folder);
  const stamp = join(cwd, "node_modules", ".quillgate-lock");
  const wanted = await lockStamp(cwd, workspaces);
  const present = await readFile(stamp, "utf8").catch(() => undefined);
  if (present === wanted) return "as in package-lock.json";
  console.log(`setup: npm ci${folder === "." ? "" : ` in ${folder}`} …`);
  await rm(stamp, { force: true });
  await run("installing npm packages", "npm", ["ci"], { cwd, env });
  await writeFile(stamp, wanted);
  return "installed";
}

/** Changes whenever a folder's node_modules has to be made anew. */
async function lockStamp(folder, workspaces) {
  const hash = createHash("sha256");
  const manifests = workspaces.map((name) => join(name, "package.json"));
  for (const file of ["package-lock.json", "package.json", ...manifests]) {
    hash.update(await readFile(join(folder, file)).catch(() => ""));
  }
  return `${hash.digest("hex")} ${process.platform}-${process.arch}\n`;
}

// --- Python ----------------------------------------------------------------

async function lookForPython(env) {
  const python = findOnPath(env.PYTHON || "python3", env);
  if (!python) return {};
  const [version, { code }] = await Promise.all([
    versionOf(python, env),
    // Some systems ship the two apart from the rest.
    capture(python, ["-c", "import ensurepip, venv"], { env, timeoutMs: 10_000 }),
  ]);
  return { python, version, venv: code === 0 };
}

/** Makes a virtual environment, one for each list of packages and each Python. */
async function ensurePython(env, bin, look) {
  let found = await look;
  if (pythonProblem(found) && canUseApt(env) && !env.PYTHON) {
    console.log(`setup: ${pythonProblem(found)}; installing it with apt …`);
    await installWithApt("Python", ["python3", "python3-venv"], env);
    found = await lookForPython(env);
  }
  const problem = pythonProblem(found);
  if (problem) {
    throw new StepError(
      `${problem}: install Python ${PYTHON_MINIMUM} or newer with its venv module (on Debian and ` +
        "Ubuntu python3-venv) and put it on PATH, or name it in the variable PYTHON.",
    );
  }
  const packages = await readFile(PYTHON_PACKAGES);
  const key = createHash("sha256").update(packages).digest("hex").slice(0, 16);
  const folder = join(cacheRoot(env), `python-${found.version}-${key}`);
  bin.schemathesis = env.SCHEMATHESIS = join(folder, "bin", "schemathesis");
  const stamp = join(folder, ".quillgate-installed");
  if (existsSync(stamp)) return folder;
  console.log("setup: installing schemathesis, once, with pip …");
  await installPythonPackages(found.python, folder, env);
  await writeFile(stamp, "");
  return `installed in ${folder}`;
}

function pythonProblem({ python, version, venv }) {
  if (!python || !version) return "no Python found";
  if (compareVersions(version, PYTHON_MINIMUM) < 0) return `Python ${version} is too old`;
  return venv ? undefined : "Python's venv module is missing";
}

async function installPythonPackages(python, folder, env) {
  await rm(folder, { recursive: true, force: true });
  await mkdir(dirname(folder), { recursive: true });
  await run("making a virtual environment", python, ["-m", "venv", folder], { env });
  const options = ["--quiet", "--disable-pip-version-check", "--no-input", "--require-hashes"];
  const args = ["-m", "pip", "install", ...options, "-r", PYTHON_PACKAGES];
  await run("installing schemathesis", join(folder, "bin", "python"), args, { env });
}

// --- browser ---------------------------------------------------------------

async function lookForBrowser(env) {
  const browsers = env.CHROME ? [env.CHROME] : ["chromium", "chromium-browser", "google-chrome"];
  const chromium = browsers.map((name) => findOnPath(name, env)).find(Boolean);
  const chromedriver = findOnPath(env.CHROMEDRIVER || "chromedriver", env);
  const [browserVersion, driverVersion] = await Promise.all(
    [chromium, chromedriver].map((program) => program && versionOf(program, env)),
  );
  return { chromium, chromedriver, browserVersion, driverVersion };
}

async function ensureBrowser(env, bin, look) {
  let found = await look;
  let how = "";
  if (browserProblem(found) && canUseApt(env) && !env.CHROME) {
    console.log(`setup: ${browserProblem(found)}; installing both with apt …`);
    await installWithApt("Chromium", ["chromium", "chromium-driver"], env);
    found = await lookForBrowser(env);
    how = "installed ";
  }
  const problem = browserProblem(found);
  if (problem) {
    throw new StepError(
      `${problem}: install Chromium (or Chrome) and the chromedriver of the same major version ` +
        "and put them on PATH, or name them in the variables CHROME and CHROMEDRIVER.",
    );
  }
  bin.chromium = env.CHROME = found.chromium;
  bin.chromedriver = env.CHROMEDRIVER = found.chromedriver;
  return `${how}Chromium ${found.browserVersion} and its driver`;
}

function browserProblem({ chromium, chromedriver, browserVersion, driverVersion }) {
  if (!chromium) return "no Chromium found";
  if (!chromedriver) return "no chromedriver found";
  if (!browserVersion || major(browserVersion) !== major(driverVersion)) {
    return `Chromium ${browserVersion} and chromedriver ${driverVersion} do not fit together`;
  }
  return undefined;
}

function major(version) {
  return version?.split(".")[0];
}

function canUseApt(env) {
  return process.getuid?.() === 0 && Boolean(findOnPath("apt-get", env));
}

async function installWithApt(name, packages, env) {
  const quiet = { env: { ...env, DEBIAN_FRONTEND: "noninteractive" } };
  await run("updating apt's lists", "apt-get", ["update"], quiet);
  const args = ["install", "-y", "--no-install-recommends", ...packages];
  await run(`installing ${name}`, "apt-get", args, quiet);
}

async function lookForFirefox(env) {
  const names = env.FIREFOX ? [env.FIREFOX] : ["firefox-esr", "firefox"];
  const firefox = names.map((name) => findOnPath(name, env)).find(Boolean);
  return { firefox, version: firefox && (await versionOf(firefox, env)) };
}

async function ensureFirefox(env, bin, look) {
  let found = await look;
  let how = "";
  if (!found.version && canUseApt(env) && !env.FIREFOX) {
    console.log("setup: no Firefox found; installing it with apt …");
    await installWithApt("Firefox", ["firefox-esr"], env);
    found = await lookForFirefox(env);
    how = "installed ";
  }
  if (!found.version) {
    throw new StepError(
      "no Firefox found: install it and put it on PATH, or name it in the variable FIREFOX.",
    );
  }
  bin.firefox = env.FIREFOX = found.firefox;
  return `${how}Firefox ${found.version}`;
}

// --- spreadsheet -----------------------------------------------------------

async function ensureSpreadsheet(env, bin) {
  const find = () => findOnPath(env.SOFFICE || "soffice", env);
  let found = find();
  if (!found && canUseApt(env) && !env.SOFFICE) {
    console.log("setup: no LibreOffice found; installing its spreadsheet with apt …");
    await installWithApt("LibreOffice Calc", ["libreoffice-calc"], env);
    found = find();
  }
  if (!found) {
    throw new StepError(
      "no LibreOffice found: install it and put soffice on PATH, or name it in the variable SOFFICE.",
    );
  }
  bin.soffice = env.SOFFICE = found;
  return found;
}

// --- shells ----------------------------------------------------------------

/** Nothing else needs them, so a machine that cannot have them is no reason to stop. */
async function installShells(env) {
  const findMissing = () => ["zsh", "fish"].filter((name) => !findOnPath(name, env));
  const missing = findMissing();
  if (missing.length === 0) return "ready";
  if (!canUseApt(env)) return `no ${missing.join(", no ")}`;
  await installWithApt(missing.join(" and "), missing, env).catch(() => {});
  const lacking = findMissing();
  return lacking.length === 0 ? "installed" : `cannot be installed: ${lacking.join(", ")}`;
}

// --- files and words -------------------------------------------------------

/** The first program of that name on PATH; a path stands for itself. */
function findOnPath(name, env) {
  if (name.includes("/")) return isExecutable(name) ? name : undefined;
  const folders = (env.PATH ?? "").split(delimiter).filter(Boolean);
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path) {
  if (!existsSync(path)) return false;
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function camelCase(name) {
  return name.replace(/-(\w)/g, (_, letter) => letter.toUpperCase());
}

function seconds(started) {
  return `${((performance.now() - started) / 1000).toFixed(1)} s`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await runMain(() =>
    setup({
      wasmBindgen: true,
      wasmPack: true,
      cargoDeny: true,
      browser: true,
      firefox: true,
      spreadsheet: true,
      shells: true,
      packageTools: true,
      python: true,
    }),
  );
}
