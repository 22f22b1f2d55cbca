/**
 * Exports beside a plain Worker that loops over the pages and streams their rows, and beside one with
 * the same checks and objects: rows per second, and memory by the length of an export. Every export is of a range that nobody has asked for
 * before, so that each page is asked for upstream.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { readPeak } from "./resident.mjs";
import { startServer } from "./servers.mjs";

const READER = fileURLToPath(new URL("export_reader.mjs", import.meta.url));
const NAMES = ["quillgate", "loop", "looped"];
export const FORMATS = ["csv", "ndjson"];

/** The rows of an export whose speed is measured. */
export const ROWS = 100_000;
export const ROUNDS = 12;
/** The rows of each export whose memory is measured, the shortest first; each is as much work in all. */
export const LENGTHS = [1e3, 1e4, 1e5, 1e6];
export const MOST_ROWS = 1e6;

let ranges = 0;

/** The target of an export of so many rows, of a range of its own. */
function writeTarget(format, rows) {
  ranges += 1;
  const dateFrom = new Date(Date.UTC(2000, 0, 1) - ranges * 86_400_000).toISOString().slice(0, 10);
  return `/v1/analytics/rows-${rows}/views/export?format=${format}&dateFrom=${dateFrom}&dateTo=2026-01-01`;
}

const projects = [ROWS, ...LENGTHS].map((rows) => `rows-${rows}`);

/**
 * @typedef {object} ExportSample
 * @property {number} rate rows per second
 * @property {number} cpu workerd's processor time per thousand rows, in microseconds
 * @property {number} bytes of the body
 *
 * @typedef {object} ExportMemory the largest resident memory, in bytes, by the rows of an export
 * @property {number} workerd
 * @property {number} client a process that reads the stream and counts its bytes
 *
 * @param {import("./servers.mjs").Bench} bench
 * @returns {Promise<{ speed: Record<string, Record<string, ExportSample[]>>, memory: Record<string, Record<number, ExportMemory>> }>}
 */
export async function measureExports(bench) {
  return { speed: await measureSpeed(bench), memory: await measureMemory(bench) };
}

export async function measureSpeed(bench) {
  const server = await startServer(bench, NAMES);
  const reader = startReader(bench);
  try {
    const speed = {};
    for (const format of FORMATS) {
      console.log(`bench: exports: ${format} …`);
      speed[format] = Object.fromEntries(NAMES.map((name) => [name, []]));
      for (let round = -1; round < ROUNDS; round++) {
        for (const name of round % 2 === 0 ? NAMES : NAMES.toReversed()) {
          const target = writeTarget(format, ROWS);
          const { milliseconds, cpu, bytes } = await reader.read({
            port: server.ports[name],
            pid: server.pid,
            target,
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
    for (const rows of LENGTHS) {
      console.log(`bench: memory of exports: ${format}, ${rows} rows each …`);
      const server = await startServer(bench, ["quillgate"]);
      const reader = startReader(bench);
      try {
        const count = MOST_ROWS / rows;
        let peak = 0;
        for (let at = 0; at < count; at++) {
          const target = writeTarget(format, rows);
          const read = await reader.read({ port: server.ports.quillgate, pid: server.pid, target });
          peak = Math.max(peak, read.resident);
        }
        memory[format][rows] = { workerd: readPeak(server.pid), client: peak };
      } finally {
        reader.stop();
        await server.stop();
      }
    }
  }
  return memory;
}

/** A process that reads exports, one after another. */
function startReader({ signToken }) {
  const child = fork(READER);
  const token = signToken({ projects });
  return {
    async read(task) {
      child.send({ ...task, token });
      const [{ error, ...result }] = await once(child, "message");
      if (error) throw new Error(`${task.target}: ${error}`);
      return result;
    },
    stop: () => child.disconnect(),
  };
}
