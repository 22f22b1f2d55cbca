/**
 * `npm run build [package] [worker] [page] [gateway]`: builds the named parts, all of
 * them when none is named, always in this order.
 */
import {
  chmod,
  copyFile,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  writeFile,
} from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { encodeBytes } from "./byte_text.mjs";
import { cargoBuildProgram, cargoBuildWasm, targetFolder } from "./cargo.mjs";
import { run, runMain, StepError } from "./child.mjs";
import { removeExports } from "./exports.mjs";
import { whenChanged } from "./freshness.mjs";
import { adaptLinks, GATEWAY_DOCS } from "./gateway_docs.mjs";
import { makeGatewayTemplate } from "./gateway_template.mjs";
import { asImports, withShortNames } from "./glue.mjs";
import { setup } from "./setup.mjs";
import { ROOT } from "./versions.mjs";

/**
 * @typedef {object} Work what a build had to do: nothing, when nothing has changed
 * @property {string[]} [compiled] the crates that Cargo compiled
 * @property {string[]} [made] the other steps that ran
 *
 * @typedef {import("./setup.mjs").Context & Work & { signal?: AbortSignal }} Context
 *   an aborted signal stops the build
 *
 * @typedef {object} WorkerBuild
 * @property {string} name unique, since the steps' records are kept by it
 * @property {"worker" | "start"} profile the Cargo profile: small, or quick to compile
 * @property {string[]} features of the crate
 * @property {string} out the folder of `index.js`
 */

const PACKAGE = join(ROOT, "pkg");
const PACKAGE_DIST = join(PACKAGE, "dist");
/** The TypeScript that follows from the Rust types. */
const PACKAGE_GENERATED = join(PACKAGE, "src", "generated");
/** What the package's wasm reads through, as it stands among the crate's sources. */
const PACKAGE_HOST = "src/wasm/host.js";
/** The core as text, for the entry that embeds it. */
const EMBEDDED = ["core_text.js", "core_text.d.ts"];
/** Where wasm-bindgen puts JavaScript that a crate brings along, if any. */
const SNIPPETS = "snippets";
const WORKER = join(ROOT, "worker");
const WORKER_ENTRY = join(WORKER, "entry");
const WORKER_MAIN = join(WORKER_ENTRY, "index.js");
const WORKER_BUILD = join(WORKER, "build");
const PAGE = join(ROOT, "www");
/** The page as it is served. */
export const PAGE_DIST = join(PAGE, "dist");

/** A text is a module of its own: in the script, a start would wait until all of it is parsed. */
const DESCRIPTION = "openapi.txt";
const WORKER_MODULES = ["index.js", "gateway_bg.wasm", DESCRIPTION].map((file) =>
  join(WORKER_BUILD, file),
);
const WORKER_CONFIG = join(WORKER, "wrangler.toml");
/** The npm package of the Worker as it is deployed, its page and what sets it up. */
const GATEWAY = join(ROOT, "gateway");
const GATEWAY_DIST = join(GATEWAY, "dist");
const GATEWAY_TOOLS = join(GATEWAY_DIST, "tools");
/** What the repository has anyway, by the name that it has in that package. */
const GATEWAY_COPIES = Object.freeze({
  LICENSE: "LICENSE",
  "THIRD_PARTY.md": "THIRD_PARTY.md",
  "dist/migrations": "worker/migrations",
  "dist/page": "www/dist",
  "dist/webhook_key.mjs": "scripts/webhook_key.mjs",
});

/** The Worker that is tested and deployed. */
const RELEASE_WORKER = Object.freeze({
  name: "worker",
  profile: "worker",
  features: [],
  out: WORKER_BUILD,
});
/** The Worker that `npm start` runs. */
const START_WORKER = Object.freeze({
  name: "start worker",
  profile: "start",
  features: [],
  out: join(WORKER_BUILD, "start"),
});
export const START_MAIN = join(START_WORKER.out, "index.js");
/** The Worker with a route that traps, which only tests run. */
const TRAP_WORKER = Object.freeze({
  name: "trap worker",
  profile: "start",
  features: ["trap-route"],
  out: join(WORKER_BUILD, "trap"),
});

