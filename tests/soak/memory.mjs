/** Records the memory of a process over time. Works on Linux only. */
import { readFileSync } from "node:fs";

const SAMPLE_INTERVAL_MS = 1000;
/** Garbage collection makes single samples vary, so medians of windows are compared. */
const WINDOW_MS = 30_000;
/** Memory must stay flat after this time. */
const WARM_UP_MS = 60_000;

/** Starts recording the resident memory of a process. */
export function recordMemory(pid) {
  const samples = [];
  const started = performance.now();
  const addSample = () => {
    const bytes = readResidentBytes(pid);
    if (bytes !== undefined) samples.push({ at: performance.now() - started, bytes });
  };
  addSample();
  const timer = setInterval(addSample, SAMPLE_INTERVAL_MS);
  return {
    /** Stops recording and returns the samples. */
    stop() {
      clearInterval(timer);
      addSample();
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

/** Returns the median of each complete window after the warm-up, in bytes. */
export function windowsAfterWarmUp(samples) {
  const medians = [];
  const end = samples.at(-1)?.at ?? 0;
  for (let from = WARM_UP_MS; from + WINDOW_MS <= end; from += WINDOW_MS) {
    const inside = samples.filter(({ at }) => at >= from && at < from + WINDOW_MS);
    const sorted = inside.map(({ bytes }) => bytes).sort((a, b) => a - b);
    if (sorted.length > 0) medians.push(sorted[sorted.length >> 1]);
  }
  return medians;
}

/** Returns the largest later window after the warm-up, divided by the first window. */
export function growthAfterWarmUp(samples) {
  const [first, ...later] = windowsAfterWarmUp(samples);
  return later.length === 0 ? undefined : Math.max(...later) / first;
}
