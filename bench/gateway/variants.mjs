/** The Workers that are measured, and their bundles. */
import { copyFile, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { ROOT } from "../../scripts/versions.mjs";

const WORKERS = fileURLToPath(new URL("workers/", import.meta.url));

/** The present Worker, as `npm run build -- worker` leaves it. */
export const PRESENT = join(ROOT, "worker", "build");
export const SCRIPT = "index.js";
export const WASM = "gateway_bg.wasm";
export const TEXT = "openapi.txt";
/** What the {@link PRESENT} Worker consists of. */
export const MODULES = [SCRIPT, WASM, TEXT];
/** The commit whose build the present Worker is compared with. */
export const BEFORE_COMMIT = "6f04cb0";

/**
 * What a variant is, by name. Each has a folder of its name among the bundles, with its
 * {@link SCRIPT}.
 *
 * @typedef {object} Variant
 * @property {string} [description]
 * @property {boolean} [hasWasm] whether its {@link WASM} lies beside it
 * @property {boolean} [hasText] whether its {@link TEXT} does
 * @property {boolean} [hasObjects] whether it has the two Durable Object classes
 *
 * @type {Record<string, Variant>}
 */
export const VARIANTS = {
  quillgate: { description: "the present Worker", hasWasm: true, hasText: true, hasObjects: true },
  before: { description: `the Worker of ${BEFORE_COMMIT}`, hasWasm: true, hasObjects: true },
  hand: { description: "JavaScript by hand, same checks and objects", hasObjects: true },
  hono: { description: "Hono with its middleware, same checks; job reads only" },
  bare: { description: "JavaScript pass-through, no checks" },
  counted: { hasWasm: true, hasText: true, hasObjects: true },
  recorded: { hasWasm: true, hasText: true, hasObjects: true },
  loop: { description: "a plain Worker that loops over the pages" },
  looped: {
    description: "JavaScript by hand, same checks and objects, page after page",
    hasObjects: true,
  },
  upstream: {},
};

/** Durable Object classes by the binding's name. */
export const OBJECTS = { PROJECT_GATE: "ProjectGate", ORG_GATE: "OrgGate" };

/**
 * Puts all bundles into a folder. The gateway must have been built.
 *
 * @param {string} folder
 * @param {string} [before] the folder with the earlier build
 */
export async function bundleVariants(folder, before) {
  const names = ["hand", "hono", "bare", "loop", "looped", "upstream"];
  const entryPoints = names.map((name) => ({
    in: join(WORKERS, `${name}.mjs`),
    out: join(name, "index"),
  }));
  await build({ entryPoints, outdir: folder, ...OPTIONS });
  for (const name of ["counted", "recorded"]) {
    const entryPoint = { in: join(WORKERS, `${name}.mjs`), out: "index" };
    await build({ entryPoints: [entryPoint], outdir: join(folder, name), ...OPTIONS });
  }
  await copyBuild(PRESENT, join(folder, "quillgate"), MODULES);
  if (before) await copyBuild(before, join(folder, "before"), [SCRIPT, WASM]);
}

const OPTIONS = {
  bundle: true,
  format: "esm",
  target: "es2023",
  // As Cloudflare's own bundler resolves packages.
  conditions: ["workerd", "worker", "browser"],
  external: ["cloudflare:*"],
  loader: { ".wasm": "copy", ".txt": "copy" },
  assetNames: "[name]",
  logLevel: "error",
};

async function copyBuild(from, to, names) {
  await mkdir(to);
  for (const name of names) await copyFile(join(from, name), join(to, name));
}

/** Reads the compatibility date and flags that the gateway is deployed with. */
export async function readCompatibility() {
  const text = await readFile(join(ROOT, "worker", "wrangler.toml"), "utf8");
  const date = /^compatibility_date = "(.+)"$/m.exec(text)?.[1];
  const flags = /^compatibility_flags = (\[.*\])$/m.exec(text)?.[1];
  if (!date || !flags) throw new Error("worker/wrangler.toml has no compatibility date or flags");
  return { date, flags: JSON.parse(flags) };
}
