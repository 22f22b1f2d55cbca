/** Records the memory of a process over time. Works on Linux only. */
import { readResident } from "../../bench/gateway/process_usage.mjs";

const SAMPLE_INTERVAL_MS = 1000;
/** Garbage collection makes single samples vary, so medians of windows are compared. */
const WINDOW_MS = 30_000;
/** Memory must stay flat after this time. */
const WARM_UP_MS = 60_000;

export function recordMemory(pid) {
  const samples = [];
  const started = performance.now();
  const addSample = () => {
    if (process.platform !== "linux") return;
    samples.push({ at: performance.now() - started, bytes: readResident(pid) });
  };
  addSample();
  const timer = setInterval(addSample, SAMPLE_INTERVAL_MS);
  return {
    stop() {
      clearInterval(timer);
      addSample();
      return samples;
    },
  };
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