/** The crate as the npm package has it: bindings, and no JSON parser of its own. */
export const PACKAGE_CRATE = Object.freeze([
  ...["-p", "quillgate"],
  ...["--no-default-features", "--features", "bindings"],
]);
/** The crate as a Rust program has it that is compiled to WebAssembly. */
export const CLIENT_CRATE = Object.freeze([
  ...["-p", "quillgate"],
  ...["--no-default-features", "--features", "client"],
]);
/**
 * How what is shipped is compiled: with a standard library of its own, in which a panic
 * stops at once and says nothing. That is a sixth less to download. No release of Rust has
 * these switches without `RUSTC_BOOTSTRAP` yet, so the build says that it wants them.
 */
const SMALL_ARGS = ["-Z", "build-std=std,panic_abort"];
const SMALL_FLAGS = [
  "-Zunstable-options",
  "-Cpanic=immediate-abort",
  "-Zlocation-detail=none",
  "-Zfmt-debug=none",
  // Less than this, a call of a small function takes more bytes than the function itself.
  "-Cllvm-args=-inline-threshold=15",
  // The other mangling's long names would be part of the glue.
  "-Csymbol-mangling-version=legacy",
];
const PACKAGE_FLAGS = [
  // No object crosses into the package's wasm, so it needs no table of them.
  "-Ctarget-feature=-reference-types",
  // What is inlined before code is generated takes a kilobyte less to download.
  ...["-Zmir-opt-level=3", "-Zinline-mir-threshold=300", "-Zinline-mir-hint-threshold=100"],
];
/** What wasm-bindgen and this build make of the package's wasm. */
const PACKAGE_CORE = ["core.js", "core.d.ts", "core_bg.wasm", "host.js"];
/** Exports of wasm-bindgen's own that the package's glue has no use for. */
const UNUSED_PACKAGE_EXPORTS = /^__(abort_handler|instance_terminated|wbindgen_free)$/;
const WORKER_FLAGS = [
  // What is compiled for speed shares its functions as well, which other crates have no copies of.
  "-Zshare-generics=y",
  // SHA-256 in a loop, not written out: a token's is two dozen rounds of microseconds.
  '--cfg=sha2_backend_soft="compact"',
];

/** Where the module is, the importer says. */
const BINDGEN_ARGS = ["--target", "web", "--omit-default-module-path"];
const SMALL_BINDGEN_ARGS = ["--remove-producers-section"];
/** After a trap the entry instantiates the module again. */
const WORKER_BINDGEN_ARGS = ["--experimental-reset-state-function"];
/** What the `worker` crate exports of classes that the gateway makes no use of. */
const UNUSED_EXPORTS =
  /^(__wbg_(get_|set_)?)?(intounderlying|r2range|minifyconfig|containerstartupoptions)/;
/** wasm-opt itself keeps to the wasm features that the module names. */
const WASM_OPT_ARGS = [
  "-Oz",
  ...["--strip-producers", "--strip-target-features"],
  "--minify-imports-and-exports-and-modules",
];

/**
 * The largest function that is written out where it is called, if that is one place: beyond, what that
 * saves is lost by what surrounds it. Found by trying.
 */
const LARGEST_INLINED = { package: 40, worker: 20 };

/** What {@link setup} must provide for a build. */
export const BUILD_NEEDS = Object.freeze({ wasmBindgen: true });

/** The parts by name, in the order in which they depend on each other. */
export const PARTS = Object.freeze({
  package: buildPackage,
  worker: buildWorker,
  page: buildPage,
  gateway: buildGateway,
});

/** What `npm start` runs. */
export const START_PARTS = Object.freeze({
  package: buildPackage,
  worker: buildStartWorker,
  page: buildPage,
});

/**
 * Builds the npm package: `pkg/dist/`, ready for `npm pack`.
 *
 * @param {Context} context
 */
export async function buildPackage(context) {
  const { bin, made } = context;
  await mkdir(PACKAGE_DIST, { recursive: true });
  await mkdir(PACKAGE_GENERATED, { recursive: true });
  await generate("package types", "types", join(PACKAGE_DIST, "types.d.ts"), context);
  for (const what of ["decoders", "protocol", "tables"]) {
    await generate(`package ${what}`, what, join(PACKAGE_GENERATED, `${what}.ts`), context);
  }

  const wasm = await compileCore(context);
  await bindPackage({ name: "package core", out: PACKAGE_DIST, named: false }, wasm, context);
  await embed(join(PACKAGE_DIST, "core_bg.wasm"), context);

  const sources = ["src", "tsconfig.json"].map((name) => join(PACKAGE, name));
  await whenChanged(
    { name: "package", inputs: sources, outputs: [PACKAGE_DIST], made },
    async () => {
      await keepOnly(PACKAGE_DIST, ["types.d.ts", ...PACKAGE_CORE, ...EMBEDDED]);
      await run("compiling the package's TypeScript", bin.tsc, ["-p", PACKAGE], context);
    },
  );
  const [licence, copy] = [ROOT, PACKAGE].map((folder) => join(folder, "LICENSE"));
  await whenChanged({ name: "package licence", inputs: [licence], outputs: [copy], made }, () =>
    copyFile(licence, copy),
  );
}

