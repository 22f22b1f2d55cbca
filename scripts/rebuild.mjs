/** `npm start` after the start: builds what has changed, and waits until it is served. */
import { join } from "node:path";
import { buildPackage, buildPage, buildStartWorker, PAGE_DIST, START_MAIN } from "./build.mjs";
import { onShutdown, StepError } from "./child.mjs";
import { digestFiles, watchFiles } from "./files.mjs";
import { ROOT } from "./versions.mjs";

/** What the parts are built from. */
const SOURCES = [
  ...["Cargo.lock", "Cargo.toml", "pkg", "src"],
  ...["worker/Cargo.toml", "worker/entry", "worker/src", "www"],
].map((path) => join(ROOT, path));

/** The Worker first: it is built in seconds, the package is not. */
const PARTS = [
  { name: "Worker", build: buildStartWorker, served: START_MAIN },
  { name: "package", build: buildPackage },
  { name: "page", build: buildPage, served: PAGE_DIST },
];

/** The content of the sources, to be told to {@link rebuildOnChange} later. */
export function digestSources() {
  return digestFiles(SOURCES);
}

/**
 * Builds and serves every change until this process ends. A later change stops the build of an
 * earlier one; a build that fails leaves running what it would have replaced.
 *
 * @param {import("./setup.mjs").Context} context
 * @param {{ log: () => string, reloaded: (logLength: number) => Promise<void> }} gateway
 * @param {string} digest what the gateway was built from, by {@link digestSources}
 * @returns {Promise<never>} rejects when the gateway does not start again with a change
 */
export function rebuildOnChange(context, gateway, digest) {
  return new Promise((_, reject) => {
    let latest = new AbortController();
    let building = Promise.resolve();
    const stop = watchFiles(SOURCES, digest, (since) => {
      latest.abort();
      latest = new AbortController();
      const { signal } = latest;
      building = building.then(() => rebuild({ ...context, signal }, gateway, since)).catch(reject);
    });
    onShutdown(() => {
      stop();
      latest.abort();
    });
  });
}

async function rebuild(context, gateway, since) {
  const seconds = () => `${((performance.now() - since) / 1000).toFixed(1)} s`;
  let reloads = 0;
  try {
    for (const { name, build, served } of PARTS) {
      const logLength = gateway.log().length;
      const before = served && (await digestFiles([served]));
      await build(context);
      if (!served || before === (await digestFiles([served]))) continue;
      await gateway.reloaded(logLength);
      console.log(`start: the changed ${name} runs (${seconds()})`);
      reloads += 1;
    }
    if (reloads === 0) console.log(`start: the change makes no difference (${seconds()})`);
  } catch (error) {
    if (context.signal.aborted) return;
    if (!(error instanceof StepError)) throw error;
    console.error(`\n✗ ${error.message}\nstart: what ran before still runs`);
  }
}
