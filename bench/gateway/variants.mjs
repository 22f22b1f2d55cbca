/** The Workers of the benchmark, including the upstream, and their bundles. */
import { copyFile, mkdir, readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { ROOT } from "../../scripts/versions.mjs";

const WORKERS = fileURLToPath(new URL("workers/", import.meta.url));

/** Output folder of `npm run build -- worker`. */
export const PRESENT = join(ROOT, "worker", "build");
export const SCRIPT = "index.js";
export const WASM = "gateway_bg.wasm";
export const TEXT = "openapi.txt";
/** Files of a built Worker. */
export const MODULES = [SCRIPT, WASM, TEXT];
/** Processor times, cold start and size are compared with the build of this commit. */
export const BASELINE_COMMIT = "d66a0cde";

export const VARIANTS = {
  quillgate: { description: "the current Worker", isBuild: true, hasObjects: true },
  baseline: { description: `the Worker of ${BASELINE_COMMIT}`, isBuild: true, hasObjects: true },
  hono: { description: "Hono with its middleware, same checks, job reads only" },
  same_statements: {
    description: "JavaScript with the same statements, creations and views only",
    hasObjects: true,
  },
  traced_quillgate: { isBuild: true, hasObjects: true },
  traced_same_statements: { hasObjects: true },
  upstream: {},
};

/** Durable Object classes by binding name. */
export const OBJECTS = { PROJECT_GATE: "ProjectGate", ORG_GATE: "OrgGate" };

export async function bundleVariants(folder, baseline) {
  const options = { ...OPTIONS, define: await readMigrations() };
  for (const name of ["hono", "upstream", "same_statements"]) {
    await bundle(`${name}.mjs`, join(folder, name), options);
  }
  for (const [name, path] of Object.entries(TRACED)) {
    await bundle("traced.mjs", join(folder, `traced_${name}`), {
      ...options,
      alias: { traced: path },
    });
  }
  await copyBuild(PRESENT, join(folder, "quillgate"));
  if (baseline) await copyBuild(baseline, join(folder, "baseline"));
}

/** The Workers that `traced.mjs` can trace. */
const TRACED = {
  quillgate: join(PRESENT, SCRIPT),
  same_statements: join(WORKERS, "same_statements.mjs"),
};

async function bundle(file, outdir, options) {
  await build({ entryPoints: [{ in: join(WORKERS, file), out: "index" }], outdir, ...options });
}

/** Reads the migrations of both Durable Objects as constants of `same_statements.mjs`. */
async function readMigrations() {
  const read = async (...folders) => {
    const listed = folders.map(async (folder) => {
      const path = join(ROOT, "worker", "src", folder, "migrations");
      return (await readdir(path)).map((name) => join(path, name));
    });
    const files = (await Promise.all(listed)).flat();
    files.sort((a, b) => basename(a).localeCompare(basename(b)));
    return JSON.stringify(await Promise.all(files.map((file) => readFile(file, "utf8"))));
  };
  return {
    PROJECT_MIGRATIONS: await read("budget", "jobs/store"),
    ORGANIZATION_MIGRATIONS: await read("budget", "analytics"),
  };
}

const OPTIONS = {
  bundle: true,
  format: "esm",
  target: "es2023",
  // The conditions of Cloudflare's bundler.
  conditions: ["workerd", "worker", "browser"],
  external: ["cloudflare:*"],
  loader: { ".sql": "text", ".txt": "copy", ".wasm": "copy" },
  assetNames: "[name]",
  logLevel: "error",
};

async function copyBuild(from, to) {
  await mkdir(to);
  for (const name of MODULES) await copyFile(join(from, name), join(to, name));
}

/** Reads the compatibility date and flags of the deployed gateway. */
export async function readCompatibility() {
  const text = await readFile(join(ROOT, "worker", "wrangler.toml"), "utf8");
  const date = /^compatibility_date = "(.+)"$/m.exec(text)?.[1];
  const flags = /^compatibility_flags = (\[.*\])$/m.exec(text)?.[1];
  if (!date || !flags) throw new Error("worker/wrangler.toml has no compatibility date or flags");
  return { date, flags: JSON.parse(flags) };
}