/**
 * Builds the package's core as it is shipped, except that its functions have their names.
 *
 * @param {Context} context
 * @param {string} out a folder for it
 * @returns {Promise<string>} the path of its wasm file
 */
export async function buildNamedCore(context, out) {
  const wasm = await compileCore(context);
  await bindPackage({ name: "named core", out, named: true }, wasm, context);
  return join(out, "core_bg.wasm");
}

function compileCore(context) {
  const args = [...PACKAGE_CRATE, "--release", ...SMALL_ARGS, ...targetFolder("package")];
  const env = smallEnv(context, [...SMALL_FLAGS, ...PACKAGE_FLAGS]);
  return cargoBuildWasm("compiling the core", "quillgate", args, { ...context, env });
}

/** Writes the core as a module's text. */
async function embed(core, { made }) {
  const writer = join(ROOT, "scripts", "byte_text.mjs");
  const outputs = EMBEDDED.map((file) => join(PACKAGE_DIST, file));
  await whenChanged({ name: "package text", inputs: [core, writer], outputs, made }, async () => {
    const [module, types] = outputs;
    await writeFile(module, `export default "${encodeBytes(await readFile(core))}";\n`);
    await writeFile(types, "declare const text: string;\nexport default text;\n");
  });
}

/**
 * Builds the Worker: its wasm and the entry around it. Unless told otherwise
 * it is the one that is deployed, in `worker/build/`.
 *
 * @param {Context} context
 * @param {WorkerBuild} [options]
 */
export async function buildWorker(context, options = RELEASE_WORKER) {
  const { name, profile, out } = options;
  const small = profile === "worker";
  const core = join(out, "core");
  await mkdir(core, { recursive: true });
  await generate(`${name} description`, "openapi", join(core, DESCRIPTION), context);
  const wasm = await compileWorker(options, context);
  const args = WORKER_BINDGEN_ARGS;
  const unused = UNUSED_EXPORTS;
  const built = { name: `${name} core`, module: "gateway", out: core, args, small, unused };
  await bind(built, wasm, context);
  await bundleWorker(options, core, context);
}

/**
 * Builds the Worker of `npm start`, in seconds: `worker/build/start/`.
 *
 * @param {Context} context
 */
export async function buildStartWorker(context) {
  await buildWorker(context, START_WORKER);
}

/**
 * Builds the Worker with the route that traps, for tests.
 *
 * @param {Context} context
 * @returns {Promise<string>} the path of its `index.js`
 */
export async function buildTrapWorker(context) {
  await buildWorker(context, TRAP_WORKER);
  return join(TRAP_WORKER.out, "index.js");
}

function compileWorker({ name, profile, features }, context) {
  const chosen = features.flatMap((feature) => ["--features", feature]);
  const folder = targetFolder(name);
  const args = ["-p", "quillgate-worker", "--profile", profile, ...chosen, ...folder];
  const step = `compiling the ${name}`;
  if (profile !== "worker") return cargoBuildWasm(step, "quillgate-worker", args, context);
  const env = smallEnv(context, [...SMALL_FLAGS, ...WORKER_FLAGS]);
  return cargoBuildWasm(step, "quillgate-worker", [...args, ...SMALL_ARGS], { ...context, env });
}

/**
 * Bundles the entry with a core. A development build's `index.js` changes in one instant, with
 * modules of other names: `wrangler dev` never sees one without the others.
 */
async function bundleWorker({ name, profile, out }, core, { made }) {
  const index = join(out, "index.js");
  const names = profile === "worker" ? "[name]" : "[name]-[hash]";
  const outputs = profile === "worker" ? WORKER_MODULES : [out];
  const step = { name: `${name} bundle`, inputs: [WORKER_ENTRY, core], outputs, made };
  await whenChanged(step, async () => {
    const files = await bundle(core, out, names);
    const modules = files.filter(({ path }) => path !== index);
    for (const { path, contents } of modules) await writeFile(path, contents);
    await replace(index, files.find(({ path }) => path === index).contents);
    const current = modules.map(({ path }) => basename(path));
    const isStale = (file) => /\.(txt|wasm)$/.test(file) && !current.includes(file);
    await remove(out, (await readdir(out)).filter(isStale));
  });
}

