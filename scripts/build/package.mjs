/** Builds the npm package `quillgate`. */
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { encodeBytes } from "../byte_text.mjs";
import { cargoBuildWasm, targetFolder } from "../cargo.mjs";
import { run } from "../child.mjs";
import { whenChanged } from "../freshness.mjs";
import { ROOT } from "../versions.mjs";
import { keepOnly } from "./folders.mjs";
import { generate } from "./generator.mjs";
import { optimiseWasm, runBindgen, withoutLocalPaths } from "./wasm.mjs";

export const PACKAGE = join(ROOT, "pkg");
export const PACKAGE_DIST = join(PACKAGE, "dist");
/** The command line, which only the published package contains. */
const CLI = join(PACKAGE, "cli");
/** The script that writes the man page. */
const MAN_PAGE = join(ROOT, "scripts", "man_page.mjs");
const CLI_GENERATED = join(CLI, "generated");
/** Generated TypeScript. */
const GENERATED = join(PACKAGE, "src", "generated");
const CRATE = "quillgate-wasm";
/** The module through which the wasm reads JavaScript values and emits strings. */
const HOST = join(PACKAGE, "wasm", "src", "host.js");
/** Entries without a CommonJS form: they read `import.meta` or import the wasm file. */
const MODULES_ONLY = ["web", "workerd", "edge"];
/** Replaces global classes in the glue. */
const TEXT_CODING = join(PACKAGE, "wasm", "src", "text_coding.js");
/** Files of the core. */
const CORE = ["core.js", "core.d.ts", "core_bg.wasm"];
/** The core as a string, for the entry that embeds it. */
const EMBEDDED = ["core_text.js", "core_text.d.ts"];
/*
 * The flags that make the download smaller: what each saves of the wasm and its glue, in bytes after
 * brotli 11.
 *
 * | flag | saves |
 * | --- | --: |
 * | build-std, with panic=immediate-abort | 3,122 |
 * | cross-crate-inline-threshold | 1,661 |
 * | target-feature=-reference-types | 152 |
 * | one-caller-inline-max-function-size | 108 |
 */
const WASM_OPT_ARGS = [
  // Functions up to this size are inlined into their only caller. Found by experiment.
  "--one-caller-inline-max-function-size=40",
];

/** Arguments that select the crate. */
export const PACKAGE_CRATE = Object.freeze(["-p", CRATE]);
/** A panic stops without a message: a sixth less to download. Needs `RUSTC_BOOTSTRAP`. */
const BUILD_STD = ["-Z", "build-std=std,panic_abort"];
const FLAGS = [
  "-Zunstable-options",
  "-Cpanic=immediate-abort",
  // Inlines before code generation.
  "-Zcross-crate-inline-threshold=always",
  // No object crosses into this wasm, so it needs no table of references.
  "-Ctarget-feature=-reference-types",
];

/** Declarations of what {@link bundleGlue} adds to the glue. */
const GLUE_TYPES = `
/** See \`pkg/wasm/src/host.js\`. */
export function attach(
  sources: readonly unknown[],
  listener: (kind: number, number: number, text: string) => void,
): void;
/** Imports of an instance. */
export const imports: WebAssembly.Imports;
/** Sets the exports of the instance. */
export function setExports(exports: WebAssembly.Exports): void;
`;

/** The package that is published. */
const RELEASE = Object.freeze({
  name: "package",
  out: PACKAGE_DIST,
  optimise: true,
  cargoArgs: ["--release", ...BUILD_STD, ...targetFolder("package")],
});
/** The package inside the page of `npm start`: larger, but compiled within seconds. */
const START = Object.freeze({
  name: "start package",
  out: join(PACKAGE, "build", "start", "dist"),
  optimise: false,
  cargoArgs: [],
});
export const START_PACKAGE = START.out;

/** Builds a variant: by default the published one, into `pkg/dist/`, ready for `npm pack`. */
export async function buildPackage(context, variant = RELEASE) {
  const { bin, made } = context;
  const { name, out } = variant;
  const hasCli = variant === RELEASE;
  await mkdir(out, { recursive: true });
  await mkdir(GENERATED, { recursive: true });
  await generate(`${name} types`, "types", join(out, "types.d.ts"), context);
  for (const content of ["decoders", "protocol", "routes", "tables"]) {
    await generate(`package ${content}`, content, join(GENERATED, `${content}.ts`), context);
  }

  await mkdir(CLI_GENERATED, { recursive: true });
  await generate("package commands", "commands", join(CLI_GENERATED, "operations.ts"), context);

  const wasm = await compileCore(variant, context);
  await bindCore({ ...variant, name: `${name} core` }, wasm, context);
  await embedCore(variant);

  const inputs = ["src", "tsconfig.json", ...(hasCli ? ["cli"] : [])];
  const paths = inputs.map((path) => join(PACKAGE, path));
  await whenChanged({ name, inputs: paths, outputs: [out], made }, async () => {
    await keepOnly(out, ["types.d.ts", ...CORE, ...EMBEDDED]);
    const args = ["-p", PACKAGE, "--outDir", out];
    // Editors show the comments of declarations. Those of the JavaScript only make the package
    // larger.
    const javascript = [...args, "--declaration", "false", "--removeComments", "--sourceMap"];
    const declarations = [...args, "--emitDeclarationOnly"];
    await run("compiling the package's TypeScript", bin.tsc, javascript, context);
    await run("writing the package's declarations", bin.tsc, declarations, context);
    await cleanDeclarations(out);
    // The command line is compiled against the declarations of the compiled package.
    if (!hasCli) return;
    await run("compiling the command line", bin.tsc, ["-p", CLI], context);
    await run(
      "generating the man page",
      process.execPath,
      [MAN_PAGE, join(out, "quillgate.1")],
      context,
    );
    await writeCommonJs(out);
  });
  await copyFile(join(ROOT, "LICENSE"), join(PACKAGE, "LICENSE"));
}

