/** What the gateway is to reach, and whether it does. */
import { FORMATS, HOLDERS, LENGTHS } from "./exports.mjs";
import { REQUESTS } from "./memory.mjs";
import { estimateError, median } from "./statistics.mjs";

/** Under load, beside another variant: by processor time or by rate; none is only shown. */
const LOAD_GOALS = [
  { path: "views-cached", other: "before", maxCpu: 1 },
  { path: "job-read", other: "before", maxCpu: 1.05 },
  { path: "views-uncached", other: "before", maxCpu: 1.2 },
  { path: "create", other: "before", maxCpu: 1.3 },
  { path: "views-cached", other: "bare", minRate: 2 },
  { path: "job-read", other: "hand", minRate: 1 },
  { path: "job-read", other: "hono", minRate: 1.5 },
  { path: "create", other: "hand", minRate: 0.8 },
  { path: "views-uncached", other: "hand" },
];
/** How much later than the build before, in milliseconds. */
const MAX_DELAY = 10;
const MAX_WASM_GZIP = 200_000;
/** By how much requests that cost their caller nothing may make workerd grow, in bytes. */
const MAX_MEMORY_GROWTH = 32_000_000;
/** Rows per second for one of the plain Worker's. */
const MIN_EXPORT_RATE = 1;
/** The memory of exports of the length that takes the most, for one of that which takes the least. */
const MAX_EXPORT_GROWTH = 1.2;
/** What the largest ledger may cost, for one of the smallest. */
const MAX_GROWTH = 1.5;

/**
 * Compares the gateway with another variant of one group, round by round.
 *
 * @param {import("./throughput.mjs").Group} group
 * @returns {{ cpu: number[], rate: number[] }} the gateway's processor time for one of the
 *   other's, and its rate for one of the other's
 */
export function compare(group, other) {
  const pairs = group.quillgate.map((own, round) => [own, group[other][round]]);
  return {
    cpu: pairs.map(([own, its]) => own.cpu.gateway / its.cpu.gateway),
    rate: pairs.map(([own, its]) => own.rate / its.rate),
  };
}

/**
 * Judges what was measured under load.
 *
 * @param {import("./measure.mjs").Measured} measured
 */
export function judgeLoad({ throughput }) {
  const measured = LOAD_GOALS.filter(({ path }) => path in throughput);
  return measured.map((goal) => {
    const group = throughput[goal.path].find((one) => goal.other in one);
    const ratios = compare(group, goal.other);
    return { ...goal, ...ratios, ...judgeRatios(goal, ratios) };
  });
}

/** A ratio is judged as it is printed, with two decimals. */
function judgeRatios({ maxCpu, minRate }, { cpu, rate }) {
  if (maxCpu === undefined && minRate === undefined) return {};
  const ratios = maxCpu === undefined ? rate : cpu;
  const middle = Number(median(ratios).toFixed(2));
  return {
    isReached: maxCpu === undefined ? middle >= minRate : middle <= maxCpu,
    isClose: Math.abs(middle - (maxCpu ?? minRate)) <= estimateError(ratios),
  };
}

/**
 * Judges the rest: cold starts, memory, size, and whether the gateway does what its peers do.
 *
 * @param {import("./measure.mjs").Measured} measured
 * @returns {{ what: string, value: string, isReached: boolean, isClose?: boolean }[]}
 */
export function judgeRest({ coldStarts, exports, jobs, memory, sizes, deviations }) {
  const goals = [...(jobs ? judgeGrowth(jobs) : []), ...(exports ? judgeExports(exports) : [])];
  if (coldStarts) {
    goals.push(judgeDelay("fresh workerd to its first answer", coldStarts, "firstAnswer"));
    goals.push(judgeDelay("first request of an object", coldStarts, "firstOfObject"));
  }
  if (memory) {
    const goal = `memory after ${REQUESTS} distinct cheap requests: at most ${MAX_MEMORY_GROWTH / 1e6} MB more`;
    for (const [name, what] of [
      ["quillgate", `${goal}, in a V8 heap of the usual size`],
      ["small-heap", `${goal}, in a V8 heap of 48 MB`],
    ]) {
      const growth = memory[name].distinct - memory[name].same;
      const value = `${(growth / 1e6).toFixed(1)} MB`;
      goals.push({ what, value, isReached: growth <= MAX_MEMORY_GROWTH });
    }
  }
  if (sizes) {
    const { gzip } = sizes.quillgate.wasm;
    goals.push({
      what: `wasm: at most ${MAX_WASM_GZIP / 1000} kB gzip`,
      value: `${(gzip / 1000).toFixed(1)} kB`,
      isReached: gzip <= MAX_WASM_GZIP,
    });
  }
  if (deviations) {
    const count = deviations.quillgate.length;
    goals.push({
      what: "self-test: the gateway does what its peers do",
      value: `${count} deviations`,
      isReached: count === 0,
    });
  }
  return goals;
}

/** Compares exports with the plain Worker's, and long ones with short ones. */
function judgeExports({ speed, memory }) {
  const rates = FORMATS.map((format) => {
    const ratios = compareExports(speed[format], "loop").rate;
    const ratio = median(ratios);
    return {
      what: `export as ${format}, beside \`loop\`: at least ${MIN_EXPORT_RATE.toFixed(2)} × its rows per second`,
      value: `${ratio.toFixed(2)} ± ${estimateError(ratios).toFixed(2)}`,
      isReached: Number(ratio.toFixed(2)) >= MIN_EXPORT_RATE,
      isClose: Math.abs(ratio - MIN_EXPORT_RATE) <= estimateError(ratios),
    };
  });
  const held = Object.entries(HOLDERS).filter(([, { hasGoal }]) => hasGoal);
  const growths = FORMATS.flatMap((format) =>
    held.map(([name, { what }]) => {
      const peaks = LENGTHS.map((rows) => median(memory[format][name][rows]));
      const growth = Math.max(...peaks) / Math.min(...peaks);
      return {
        what: `memory for an export as ${format} of any length, ${what}: at most ${MAX_EXPORT_GROWTH} × the least`,
        value: growth.toFixed(2),
        isReached: growth <= MAX_EXPORT_GROWTH,
      };
    }),
  );
  return [...rates, ...growths];
}

/** The gateway's exports for one of another variant's, round by round. */
export function compareExports(samples, other) {
  const pairs = samples.quillgate.map((own, round) => [own, samples[other][round]]);
  return {
    rate: pairs.map(([own, its]) => own.rate / its.rate),
    cpu: pairs.map(([own, its]) => own.cpu / its.cpu),
  };
}

/** Judges what the largest ledger costs beside the smallest. */
function judgeGrowth(jobs) {
  const costs = Object.values(jobs);
  const [fewest, most] = [costs[0], costs.at(-1)];
  return ["creation", "alarm"].map((what) => {
    const growth = median(most[what]) / median(fewest[what]);
    return {
      what: `${what} with the most recorded jobs: at most ${MAX_GROWTH} × that with the fewest`,
      value: growth.toFixed(2),
      isReached: growth <= MAX_GROWTH,
    };
  });
}

function judgeDelay(what, { quillgate, before }, name) {
  const delays = quillgate.map((start, round) => start[name] - before[round][name]);
  const delay = median(delays);
  const error = estimateError(delays);
  return {
    what: `${what}: at most ${MAX_DELAY} ms more than before`,
    value: `${delay.toFixed(1)} ± ${error.toFixed(1)} ms`,
    isReached: delay <= MAX_DELAY,
    isClose: Math.abs(delay - MAX_DELAY) <= error,
  };
}