async function bundle(core, out, assetNames) {
  // Only here, since this file is loaded before the npm packages are installed.
  const { build: esbuild } = await import("esbuild");
  const { outputFiles } = await esbuild({
    entryPoints: [WORKER_MAIN],
    outdir: out,
    write: false,
    bundle: true,
    format: "esm",
    target: "es2023",
    external: ["cloudflare:*"],
    loader: { ".wasm": "copy", ".txt": "copy" },
    assetNames,
    logLevel: "warning",
    plugins: [withCore(core)],
  }).catch(() => {
    throw new StepError("bundling the Worker failed");
  });
  return outputFiles;
}

/**
 * Makes the entry's imports of `../build/core/` those of this build's core. Its modules that Rust
 * imports are the originals, not the copies that wasm-bindgen has made.
 *
 * @returns {import("esbuild").Plugin}
 */
function withCore(core) {
  return {
    name: "core",
    setup({ onResolve }) {
      onResolve({ filter: /^\.\.\/build\/core\// }, ({ path }) => ({
        path: join(core, path.slice("../build/core/".length)),
      }));
      onResolve({ filter: /^\.\/snippets\/quillgate-worker-\w+\/entry\// }, ({ path }) => ({
        path: join(WORKER_ENTRY, path.split("/entry/")[1]),
      }));
    },
  };
}

/**
 * Builds the page: `www/dist/`. Needs the package.
 *
 * @param {Context} context
 */
export async function buildPage(context) {
  const inputs = [PAGE, PACKAGE_DIST, join(PACKAGE, "package.json")];
  await whenChanged({ name: "page", inputs, outputs: [PAGE_DIST], made: context.made }, () =>
    run("building the page", context.bin.vite, ["build"], { ...context, cwd: PAGE }),
  );
}

/**
 * Builds the npm package of the gateway: `gateway/dist/`, ready for `npm pack`. Needs the Worker and
 * the page.
 *
 * @param {Context} context
 */
export async function buildGateway(context) {
  const { bin, made } = context;
  await mkdir(GATEWAY_TOOLS, { recursive: true });
  const copies = [...Object.keys(GATEWAY_COPIES), ...Object.keys(GATEWAY_DOCS)];
  const present = [...copies, ...WORKER_MODULES, "template", "tools"];
  await keepOnly(
    GATEWAY_DIST,
    present.map((path) => basename(path)),
  );
  for (const [to, from] of Object.entries(GATEWAY_COPIES)) {
    const [source, copy] = [join(ROOT, from), join(GATEWAY, to)];
    const step = { name: `gateway ${basename(to)}`, inputs: [source], outputs: [copy], made };
    await whenChanged(step, () => replaceTree(source, copy));
  }
  const modules = WORKER_MODULES.map((path) => join(GATEWAY_DIST, basename(path)));
  const step = { name: "gateway Worker", inputs: WORKER_MODULES, outputs: modules, made };
  await whenChanged(step, async () => {
    for (const path of WORKER_MODULES) await copyFile(path, join(GATEWAY_DIST, basename(path)));
  });
  await writeTemplate(context);
  await writeGatewayDocs(context);

  const rules = await compileRules(context);
  const module = "check_config";
  await bind({ name: "gateway rules", module, out: GATEWAY_TOOLS, small: true }, rules, context);
  const inputs = ["src", "tsconfig.json"].map((name) => join(GATEWAY, name));
  await whenChanged({ name: "gateway", inputs, outputs: [GATEWAY_TOOLS], made }, async () => {
    await keepOnly(GATEWAY_TOOLS, filesOf(module));
    await run("compiling the gateway's TypeScript", bin.tsc, ["-p", GATEWAY], context);
    await chmod(join(GATEWAY_TOOLS, "command.js"), 0o755);
  });
}

/** What the package has of the documentation. */
async function writeGatewayDocs({ made }) {
  const maker = join(ROOT, "scripts", "gateway_docs.mjs");
  for (const [to, from] of Object.entries(GATEWAY_DOCS)) {
    const [source, copy] = [join(ROOT, from), join(GATEWAY, to)];
    const step = {
      name: `gateway ${basename(to)}`,
      inputs: [source, maker],
      outputs: [copy],
      made,
    };
    await whenChanged(step, async () => {
      await writeFile(copy, adaptLinks(await readFile(source, "utf8"), { from, to }));
    });
  }
}