/**
 * Removes file headers, which editors can show as the comment of the first declaration, and
 * `#private`, with which TypeScript rejects a client of an ES module in a CommonJS module.
 */
async function cleanDeclarations(out) {
  const sources = await readdir(join(PACKAGE, "src"));
  for (const file of sources.filter((name) => /^\w+\.ts$/.test(name))) {
    const source = await readFile(join(PACKAGE, "src", file), "utf8");
    const [header = ""] = /^\/\*\*.*?\*\/\n(?=\n)/s.exec(source) ?? [];
    const path = join(out, file.replace(/\.ts$/, ".d.ts"));
    const declarations = await readFile(path, "utf8");
    const isRemoved = declarations.startsWith(header) && !header.includes("@module");
    const shown = isRemoved ? declarations.slice(header.length) : declarations;
    await writeFile(path, shown.replace(/^ *#private;\n/gm, ""));
  }
}

/** For Jest by default, TypeScript with `module: node16`, and tools that read `main`. */
async function writeCommonJs(out) {
  const folder = join(out, "cjs");
  await rm(folder, { recursive: true, force: true });
  const all = await readdir(out, { recursive: true });
  const isShared = (path) => !MODULES_ONLY.includes(basename(path).split(".")[0]);
  const files = all.filter(
    (path) => /^(generated\/)?\w+\.(js|d\.ts)$/.test(path) && isShared(path),
  );
  // Not yet installed when this module loads in a fresh clone.
  const { build } = await import("esbuild");
  await build({
    entryPoints: files.filter((path) => path.endsWith(".js")).map((path) => join(out, path)),
    outbase: out,
    outdir: folder,
    format: "cjs",
    target: "es2022",
  });
  for (const path of files.filter((path) => path.endsWith(".d.ts"))) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await copyFile(join(out, path), join(folder, path));
  }
  await writeFile(join(folder, "package.json"), '{ "type": "commonjs" }\n');
}

/** Builds the package for the page of `npm start` into `pkg/build/start/`. */
export async function buildStartPackage(context) {
  await buildPackage(context, START);
  // The manifest names the modules with side effects, which a bundler must keep.
  const manifest = "package.json";
  await copyFile(join(PACKAGE, manifest), join(START.out, "..", manifest));
}

function compileCore({ optimise, cargoArgs }, context) {
  const args = [...PACKAGE_CRATE, ...cargoArgs];
  const optimised = () => ({ ...withoutLocalPaths(context.env, FLAGS), RUSTC_BOOTSTRAP: "1" });
  const env = optimise ? optimised() : context.env;
  return cargoBuildWasm("compiling the core", CRATE, args, { ...context, env });
}

/** Writes the core's wasm and the module of its imports. */
async function bindCore({ name, optimise, out }, wasm, context) {
  const outputs = CORE.map((file) => join(out, file));
  const inputs = [wasm, HOST, TEXT_CODING];
  const step = { name, inputs, outputs, made: context.made };
  await whenChanged(step, async () => {
    const folder = await mkdtemp(join(tmpdir(), "quillgate-bind-"));
    try {
      const args = ["--target", "bundler", "--remove-name-section", "--remove-producers-section"];
      await runBindgen(name, wasm, [...args, "--out-name", "core", "--out-dir", folder], context);
      const bound = join(folder, "core_bg.wasm");
      if (optimise) {
        await optimiseWasm(name, bound, [...WASM_OPT_ARGS, "--strip-debug"], context);
      }
      const types = await readFile(join(folder, "core.d.ts"), "utf8");
      await mkdir(out, { recursive: true });
      await bundleGlue(folder, join(out, "core.js"));
      await writeFile(join(out, "core.d.ts"), types + GLUE_TYPES);
      await copyFile(bound, join(out, "core_bg.wasm"));
    } finally {
      await rm(folder, { recursive: true });
    }
  });
}

/** Writes wasm-bindgen's glue and its snippet as one module, for an importer that instantiates. */
async function bundleGlue(folder, outfile) {
  const snippets = await readdir(join(folder, "snippets"), { recursive: true });
  const host = `./snippets/${snippets.find((path) => path.endsWith("host.js"))}`;
  const contents = `
    import * as glue from "./core_bg.js";
    import * as host from "${host}";
    export { Task, checkClient, __wbg_set_wasm as setExports } from "./core_bg.js";
    export { attach } from "${host}";
    export const imports = { "./core_bg.js": glue, "${host}": host };
  `;
  const { build } = await import("esbuild");
  const coding = basename(TEXT_CODING);
  await copyFile(TEXT_CODING, join(folder, coding));
  await build({
    stdin: { contents, resolveDir: folder },
    // esbuild writes the paths of modules into comments, relative to this folder.
    absWorkingDir: folder,
    outfile,
    bundle: true,
    format: "esm",
    target: "es2022",
    inject: [`./${coding}`],
  });
}

/** Writes a module that contains the core as a string. */
async function embedCore({ out }) {
  const [module, types] = EMBEDDED.map((file) => join(out, file));
  const text = encodeBytes(await readFile(join(out, "core_bg.wasm")));
  await writeFile(module, `export const text = "${text}";\n`);
  await writeFile(types, "export const text: string;\n");
}
