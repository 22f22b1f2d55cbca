/** The gateways that are measured side by side, and their bundles. */
import { copyFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { ROOT } from "../../scripts/versions.mjs";

const WORKERS = fileURLToPath(new URL("workers/", import.meta.url));
const BUILT = join(ROOT, "worker", "build");
const WASM = "gateway_bg.wasm";

/**
 * A gateway as a service of workerd.
 *
 * @typedef {object} Variant
 * @property {string} name
 * @property {string} script its main module, in the folder of the bundles
 * @property {string} [wasm] a module beside it
 * @property {Record<string, string>} [objects] Durable Object classes by the binding's name
 * @property {Record<string, string>} [vars] variables beside those of all
 */

const GATES = { PROJECT_GATE: "ProjectGate", ORG_GATE: "OrgGate" };
const GATE = { GATE: "Gate" };

/** @type {Variant[]} */
export const VARIANTS = [
  { name: "fixed", script: "fixed.mjs" },
  { name: "bare", script: "bare.mjs" },
  { name: "hand", script: "hand.mjs" },
  { name: "hono", script: "hono.mjs" },
  { name: "hand-do", script: "hand_do.mjs", objects: GATE },
  { name: "quillgate", script: "quillgate.mjs", wasm: WASM, objects: GATES },
];

/** What each step adds to the hand-written gateway's way to page views. */
export const STEPS = {
  "step-1": "hand, and a call of a Durable Object that does nothing",
  "step-2": "hand, and the object asks upstream and hands over the text",
  "step-3": "… and reads it as JSON and writes it anew",
  "step-4": "… and reserves and settles: two SQL statements",
  "step-5": "… and keeps the page: one more, of 20 kB",
};

/** @type {Variant[]} */
export const STEP_VARIANTS = Object.keys(STEPS).map((name) => ({
  name,
  script: "steps.mjs",
  objects: GATE,
  vars: { STEP: name.slice("step-".length) },
}));

/** @type {Variant} */
export const COUNTED = { name: "counted", script: "counted.mjs", wasm: WASM, objects: GATES };
/** @type {Variant} */
export const UPSTREAM = { name: "upstream", script: "upstream.mjs" };

/** Puts all bundles into a folder. The gateway must have been built. */
export async function bundleInto(folder) {
  const own = ["upstream", "fixed", "bare", "hand", "hono", "hand_do", "steps"];
  await build({
    entryPoints: own.map((name) => join(WORKERS, `${name}.mjs`)),
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    ...options(),
  });
  await copyFile(join(BUILT, "index.js"), join(folder, "quillgate.mjs"));
  await copyFile(join(BUILT, WASM), join(folder, WASM));
  // The same entry, with a module before it that wraps what will be instantiated.
  await build({
    entryPoints: [join(WORKERS, "counted.mjs")],
    outfile: join(folder, "counted.mjs"),
    loader: { ".wasm": "copy", ".json": "text" },
    assetNames: "[name]",
    ...options(),
  });
}

function options() {
  return {
    bundle: true,
    format: "esm",
    target: "es2023",
    // As Cloudflare's own bundler resolves packages.
    conditions: ["workerd", "worker", "browser"],
    external: ["cloudflare:*"],
    logLevel: "error",
  };
}

/** The compatibility date and flags that the gateway is deployed with. */
export async function compatibility() {
  const text = await readFile(join(ROOT, "worker", "wrangler.toml"), "utf8");
  const date = /^compatibility_date = "(.+)"$/m.exec(text)?.[1];
  const flags = /^compatibility_flags = (\[.*\])$/m.exec(text)?.[1];
  if (!date || !flags) throw new Error("worker/wrangler.toml names no compatibility date or flags");
  return { date, flags: JSON.parse(flags) };
}
