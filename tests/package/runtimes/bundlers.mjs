/** Bundlers with their default configuration: from `entry.mjs` to `out/entry.js` or `.cjs`. */
import assert from "node:assert/strict";
import { cpSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { runProgram, tool, toolPath, versionOf, write } from "../installed.mjs";
import { BUN, DENO, denoEnv } from "./servers.mjs";

export const BUNDLERS = {
  "Vite build": { tool: "vite", bundle: bundleWithVite },
  esbuild: { tool: "esbuild", bundle: bundleWithEsbuild },
  Rollup: { tool: "rollup", bundle: bundleWithRollup, plugins: ", with its node-resolve plugin" },
  webpack: { tool: "webpack", bundle: bundleWithWebpack },
  "Parcel 2": { tool: "@parcel/core", bundle: bundleWithParcel },
  "bun build": { tool: "bun", bundle: bundleWithBun },
  "deno bundle": { tool: "deno", bundle: bundleWithDeno },
};

async function bundleWithVite(root) {
  const { build } = await import("vite");
  const output = { entryFileNames: "entry.js" };
  const options = { outDir: "out", emptyOutDir: false, rolldownOptions: { output } };
  await build({ root, configFile: false, logLevel: "warn", build: options });
}

async function bundleWithEsbuild(root, target, format = "esm") {
  const { build } = await import("esbuild");
  await build({
    entryPoints: [join(root, "entry.mjs")],
    bundle: true,
    format,
    platform: target === "server" ? "node" : "browser",
    outfile: join(root, "out", format === "cjs" ? "entry.cjs" : "entry.js"),
    logLevel: "warning",
  });
}

async function bundleWithRollup(root) {
  const { rollup } = await import(pathToFileURL(tool.resolve("rollup")).href);
  const { nodeResolve } = tool("@rollup/plugin-node-resolve");
  const bundled = await rollup({ input: join(root, "entry.mjs"), plugins: [nodeResolve()] });
  await bundled.write({ dir: join(root, "out"), format: "es" });
  await bundled.close();
}

async function bundleWithWebpack(root) {
  const webpack = tool("webpack");
  const compiler = webpack({
    mode: "production",
    context: root,
    entry: "./entry.mjs",
    output: { path: join(root, "out"), filename: "entry.js" },
  });
  const stats = await new Promise((resolve, reject) => {
    compiler.run((error, result) => (error ? reject(error) : resolve(result)));
  });
  await new Promise((resolve) => compiler.close(resolve));
  assert.ok(!stats.hasErrors() && !stats.hasWarnings(), stats.toString());
}

async function bundleWithParcel(root) {
  const { Parcel } = tool("@parcel/core");
  write(root, { "package-lock.json": "{}" }); // Marks the root of the project.
  const target = {
    ...{ distDir: join(root, "out"), distEntry: "entry.js" },
    ...{ context: "browser", outputFormat: "esmodule", includeNodeModules: true },
    ...{ engines: { browsers: ["last 2 Chrome versions"] }, sourceMap: false },
  };
  await new Parcel({
    entries: join(root, "entry.mjs"),
    defaultConfig: tool.resolve("@parcel/config-default"),
    mode: "production",
    shouldDisableCache: true,
    targets: { main: target },
  }).run();
}

async function bundleWithBun(root, target) {
  const platform = target === "server" ? "bun" : "browser";
  const args = ["build", "entry.mjs", "--outdir", "out", "--target", platform];
  await runProgram("bun-build", BUN, args, { cwd: root });
}

async function bundleWithDeno(root, target) {
  placeEsbuildOfDeno(root);
  const platform = target === "server" ? "deno" : "browser";
  const args = ["bundle", "--no-remote", "--platform", platform, "entry.mjs", "-o", "out/entry.js"];
  // This registry does not exist, so a download fails.
  const env = { ...denoEnv(root), NPM_CONFIG_REGISTRY: "http://127.0.0.1:9" };
  await runProgram("deno-bundle", DENO, args, { cwd: root, env });
}

/** Puts the locked esbuild of tests/package/tools where `deno bundle` would download it to. */
function placeEsbuildOfDeno(root) {
  const name = `${process.platform}-${process.arch}`;
  const version = versionOf(`deno-esbuild-${name}`);
  const folder = join(denoEnv(root).DENO_DIR, "dl", `esbuild-${version}`);
  const program = join(folder, `esbuild-${name}`);
  if (existsSync(program)) return;
  mkdirSync(folder, { recursive: true });
  cpSync(toolPath(`deno-esbuild-${name}`, "bin", "esbuild"), program);
}