/** The configuration from which `init` makes a deployment's. */
async function writeTemplate({ made }) {
  const template = join(GATEWAY_DIST, "template", "wrangler.toml");
  const maker = join(ROOT, "scripts", "gateway_template.mjs");
  const step = {
    name: "gateway template",
    inputs: [WORKER_CONFIG, maker],
    outputs: [template],
    made,
  };
  await whenChanged(step, async () => {
    await mkdir(dirname(template), { recursive: true });
    await writeFile(template, makeGatewayTemplate(await readFile(WORKER_CONFIG, "utf8")));
  });
}

/**
 * The gateway's rules for its variables. With the ordinary standard library, since Node loads them
 * from the disk: what a build of its own would save is not worth its minutes.
 */
function compileRules(context) {
  const crate = "quillgate-check-config";
  const args = ["-p", crate, "--release", ...targetFolder("gateway rules")];
  // Without it, the sources of the standard library are named as they are on this machine.
  const env = smallEnv(context, ["-Zlocation-detail=none"]);
  return cargoBuildWasm("compiling the gateway's rules", crate, args, { ...context, env });
}

async function replaceTree(source, copy) {
  await rm(copy, { recursive: true, force: true });
  await cp(source, copy, { recursive: true });
}

/**
 * Builds several parts, saying how long each took and what had to be done.
 *
 * @param {import("./setup.mjs").Context} context
 * @param {Record<string, (context: Context) => Promise<void>>} [parts] all parts unless told
 * @returns {Promise<Required<Work>>}
 */
export async function build(context, parts = PARTS) {
  const all = { compiled: [], made: [] };
  for (const [name, buildPart] of Object.entries(parts)) {
    console.log(`build: ${name} …`);
    const started = performance.now();
    const work = { compiled: [], made: [] };
    await buildPart({ ...context, ...work });
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    console.log(`build: ${name} done (${seconds} s), ${summary(work)}`);
    all.compiled.push(...work.compiled);
    all.made.push(...work.made);
  }
  return all;
}

function summary({ compiled, made }) {
  const done = [];
  if (compiled.length > 3) done.push(`compiled ${compiled.length} crates`);
  else if (compiled.length > 0) done.push(`compiled ${compiled.join(", ")}`);
  if (made.length > 0) done.push(`made ${made.join(", ")}`);
  return done.length > 0 ? done.join(", ") : "nothing to do";
}

// --- what the parts share --------------------------------------------------

/** Writes what follows from the Rust types: `types` or `openapi`. */
async function generate(name, what, path, context) {
  const program = await buildGenerator(context);
  const { made } = context;
  await whenChanged({ name, inputs: [program], outputs: [path], made }, () =>
    run(`generating the ${name}`, program, [what, path], context),
  );
}

/** Builds the program that reads the tables of the core and the gateway, and returns its path. */
export function buildGenerator(context) {
  const step = "building the generator";
  return cargoBuildProgram(step, "quillgate-generate", targetFolder("generate"), context);
}

/** Compiler flags, and none of this machine's paths in what is built. */
function smallEnv({ env }, flags) {
  const home = env.CARGO_HOME ?? join(homedir(), ".cargo");
  const paths = [`--remap-path-prefix=${home}=cargo`, `--remap-path-prefix=${ROOT}=quillgate`];
  return {
    ...env,
    RUSTC_BOOTSTRAP: "1",
    CARGO_ENCODED_RUSTFLAGS: [...paths, ...flags].join("\x1f"),
  };
}

/**
 * Makes a module's glue and its wasm of what Cargo has compiled.
 *
 * @param {{ name: string, module: string, out: string, args?: string[], small: boolean,
 *   unused?: RegExp }} options `unused` are
 *   exports that nobody calls
 * @param {string} wasm
 * @param {Context} context
 */
async function bind(options, wasm, context) {
  const { name, module, out, args = [], small, unused } = options;
  const outputs = [...filesOf(module), SNIPPETS].map((file) => join(out, file));
  const names = small ? ["--remove-name-section"] : [];
  const bindgen = [...BINDGEN_ARGS, ...names, ...(small ? SMALL_BINDGEN_ARGS : []), ...args];
  await whenChanged({ name, inputs: [wasm], outputs, made: context.made }, async () => {
    await rm(join(out, SNIPPETS), { recursive: true, force: true });
    const target = ["--out-name", module, "--out-dir", out, wasm];
    await run(`binding the ${name}`, context.bin.wasmBindgen, [...bindgen, ...target], context);
    if (small && unused) await removeExports(join(out, `${module}_bg.wasm`), unused);
    if (small) await optimise(name, join(out, module), context);
  });
}

