/** The memory of a process over time; only Linux reports it. */
import { readFileSync } from "node:fs";

/** How often it is looked at, in milliseconds. */
const INTERVAL = 1000;
/** Memory goes up and down with each collection of garbage, so windows are compared, in ms. */
const WINDOW = 30_000;
/** From when on it has to stay flat, in milliseconds. */
const WARM_UP = 60_000;

/**
 * Records a process's resident memory until it is stopped.
 *
 * @param {number} pid
 */
export function recordMemory(pid) {
  const samples = [];
  const started = performance.now();
  const look = () => {
    const bytes = readResidentBytes(pid);
    if (bytes !== undefined) samples.push({ at: performance.now() - started, bytes });
  };
  look();
  const timer = setInterval(look, INTERVAL);
  return {
    stop() {
      clearInterval(timer);
      look();
      return samples;
    },
  };
}

function readResidentBytes(pid) {
  try {
    const kilobytes = /^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
  } catch {
    return undefined;
  }
}

/**
 * The median of each whole window after the warm-up, in bytes.
 *
 * @param {{ at: number, bytes: number }[]} samples
 * @returns {number[]} none when the samples end before
 */
export function windowsAfterWarmUp(samples) {
  const medians = [];
  const end = samples.at(-1)?.at ?? 0;
  for (let from = WARM_UP; from + WINDOW <= end; from += WINDOW) {
    const inside = samples.filter(({ at }) => at >= from && at < from + WINDOW);
    const sorted = inside.map(({ bytes }) => bytes).sort((a, b) => a - b);
    if (sorted.length > 0) medians.push(sorted[sorted.length >> 1]);
  }
  return medians;
}

/**
 * How much memory grew after the warm-up: the largest window beside the first.
 *
 * @param {{ at: number, bytes: number }[]} samples
 * @returns {number | undefined} 1.2 is a fifth more; nothing when there are not two windows
 */
export function growthAfterWarmUp(samples) {
  const [first, ...later] = windowsAfterWarmUp(samples);
  return later.length === 0 ? undefined : Math.max(...later) / first;
}
