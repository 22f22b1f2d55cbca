/** Builds and serves changes while `npm start` runs. */
import { join } from "node:path";
import { START_MAIN, START_PAGE, START_PARTS } from "./build.mjs";
import { StepError } from "./child.mjs";
import { digestFiles, isSource, watchFiles } from "./files.mjs";
import { ROOT } from "./versions.mjs";

/** The watched sources. */
const SOURCES = [
  ...["Cargo.lock", "Cargo.toml", "docs/problems", "src"],
  ...["generate", "package.json", "src", "tsconfig.json", "wasm"].map((path) => join("pkg", path)),
  ...["worker/Cargo.toml", "worker/entry", "worker/openapi", "worker/src", "www"],
].map((path) => join(ROOT, path));

/** The parts in build order. The Worker comes first, because it builds faster than the package. */
const PARTS = [
  { name: "Worker", build: START_PARTS.worker, served: START_MAIN },
  { name: "package", build: START_PARTS.package },
  { name: "page", build: START_PARTS.page, served: START_PAGE },
];

/** Leaves out what a build generates inside the sources. */
function isWatched(name) {
  return isSource(name) && name !== "generated";
}

/** Returns a digest of the sources for {@link rebuildOnChange}. */
export function digestSources() {
  return digestFiles(SOURCES, isWatched);
}

/** A newer change stops the running build. After a failure, the previous one continues. */
export function rebuildOnChange(context, gateway, digest) {
  return new Promise((_, reject) => {
    let latest = new AbortController();
    let building = Promise.resolve();
    const onChange = (since) => {
      latest.abort();
      latest = new AbortController();
      const { signal } = latest;
      building = building.then(() => rebuild({ ...context, signal }, gateway, since)).catch(reject);
    };
    watchFiles(SOURCES, isWatched, digest, onChange).catch(reject);
  });
}

async function rebuild(context, gateway, since) {
  const seconds = () => `${((performance.now() - since) / 1000).toFixed(1)} s`;
  let reloads = 0;
  try {
    for (const { name, build, served } of PARTS) {
      const before = served && (await digestFiles([served]));
      await build(context);
      if (!served || before === (await digestFiles([served]))) continue;
      await gateway.restart();
      console.log(`start: serving the changed ${name} (${seconds()})`);
      reloads += 1;
    }
    if (reloads === 0)
      console.log(`start: the change does not affect what is served (${seconds()})`);
  } catch (error) {
    if (context.signal.aborted) return;
    if (!(error instanceof StepError)) throw error;
    console.error(`\n✗ ${error.message}\nstart: still serving the previous build`);
  }
}
