/** Benchmark of exports. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { readPeak } from "./process_usage.mjs";
import { startServer } from "./servers.mjs";

const READER = fileURLToPath(new URL("export_reader.mjs", import.meta.url));
const PACKAGE_READER = fileURLToPath(new URL("package_export_reader.mjs", import.meta.url));
export const FORMATS = ["csv", "ndjson"];

/** The Workers whose speed is measured. They share a process. */
const VARIANTS = ["quillgate", "baseline"];
export const ROWS = 40_000;
/**
 * How long upstream takes for each page of these exports, in milliseconds. Without a delay, a Worker
 * that handles several pages together would need less processor time, but only in this benchmark.
 */
export const DELAY = 50;
const SPEED_PROJECT = `delay-${DELAY}-rows-${ROWS}`;
export const ROUNDS = 12;
/** Exports of each Worker before the first round: V8 compiles hot functions twice. */
const WARM_UPS = 4;
/** The shortest and the longest export whose memory is measured. */
export const LENGTHS = [1e3, 1e6];
/** Rows exported before memory is read, whatever the length of each export. */
export const TOTAL_ROWS = 1e6;

export const MEMORY_RUNS = 3;
/** Maximum V8 heap in megabytes, the limit of a Cloudflare isolate. */
export const HEAP_LIMIT = 128;

/** A process whose memory is measured. */
export const SOURCES = {
  workerd: {
    what: `workerd, V8 heap of ${HEAP_LIMIT} MB`,
    reader: READER,
    v8Flags: [`--max-heap-size=${HEAP_LIMIT}`],
    process: "server",
  },
  package: {
    what: "the package's `export()` in Node",
    reader: PACKAGE_READER,
    process: "reader",
  },
};

let ranges = 0;

function buildExport(format, projectId) {
  ranges += 1;
  const dateFrom = new Date(Date.UTC(2000, 0, 1) - ranges * 86_400_000).toISOString().slice(0, 10);
  return { projectId, format, dateFrom, dateTo: "2026-01-01" };
}

const nameList = (rows) => `rows-${rows}`;
const projects = [SPEED_PROJECT, ...LENGTHS.map(nameList)];

export async function measureExports(bench) {
  return { speed: await measureSpeed(bench), memory: await measureMemory(bench) };
}

/** Exports from both Workers in turn, in reversed order in odd rounds. */
async function measureSpeed(bench) {
  const server = await startServer(bench, VARIANTS);
  const reader = startReader(bench, READER);
  const measure = async (variant, format) => {
    const to = { port: server.ports[variant], pid: server.pid };
    const { milliseconds, cpu } = await reader.read({
      ...to,
      ...buildExport(format, SPEED_PROJECT),
    });
    return { rate: ROWS / (milliseconds / 1000), cpu: cpu / (ROWS / 1000) };
  };
  try {
    const speed = {};
    for (const format of FORMATS) {
      console.log(`bench: exports: ${format} …`);
      for (let warmUp = 0; warmUp < WARM_UPS; warmUp++) {
        for (const variant of VARIANTS) await measure(variant, format);
      }
      const samples = Object.fromEntries(VARIANTS.map((variant) => [variant, []]));
      for (let round = 0; round < ROUNDS; round++) {
        const order = round % 2 === 0 ? VARIANTS : VARIANTS.toReversed();
        for (const variant of order) samples[variant].push(await measure(variant, format));
      }
      speed[format] = samples;
    }
    return speed;
  } finally {
    reader.stop();
    await server.stop();
  }
}

/** Measures each length in new processes, with the same total number of rows. */
async function measureMemory(bench) {
  const memory = {};
  for (const format of FORMATS) {
    memory[format] = {};
    for (const [name, source] of Object.entries(SOURCES)) {
      console.log(`bench: memory of exports: ${format}, ${source.what} …`);
      const peaks = Object.fromEntries(LENGTHS.map((rows) => [rows, []]));
      for (let run = 0; run < MEMORY_RUNS; run++) {
        for (const rows of LENGTHS) {
          peaks[rows].push(await measurePeak(bench, source, format, rows));
        }
      }
      memory[format][name] = peaks;
    }
  }
  return memory;
}

/** Returns the largest resident memory of a process after {@link TOTAL_ROWS} rows, in bytes. */
async function measurePeak(bench, { reader: program, v8Flags, process: measured }, format, rows) {
  const server = await startServer(bench, ["quillgate"], v8Flags);
  const reader = startReader(bench, program);
  const to = { port: server.ports.quillgate, pid: server.pid };
  try {
    for (let read = 0; read < TOTAL_ROWS; read += rows) {
      await reader.read({ ...to, ...buildExport(format, nameList(rows)) });
    }
    return readPeak(measured === "server" ? server.pid : reader.pid);
  } finally {
    reader.stop();
    await server.stop();
  }
}

function startReader({ signToken }, program) {
  const child = fork(program);
  const token = signToken({ projects });
  return {
    pid: child.pid,
    async read(task) {
      child.send({ ...task, token });
      const [{ error, ...result }] = await once(child, "message");
      if (error) throw new Error(`${task.format} of ${task.projectId}: ${error}`);
      return result;
    },
    stop: () => child.disconnect(),
  };
}
