/**
 * Runs a Worker in workerd until this process receives a signal. `gateway.mjs` starts it as a
 * separate process, so that a test can kill workerd as a crash would.
 *
 * Usage: node workerd.mjs OPTIONS, where OPTIONS is the JSON file that `gateway.mjs` writes.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, extname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "smol-toml";
import { listen } from "./listen.mjs";
import { createTables, loadMiniflare, storageOptions } from "./storage.mjs";

const FAST_CLOCK = fileURLToPath(new URL("./fast_clock.mjs", import.meta.url));
const { Miniflare, NoOpLog } = loadMiniflare();
const options = JSON.parse(readFileSync(process.argv[2], "utf8"));
const config = parse(readFileSync(options.config, "utf8"));
const miniflare = new Miniflare({
  ...storageOptions(options.state),
  cf: false,
  log: new NoOpLog(),
  handleRuntimeStdio(stdout, stderr) {
    stdout.pipe(process.stdout);
    stderr.pipe(process.stderr);
  },
  workers: [await workerOptions()],
});
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, stop);

try {
  await miniflare.ready;
  if (options.archive === "migrated") await createTables(miniflare);
  const { url } = await listenForCron();
  console.log(`Ready on http://127.0.0.1:${options.port}, cron trigger on ${url}`);
} catch (error) {
  console.error(error);
  await miniflare.dispose().catch(() => {});
  process.exit(1);
}

/** Starts a server that fires the cron trigger for each request and waits for its handler. */
function listenForCron() {
  return listen(async (_request, response) => {
    const worker = await miniflare.getWorker();
    const { outcome } = await worker.scheduled({ cron: "*/10 * * * *" });
    response.writeHead(outcome === "ok" ? 200 : 500).end(outcome);
  });
}

async function stop() {
  await miniflare.dispose();
  process.exit(0);
}

async function workerOptions() {
  const script = await loadScript();
  return {
    name: config.name,
    compatibilityDate: config.compatibility_date,
    compatibilityFlags: config.compatibility_flags,
    bindings: { ...config.vars, ...options.variables },
    durableObjects: durableObjects(),
    d1Databases: options.archive === "none" ? {} : { ARCHIVE: "quillgate-archive" },
    assets: staticAssets(),
    // Clients connect to workerd directly, so no other Worker changes requests or responses.
    unsafeDirectSockets: [{ host: "127.0.0.1", port: options.port }],
    ...script,
  };
}

/** Loads a built Worker unchanged, with the wasm in its folder. Bundles any other script. */
async function loadScript() {
  const script = options.main ?? resolve(dirname(options.config), config.main);
  const isBuilt = readdirSync(dirname(script)).some((file) => file.endsWith(".wasm"));
  if (isBuilt && !options.clock) return modulesIn(script);
  const folder = join(options.scratch, "script");
  mkdirSync(folder, { recursive: true });
  const main = options.clock ? writeFastScript(folder, script) : script;
  const bundle = join(folder, "index.js");
  const { build } = await import("esbuild");
  await build({
    entryPoints: [main],
    outfile: bundle,
    bundle: true,
    format: "esm",
    target: "es2023",
    conditions: ["workerd", "worker", "browser"],
    external: ["cloudflare:*", "node:*"],
    loader: { ".wasm": "copy", ".txt": "copy" },
    logLevel: "warning",
  });
  return modulesIn(bundle);
}

/** Writes a script that runs another one with a faster clock. Returns the path of the script. */
function writeFastScript(folder, script) {
  const names = Object.values(durableObjects()).map(({ className }) => className);
  const lines = [
    `import * as worker from ${JSON.stringify(script)};`,
    `import { accelerate } from ${JSON.stringify(FAST_CLOCK)};`,
    `const withFastAlarms = accelerate(${JSON.stringify(options.clock)});`,
    ...names.map((name) => `export const ${name} = withFastAlarms(worker.${name});`),
    "export default worker.default;",
  ];
  const path = join(folder, "fast.mjs");
  writeFileSync(path, lines.join("\n"));
  return path;
}

/** Lists the modules, because Miniflare would parse the whole script to find them. */
function modulesIn(script) {
  const folder = dirname(script);
  const names = readdirSync(folder).filter((name) => name !== basename(script));
  const modules = [basename(script), ...names].map((name) => ({
    type: { ".js": "ESModule", ".wasm": "CompiledWasm", ".txt": "Text" }[extname(name)],
    path: join(folder, name),
  }));
  return { modulesRoot: folder, modules: modules.filter(({ type }) => type) };
}

function durableObjects() {
  const classes = (config.migrations ?? []).flatMap((step) => step.new_sqlite_classes ?? []);
  const bindings = config.durable_objects?.bindings ?? [];
  return Object.fromEntries(
    bindings.map(({ name, class_name: className }) => [
      name,
      { className, useSQLite: classes.includes(className) },
    ]),
  );
}

function staticAssets() {
  if (!config.assets) return undefined;
  const { directory, binding, run_worker_first: workerFirst = [] } = config.assets;
  return {
    directory: options.assets ?? resolve(dirname(options.config), directory),
    binding,
    routerConfig: { has_user_worker: true, static_routing: { user_worker: workerFirst } },
    assetConfig: {
      compatibility_date: config.compatibility_date,
      compatibility_flags: config.compatibility_flags,
      html_handling: config.assets.html_handling,
      not_found_handling: config.assets.not_found_handling,
    },
  };
}
