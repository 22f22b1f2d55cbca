/**
 * Exports beside a plain Worker that loops over the pages and streams their rows, and beside one with
 * the same checks and objects: rows per second, and memory by the length of an export.
 * Every export is of a range that nobody has asked for before, so that each page is asked for upstream.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { readPeak } from "./resident.mjs";
import { startServer } from "./servers.mjs";

const READER = fileURLToPath(new URL("export_reader.mjs", import.meta.url));
const PACKAGE_READER = fileURLToPath(new URL("package_export_reader.mjs", import.meta.url));
const NAMES = ["quillgate", "loop", "looped"];
export const FORMATS = ["csv", "ndjson"];

/** The rows of an export whose speed is measured. */
export const ROWS = 100_000;
export const ROUNDS = 12;
/** The rows of each export whose memory is measured, the shortest first; each is as much work in all. */
export const LENGTHS = [1e3, 1e4, 1e5, 1e6];
export const MOST_ROWS = 1e6;

/** How often a memory that has a goal is measured. */
export const MEMORY_RUNS = 3;
/**
 * The heap that V8 may use, in megabytes: what Cloudflare gives an isolate.
 * <https://developers.cloudflare.com/workers/platform/limits/#memory>
 */
export const HEAP_LIMIT = 128;

/**
 * Whose memory is measured, by name.
 *
 * @typedef {object} Holder
 * @property {string} what
 * @property {boolean} hasGoal
 * @property {string} reader the program that reads the exports
 * @property {string[]} [v8Flags] of workerd
 * @property {"server" | "reader"} held which process
 *
 * @type {Record<string, Holder>}
 */
export const HOLDERS = {
  workerd: {
    what: `workerd, in a V8 heap of ${HEAP_LIMIT} MB`,
    hasGoal: true,
    reader: READER,
    v8Flags: [`--max-heap-size=${HEAP_LIMIT}`],
    held: "server",
  },
  unbounded: {
    what: "workerd, in a V8 heap of the usual size",
    hasGoal: false,
    reader: READER,
    held: "server",
  },
  package: {
    what: "the package's `export()` in Node",
    hasGoal: true,
    reader: PACKAGE_READER,
    held: "reader",
  },
  stream: {
    what: "Node, reading the Worker's export",
    hasGoal: false,
    reader: READER,
    held: "reader",
  },
};

let ranges = 0;

/** An export of so many rows, of a range of its own. */
function createExport(format, rows) {
  ranges += 1;
  const dateFrom = new Date(Date.UTC(2000, 0, 1) - ranges * 86_400_000).toISOString().slice(0, 10);
  return { projectId: `rows-${rows}`, format, dateFrom, dateTo: "2026-01-01" };
}

const projects = [ROWS, ...LENGTHS].map((rows) => `rows-${rows}`);

/**
 * @typedef {object} ExportSample
 * @property {number} rate rows per second
 * @property {number} cpu workerd's processor time per thousand rows, in microseconds
 * @property {number} bytes of the body
 *
 * @typedef {Record<number, number[]>} ExportMemory the largest resident memory of each run, in bytes,
 *   by the rows of an export
 *
 * @param {import("./servers.mjs").Bench} bench
 * @returns {Promise<{ speed: Record<string, Record<string, ExportSample[]>>, memory: Record<string, Record<string, ExportMemory>> }>}
 *   by format, and then by variant or holder
 */
export async function measureExports(bench) {
  return { speed: await measureSpeed(bench), memory: await measureMemory(bench) };
}

async function measureSpeed(bench) {
  const server = await startServer(bench, NAMES);
  const reader = startReader(bench, READER);
  try {
    const speed = {};
    for (const format of FORMATS) {
      console.log(`bench: exports: ${format} …`);
      speed[format] = Object.fromEntries(NAMES.map((name) => [name, []]));
      for (let round = -1; round < ROUNDS; round++) {
        for (const name of round % 2 === 0 ? NAMES : NAMES.toReversed()) {
          const { milliseconds, cpu, bytes } = await reader.read({
            port: server.ports[name],
            pid: server.pid,
            ...createExport(format, ROWS),
          });
          const sample = { rate: ROWS / (milliseconds / 1000), cpu: cpu / (ROWS / 1000), bytes };
          if (round >= 0) speed[format][name].push(sample);
        }
      }
      assertSameBytes(speed[format]);
    }
    return speed;
  } finally {
    reader.stop();
    await server.stop();
  }
}

/** All of them say the same rows. */
function assertSameBytes(samples) {
  const sizes = new Set(Object.values(samples).flatMap((all) => all.map(({ bytes }) => bytes)));
  if (sizes.size !== 1) throw new Error(`exports of ${[...sizes].join(", ")} bytes`);
}

/** Each length in processes of its own, and as many rows in all: only the length differs. */
async function measureMemory(bench) {
  const memory = {};
  for (const format of FORMATS) {
    memory[format] = {};
    for (const [name, holder] of Object.entries(HOLDERS)) {
      console.log(`bench: memory of exports: ${format}, ${holder.what} …`);
      const peaks = Object.fromEntries(LENGTHS.map((rows) => [rows, []]));
      const runs = holder.hasGoal ? MEMORY_RUNS : 1;
      for (let run = 0; run < runs; run++) {
        for (const rows of LENGTHS)
          peaks[rows].push(await measurePeak(bench, holder, format, rows));
      }
      memory[format][name] = peaks;
    }
  }
  return memory;
}

/** The largest resident memory of a process after {@link MOST_ROWS} rows in all, in bytes. */
async function measurePeak(bench, { reader: program, v8Flags, held }, format, rows) {
  const server = await startServer(bench, ["quillgate"], v8Flags);
  const reader = startReader(bench, program);
  const to = { port: server.ports.quillgate, pid: server.pid };
  try {
    for (let read = 0; read < MOST_ROWS; read += rows) {
      await reader.read({ ...to, ...createExport(format, rows) });
    }
    return readPeak(held === "server" ? server.pid : reader.pid);
  } finally {
    reader.stop();
    await server.stop();
  }
}

/** A process that reads exports, one after another. */
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
