/**
 * `npm run build [package] [worker] [page]`: builds the named parts, all of
 * them when none is named, always in this order.
 */
import { copyFile, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { cargoBuildWasm } from "./cargo.mjs";
import { run, runMain, StepError } from "./child.mjs";
import { whenChanged } from "./freshness.mjs";
import { withShortNames } from "./glue.mjs";
import { setup } from "./setup.mjs";
import { ROOT, VERSIONS } from "./versions.mjs";

const PACKAGE = join(ROOT, "pkg");
const PACKAGE_DIST = join(PACKAGE, "dist");
/** Where wasm-bindgen puts JavaScript that the core brings along, if any. */
const SNIPPETS = "snippets";
const WORKER = join(ROOT, "worker");
const WORKER_CORE = join(WORKER, "build", "core");
const WORKER_BUNDLE_ARGS = [
  ...["--bundle", "--format=esm", "--target=es2023", "--log-level=warning"],
  ...["--external:cloudflare:*", "--loader:.wasm=copy", "--loader:.json=text"],
  ...["--asset-names=[name]", `--outdir=${join(WORKER, "build")}`],
];
const PAGE = join(ROOT, "www");

/** wasm-opt itself keeps to the wasm features that the module names. */
const WASM_OPT_ARGS = [
  ...["-Oz", "--strip-debug", "--strip-producers", "--strip-target-features"],
  "--minify-imports-and-exports-and-modules",
];
/** The crate as the npm package has it: bindings, and no JSON parser of its own. */
export const PACKAGE_CRATE = Object.freeze([
  ...["-p", "quillgate"],
  ...["--no-default-features", "--features", "bindings"],
]);
/**
 * How the shipped core is compiled: with a standard library of its own, in which a panic
 * stops at once and says nothing. That is a sixth less to download. No release of Rust has
 * these switches without `RUSTC_BOOTSTRAP` yet, so the build says that it wants them.
 */
const SMALL = Object.freeze({
  args: [
    ...["-Z", "build-std=std,panic_abort"],
    ...["--target-dir", join(ROOT, "target", "package")],
  ],
  flags: [
    "-Zunstable-options",
    "-Cpanic=immediate-abort",
    "-Zlocation-detail=none",
    "-Zfmt-debug=none",
    // The other mangling's long names would be part of the glue.
    "-Csymbol-mangling-version=legacy",
  ],
  env: { RUSTC_BOOTSTRAP: "1" },
});
/** The Worker's decisions; a call that traps makes the shell instantiate them anew. */
const WORKER_BINDGEN_ARGS = [
  ...["--target", "web", "--out-name", "gateway", "--omit-default-module-path"],
  ...["--experimental-reset-state-function"],
  ...["--remove-name-section", "--remove-producers-section"],
];
const WORKER_OPT_ARGS = ["-Oz", "--strip-debug", "--strip-producers", "--strip-target-features"];
const BINDGEN_ARGS = [
  // Where the module is, the package's entries say.
  ...["--target", "web", "--out-name", "core", "--omit-default-module-path"],
  ...["--remove-name-section", "--remove-producers-section"],
];

/** What {@link setup} must provide for a build. */
export const BUILD_NEEDS = Object.freeze({ wasmBindgen: true });

/** The parts by name, in the order in which they depend on each other. */
export const PARTS = Object.freeze({
  package: buildPackage,
  worker: buildWorker,
  page: buildPage,
});

/**
 * Builds the npm package: `pkg/dist/`, ready for `npm pack`.
 *
 * @param {import("./setup.mjs").Context} context
 */
export async function buildPackage({ env, bin }) {
  const core = ["core.js", "core.d.ts", "core_bg.wasm", "core_bg.wasm.d.ts"];
  await keepOnly(PACKAGE_DIST, [...core, SNIPPETS]);
  const generate = ["run", "--quiet", "-p", "quillgate-generate", "--", "types"];
  const types = join(PACKAGE_DIST, "types.d.ts");
  await run("generating the package's types", "cargo", [...generate, types], { env });

  const step = "compiling the core";
  const wasm = await cargoBuildWasm(step, "quillgate", [...PACKAGE_CRATE, ...SMALL.args], {
    env: { ...env, ...SMALL.env, ...rustFlags(SMALL.flags) },
  });
  const inputs = [
    await readFile(wasm),
    await readFile(join(ROOT, "package-lock.json")),
    await readFile(join(ROOT, "scripts", "glue.mjs")),
    JSON.stringify([VERSIONS, BINDGEN_ARGS, WASM_OPT_ARGS]),
  ];
  const outputs = core.map((name) => join(PACKAGE_DIST, name));
  await whenChanged("package", inputs, outputs, () => bindCore(wasm, { env, bin }));

  const project = join(PACKAGE, "tsconfig.json");
  await run("compiling the package's TypeScript", bin.tsc, ["-p", project], { env });
  await copyFile(join(ROOT, "LICENSE"), join(PACKAGE, "LICENSE"));
}

/** Compiler flags, and none of this machine's paths in what is built. */
function rustFlags(flags) {
  const home = process.env.CARGO_HOME ?? join(homedir(), ".cargo");
  const paths = [`--remap-path-prefix=${home}=cargo`, `--remap-path-prefix=${ROOT}=quillgate`];
  return { CARGO_ENCODED_RUSTFLAGS: [...paths, ...flags].join("\x1f") };
}

/** Makes the core's glue and its optimised wasm. */
async function bindCore(wasm, { env, bin }) {
  await rm(join(PACKAGE_DIST, SNIPPETS), { recursive: true, force: true });
  const args = [...BINDGEN_ARGS, "--out-dir", PACKAGE_DIST, wasm];
  await run("binding the core", bin.wasmBindgen, args, { env });
  const bound = join(PACKAGE_DIST, "core_bg.wasm");
  const optimised = `${bound}.tmp`;
  const optimise = [...WASM_OPT_ARGS, bound, "-o", optimised];
  let names = "";
  const onStdout = (chunk) => {
    names += chunk;
  };
  await run("optimising the core", bin.wasmOpt, optimise, { env, onStdout });
  const glue = join(PACKAGE_DIST, "core.js");
  await writeFile(glue, withShortNames(await readFile(glue, "utf8"), JSON.parse(names)));
  await rename(optimised, bound);
}

/**
 * Builds the Worker: `worker/build/`, which holds the decisions as wasm and the shell around
 * them.
 *
 * @param {import("./setup.mjs").Context} context
 */
export async function buildWorker({ env, bin }) {
  await mkdir(WORKER_CORE, { recursive: true });
  const openapi = ["run", "--quiet", "-p", "quillgate-generate", "--", "openapi"];
  const description = join(WORKER_CORE, "openapi.json");
  await run("describing the gateway", "cargo", [...openapi, description], { env });

  const args = ["-p", "quillgate-worker", ...SMALL.args];
  // SHA-256 in a loop, not written out: a token's is two dozen rounds of microseconds.
  const flags = [...SMALL.flags, '--cfg=sha2_backend_soft="compact"'];
  const wasm = await cargoBuildWasm("compiling the Worker", "quillgate-worker", args, {
    env: { ...env, ...SMALL.env, ...rustFlags(flags) },
  });
  const inputs = [
    await readFile(wasm),
    await readFile(join(ROOT, "package-lock.json")),
    JSON.stringify([VERSIONS, WORKER_BINDGEN_ARGS, WORKER_OPT_ARGS]),
  ];
  const outputs = ["gateway.js", "gateway_bg.wasm"].map((name) => join(WORKER_CORE, name));
  await whenChanged("worker", inputs, outputs, () => bindWorker(wasm, { env, bin }));

  await run("checking the Worker's shell", bin.tsc, ["-p", WORKER], { env });
  const entry = join(WORKER, "entry", "index.ts");
  await run("bundling the Worker", bin.esbuild, [entry, ...WORKER_BUNDLE_ARGS], { env });
}

/** Makes the glue of the Worker's decisions, and their optimised wasm. */
async function bindWorker(wasm, { env, bin }) {
  const args = [...WORKER_BINDGEN_ARGS, "--out-dir", WORKER_CORE, wasm];
  await run("binding the Worker", bin.wasmBindgen, args, { env });
  const bound = join(WORKER_CORE, "gateway_bg.wasm");
  const optimised = `${bound}.tmp`;
  await run("optimising the Worker", bin.wasmOpt, [...WORKER_OPT_ARGS, bound, "-o", optimised], {
    env,
  });
  await rename(optimised, bound);
}

/**
 * Builds the page: `www/dist/`. Needs the package.
 *
 * @param {import("./setup.mjs").Context} context
 */
export async function buildPage({ env, bin }) {
  await run("building the page", bin.vite, ["build"], { cwd: PAGE, env });
}

/**
 * Builds several parts, saying how long each took.
 *
 * @param {import("./setup.mjs").Context} context
 * @param {string[]} [names] all parts unless told
 */
export async function build(context, names = Object.keys(PARTS)) {
  for (const [name, buildPart] of Object.entries(PARTS)) {
    if (!names.includes(name)) continue;
    console.log(`build: ${name} …`);
    const started = performance.now();
    await buildPart(context);
    console.log(`build: ${name} done (${((performance.now() - started) / 1000).toFixed(1)} s)`);
  }
}

/** Empties a folder, except for some files, and makes it when missing. */
async function keepOnly(folder, names) {
  await mkdir(folder, { recursive: true });
  const others = (await readdir(folder)).filter((name) => !names.includes(name));
  await Promise.all(others.map((name) => rm(join(folder, name), { recursive: true })));
}

function partsNamed(names) {
  const unknown = names.filter((name) => !Object.hasOwn(PARTS, name));
  if (unknown.length > 0) {
    const known = Object.keys(PARTS).join(", ");
    throw new StepError(`no part is called ${unknown.join(", ")}; there are ${known}`);
  }
  return names.length > 0 ? names : undefined;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await runMain(async () => {
    const names = partsNamed(process.argv.slice(2));
    await build(await setup(BUILD_NEEDS), names);
  });
}