/** Makes the package's wasm and the module that gives it its imports. */
async function bindPackage({ name, out, named }, wasm, context) {
  const host = join(ROOT, PACKAGE_HOST);
  const outputs = PACKAGE_CORE.map((file) => join(out, file));
  const step = { name, inputs: [wasm, host], outputs, made: context.made };
  await whenChanged(step, async () => {
    const folder = await mkdtemp(join(tmpdir(), "quillgate-bind-"));
    try {
      const names = named ? [] : ["--remove-name-section"];
      const args = ["--target", "bundler", ...names, ...SMALL_BINDGEN_ARGS];
      const target = ["--out-name", "core", "--out-dir", folder, wasm];
      await run(`binding the ${name}`, context.bin.wasmBindgen, [...args, ...target], context);
      const module = join(folder, "core_bg");
      await removeExports(`${module}.wasm`, UNUSED_PACKAGE_EXPORTS);
      const bound = `${module}.wasm`;
      const options = { name, bound, named, inlined: LARGEST_INLINED.package };
      const shortNames = await optimiseWasm(options, context);
      const modules = new Map([[PACKAGE_HOST, "./host.js"]]);
      const glue = asImports(await readFile(`${module}.js`, "utf8"), shortNames, modules);
      const types = await readFile(join(folder, "core.d.ts"), "utf8");
      await mkdir(out, { recursive: true });
      await writeFile(join(out, "core.js"), glue);
      await writeFile(join(out, "core.d.ts"), types + EXPORTS_TYPES);
      await copyFile(`${module}.wasm`, join(out, "core_bg.wasm"));
      await copyFile(host, join(out, "host.js"));
    } finally {
      await rm(folder, { recursive: true });
    }
  });
}

/** What {@link asImports} adds. */
const EXPORTS_TYPES = `
/** What an instance imports, of the module "a". */
export const imports: WebAssembly.ModuleImports;
/** Says what the instance exports. */
export function setExports(exports: WebAssembly.Exports): void;
`;

/** Optimises a module's wasm; its glue follows it to the short names. */
async function optimise(name, module, context) {
  const bound = `${module}_bg.wasm`;
  const names = await optimiseWasm({ name, bound, inlined: LARGEST_INLINED.worker }, context);
  const glue = `${module}.js`;
  await writeFile(glue, withShortNames(await readFile(glue, "utf8"), names));
}

/** Optimises wasm, and gives the short names of its imports and exports. */
async function optimiseWasm({ name, bound, named = false, inlined }, context) {
  const optimised = `${bound}.tmp`;
  let names = "";
  const onStdout = (chunk) => {
    names += chunk;
  };
  const debug = named ? "--debuginfo" : "--strip-debug";
  const inlining = `--one-caller-inline-max-function-size=${inlined}`;
  const args = [...WASM_OPT_ARGS, inlining, debug, bound, "-o", optimised];
  await run(`optimising the ${name}`, context.bin.wasmOpt, args, { ...context, onStdout });
  await rename(optimised, bound);
  return JSON.parse(names);
}

/** What wasm-bindgen writes. */
function filesOf(module) {
  return [".js", ".d.ts", "_bg.wasm", "_bg.wasm.d.ts"].map((end) => module + end);
}

/** Replaces a file in one instant, if it changes at all. */
async function replace(path, content) {
  const present = await readFile(path).catch(() => undefined);
  if (present?.equals(content)) return;
  await writeFile(`${path}.tmp`, content);
  await rename(`${path}.tmp`, path);
}

/** Empties a folder, except for some files. */
async function keepOnly(folder, names) {
  await remove(
    folder,
    (await readdir(folder)).filter((name) => !names.includes(name)),
  );
}

async function remove(folder, names) {
  await Promise.all(names.map((name) => rm(join(folder, name), { recursive: true })));
}

function partsNamed(names) {
  const unknown = names.filter((name) => !Object.hasOwn(PARTS, name));
  if (unknown.length > 0) {
    const known = Object.keys(PARTS).join(", ");
    throw new StepError(`no part is called ${unknown.join(", ")}; there are ${known}`);
  }
  if (names.length === 0) return PARTS;
  return Object.fromEntries(Object.entries(PARTS).filter(([name]) => names.includes(name)));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await runMain(async () => {
    const parts = partsNamed(process.argv.slice(2));
    await build(await setup(BUILD_NEEDS), parts);
  });
}
