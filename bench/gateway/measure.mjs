/** The gateway beside its peers and an earlier build: what is measured, section by section. */
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { measure as measureSize } from "../sizes.mjs";
import { provideBefore } from "./before.mjs";
import { measureColdStarts } from "./cold_start.mjs";
import { countCrossings } from "./crossings.mjs";
import { measureExports } from "./exports.mjs";
import { measureJobs } from "./jobs.mjs";
import { measureMemory } from "./memory.mjs";
import { ALONE, PATHS } from "./sections.mjs";
import { runSelfTest } from "./selftest.mjs";
import { startBench } from "./servers.mjs";
import { measureThroughput } from "./throughput.mjs";
import { PRESENT, SCRIPT, WASM } from "./variants.mjs";

/**
 * Measures sections. The gateway must have been built.
 *
 * @typedef {object} Measured a section that was not asked for is missing
 * @property {import("./selftest.mjs").Deviations} [deviations]
 * @property {Record<string, import("./throughput.mjs").Group[]>} throughput by path
 * @property {Record<string, import("./cold_start.mjs").Start[]>} [coldStarts] by variant
 * @property {Record<string, import("./memory.mjs").Memory>} [memory] by variant
 * @property {Awaited<ReturnType<typeof countCrossings>>} [crossings]
 * @property {Awaited<ReturnType<typeof measureJobs>>} [jobs] by the number of recorded jobs
 * @property {Awaited<ReturnType<typeof measureExports>>} [exports]
 * @property {Record<string, { wasm: Size, script: Size }>} [sizes] by build
 * @property {string} place where the storage was
 *
 * @typedef {ReturnType<typeof measureSize>} Size
 *
 * @param {import("../../scripts/setup.mjs").Context} context
 * @param {string[]} sections
 * @returns {Promise<Measured>}
 */
export async function measureGateway(context, sections) {
  const hasPeers = sections.some((section) => !ALONE.includes(section));
  const before = hasPeers ? await provideBefore(context) : undefined;
  const bench = await startBench(before);
  const has = (section) => sections.includes(section);
  try {
    const deviations = hasPeers ? await runSelfTest(bench) : undefined;
    const throughput = {};
    for (const path of PATHS.filter(has)) {
      throughput[path] = await measureThroughput(bench, path);
    }
    return {
      deviations,
      throughput,
      coldStarts: has("cold-start") ? await measureColdStarts(bench) : undefined,
      memory: has("memory") ? await measureMemory(bench) : undefined,
      crossings: has("crossings") ? await countCrossings(bench) : undefined,
      jobs: has("jobs") ? await measureJobs(bench) : undefined,
      exports: has("export") ? await measureExports(bench) : undefined,
      sizes: has("size") ? await measureSizes({ quillgate: PRESENT, before }) : undefined,
      place: dirname(bench.folder),
    };
  } finally {
    await bench.stop();
  }
}

async function measureSizes(folders) {
  const sizes = {};
  for (const [name, folder] of Object.entries(folders)) {
    const [wasm, script] = await Promise.all(
      [WASM, SCRIPT].map((file) => readFile(join(folder, file))),
    );
    sizes[name] = { wasm: measureSize(wasm), script: measureSize(script) };
  }
  return sizes;
}
