/**
 * `npm run build [-- PART… --verbose]`: builds the named parts, or all of them, in the order of
 * {@link PARTS}. It imports npm packages only after {@link setup} has installed them.
 */
import { parseArgs } from "node:util";
import { buildGateway } from "./build/gateway_package.mjs";
import { buildPackage, buildStartPackage } from "./build/package.mjs";
import { buildPage, buildStartPage } from "./build/page.mjs";
import { buildStartWorker, buildWorker } from "./build/worker.mjs";
import { runMain, StepError } from "./child.mjs";
import { secondsSince, setup } from "./setup.mjs";

export { buildGateway } from "./build/gateway_package.mjs";
export { buildGenerator } from "./build/generator.mjs";
export { buildPackage, buildStartPackage } from "./build/package.mjs";
export { buildPage, buildStartPage, PAGE_DIST, START_PAGE } from "./build/page.mjs";
export { buildStartWorker, buildWorker, START_MAIN } from "./build/worker.mjs";

/** Needs of a build, for {@link setup}. */
export const BUILD_NEEDS = Object.freeze({ wasmBindgen: true });

/** In build order: the page contains the package, and the gateway the Worker and the page. */
export const PARTS = Object.freeze({
  package: buildPackage,
  worker: buildWorker,
  page: buildPage,
  gateway: buildGateway,
  "start-worker": buildStartWorker,
});

/** The parts of `npm start`. */
export const START_PARTS = Object.freeze({
  package: buildStartPackage,
  worker: buildStartWorker,
  page: buildStartPage,
});

/** Builds parts one after another, and prints the time and the work of each. */
export async function build(context, parts = PARTS) {
  const all = { compiled: [], made: [] };
  for (const [name, buildPart] of Object.entries(parts)) {
    const started = performance.now();
    const work = { compiled: [], made: [] };
    // `\r` lets the message below overwrite this one.
    if (process.stdout.isTTY) process.stdout.write(`build: ${name} …\r`);
    await buildPart({ ...context, ...work });
    console.log(`build: ${name} done (${secondsSince(started)}), ${describe(work)}`);
    all.compiled.push(...work.compiled);
    all.made.push(...work.made);
  }
  return all;
}

function describe({ compiled, made }) {
  const done = [];
  if (compiled.length > 3) done.push(`compiled ${compiled.length} crates`);
  else if (compiled.length > 0) done.push(`compiled ${compiled.join(", ")}`);
  if (made.length > 0) done.push(`made ${made.join(", ")}`);
  return done.length > 0 ? done.join(", ") : "nothing to do";
}

function selectParts(names) {
  const unknown = names.filter((name) => !Object.hasOwn(PARTS, name));
  if (unknown.length > 0) {
    const known = Object.keys(PARTS).join(", ");
    throw new StepError(`unknown part ${unknown.join(", ")}; known parts are ${known}`);
  }
  if (names.length === 0) return PARTS;
  return Object.fromEntries(Object.entries(PARTS).filter(([name]) => names.includes(name)));
}

if (process.argv[1] === import.meta.filename) {
  await runMain(async () => {
    const options = { verbose: { type: "boolean" } };
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    const parts = selectParts(positionals);
    await build(await setup(BUILD_NEEDS, values), parts);
  });
}
