/** Measures the gateway, section by section. */
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { measure as measureSize } from "../sizes.mjs";
import { provideBaseline } from "./baseline.mjs";
import { measureColdStarts } from "./cold_start.mjs";
import { measureExports } from "./exports.mjs";
import { measureMemory } from "./memory.mjs";
import { PATHS, WITH_BASELINE } from "./sections.mjs";
import { startBench } from "./servers.mjs";
import { checkStatements } from "./statements.mjs";
import { measureThroughput } from "./throughput.mjs";
import { MODULES, PRESENT } from "./variants.mjs";

export async function measureGateway(context, sections) {
  const has = (section) => sections.includes(section);
  const baseline = WITH_BASELINE.some(has) ? await provideBaseline(context) : undefined;
  const bench = await startBench(baseline);
  try {
    if (PATHS.some(has)) await checkStatements(bench);
    const throughput = {};
    for (const path of PATHS.filter(has)) {
      throughput[path] = await measureThroughput(bench, path);
    }
    return {
      throughput,
      coldStarts: has("cold-start") ? await measureColdStarts(bench) : undefined,
      memory: has("memory") ? await measureMemory(bench) : undefined,
      exports: has("export") ? await measureExports(bench) : undefined,
      sizes: has("size") ? await measureSizes({ quillgate: PRESENT, baseline }) : undefined,
      place: dirname(bench.folder),
    };
  } finally {
    await bench.stop();
  }
}

async function measureSizes(folders) {
  const sizes = {};
  for (const [name, folder] of Object.entries(folders)) {
    const files = await Promise.all(MODULES.map((module) => readFile(join(folder, module))));
    sizes[name] = Object.fromEntries(MODULES.map((module, at) => [module, measureSize(files[at])]));
  }
  return sizes;
}
