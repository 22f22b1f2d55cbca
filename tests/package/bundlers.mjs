/**
 * Bundlers, each as its users run it with no configuration for this package: they make
 * `out/entry.js` of a folder's `entry.mjs`.
 */
import assert from "node:assert/strict";
import { cpSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { runProgram, tool, toolPath, versionOf } from "./installed.mjs";

export const DENO = toolPath(`@deno/${process.platform}-${process.arch}-glibc`, "deno");
const BUN_ARCH = process.arch === "arm64" ? "aarch64" : process.arch;
export const BUN = toolPath("@oven", `bun-${process.platform}-${BUN_ARCH}`, "bin", "bun");

export function denoEnv(folder) {
  return { ...process.env, DENO_NO_UPDATE_CHECK: "1", DENO_DIR: join(folder, ".deno") };
}

/** @typedef {"browser" | "server"} Target the server is the bundler's own runtime, or Node */

/**
 * @typedef {object} Bundler
 * @property {string} tool the package that brings it
 * @property {(root: string, target: Target) => Promise<void>} bundle
 * @property {string} [plugins] what it does not do by itself
 *
 * @type {Record<string, Bundler>}
 */
export const BUNDLERS = {
  "Vite build": { tool: "vite", bundle: bundleWithVite },
  esbuild: { tool: "esbuild", bundle: bundleWithEsbuild },
  Rollup: { tool: "rollup", bundle: bundleWithRollup, plugins: ", with its node-resolve plugin" },
  webpack: { tool: "webpack", bundle: bundleWithWebpack },
  "bun build": { tool: "bun", bundle: bundleWithBun },
  "deno bundle": { tool: "deno", bundle: bundleWithDeno },
};

async function bundleWithVite(root) {
  const { build } = await import("vite");
  const output = { entryFileNames: "entry.js" };
  const options = { outDir: "out", emptyOutDir: false, rolldownOptions: { output } };
  await build({ root, configFile: false, logLevel: "warn", build: options });
}

async function bundleWithEsbuild(root, target) {
  const { build } = await import("esbuild");
  await build({
    entryPoints: [join(root, "entry.mjs")],
    bundle: true,
    format: "esm",
    platform: target === "server" ? "node" : "browser",
    outdir: join(root, "out"),
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

async function bundleWithBun(root, target) {
  const platform = target === "server" ? "bun" : "browser";
  const args = ["build", "entry.mjs", "--outdir", "out", "--target", platform];
  await runProgram("bun-build", BUN, args, { cwd: root });
}

async function bundleWithDeno(root, target) {
  placeDenosEsbuild(root);
  const platform = target === "server" ? "deno" : "browser";
  const args = ["bundle", "--no-remote", "--platform", platform, "entry.mjs", "-o", "out/entry.js"];
  // With no registry to download from, it has what it needs or fails.
  const env = { ...denoEnv(root), NPM_CONFIG_REGISTRY: "http://127.0.0.1:9" };
  await runProgram("deno-bundle", DENO, args, { cwd: root, env });
}

/**
 * `deno bundle` runs an esbuild of its own, which it would download. The one that it would take is
 * installed with the tools, so that its version and its hash are in their lock file.
 */
function placeDenosEsbuild(root) {
  const name = `${process.platform}-${process.arch}`;
  const version = versionOf(`deno-esbuild-${name}`);
  const folder = join(denoEnv(root).DENO_DIR, "dl", `esbuild-${version}`);
  const program = join(folder, `esbuild-${name}`);
  if (existsSync(program)) return;
  mkdirSync(folder, { recursive: true });
  cpSync(toolPath(`deno-esbuild-${name}`, "bin", "esbuild"), program);
}
