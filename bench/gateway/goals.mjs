/** The gateway's goals, and whether they are reached. */
import { FORMATS, LENGTHS, SOURCES } from "./exports.mjs";
import { REQUESTS } from "./memory.mjs";
import { PATHS } from "./sections.mjs";
import { estimateError, median } from "./statistics.mjs";
import { WASM } from "./variants.mjs";

/**
 * Pairs under load, with the minimum rate relative to the other Worker. Pairs without a minimum
 * rate are only reported, except those with the baseline, which {@link MAX_CPU} limits.
 */
const LOAD_GOALS = [
  { path: "job-read", other: "hono", minRate: 1.5 },
  ...PATHS.map((path) => ({ path, other: "baseline" })),
];
/** Maximum processor time of a request or an export, relative to the baseline build. */
const MAX_CPU = 1.15;
/** Maximum cold start, relative to the baseline build. */
const MAX_COLD_START = 1.25;
/** Maximum size of the Worker's wasm, and of all its modules together, compressed, in bytes. */
const MAX_GZIP = 450_000;
/**
 * Maximum additional memory of workerd after distinct requests that cost their caller nothing,
 * compared with as many identical requests, in bytes.
 */
const MAX_MEMORY_GROWTH = 32_000_000;
/** Maximum memory for exports of any length, relative to the length that needs the least. */
const MAX_EXPORT_GROWTH = 1.2;
/** Maximum cost with the most recorded jobs, relative to the fewest. */
const MAX_JOB_GROWTH = 1.5;

/**
 * Compares the gateway with another Worker of its group, round by round.
 *
 * @param {import("./throughput.mjs").Group} group
 * @returns {{ cpu: number[], rate: number[] }} the gateway's processor time and rate, divided by
 *   the other Worker's
 */
export function compare(group, other) {
  const pairs = group.quillgate.map((own, round) => [own, group[other][round]]);
  return {
    cpu: pairs.map(([own, its]) => own.cpu.gateway / its.cpu.gateway),
    rate: pairs.map(([own, its]) => own.rate / its.rate),
  };
}

/**
 * Judges the measurements under load.
 *
 * @param {import("./measure.mjs").Measured} measured
 */
export function judgeLoad({ throughput }) {
  const measured = LOAD_GOALS.filter(({ path }) => path in throughput);
  return measured.map((goal) => {
    const ratios = compare(throughput[goal.path], goal.other);
    return { ...goal, ...ratios, ...judgeLoadGoal(goal, ratios) };
  });
}

function judgeLoadGoal({ other, minRate }, { cpu, rate }) {
  if (other === "baseline") return { maxCpu: MAX_CPU, ...judge(cpu, { max: MAX_CPU }) };
  return minRate === undefined ? {} : judge(rate, { min: minRate });
}

/** Judges the median of ratios, rounded to the two decimals that the report prints. */
function judge(ratios, { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY }) {
  const middle = Number(median(ratios).toFixed(2));
  const distance = Math.min(Math.abs(middle - min), Math.abs(middle - max));
  return {
    isReached: middle >= min && middle <= max,
    isClose: distance <= estimateError(ratios),
  };
}

/**
 * Judges jobs, exports, cold starts, memory, size and the self-test.
 *
 * @param {import("./measure.mjs").Measured} measured
 * @returns {{ what: string, value: string, isReached: boolean, isClose?: boolean }[]}
 */
export function judgeRest({ coldStarts, exports, jobs, memory, sizes }) {
  const goals = [];
  if (jobs) goals.push(...judgeJobs(jobs));
  if (exports) goals.push(...judgeExportSpeed(exports), ...judgeExportMemory(exports));
  if (coldStarts) {
    goals.push(judgeColdStart("a new workerd's first response", coldStarts, "firstResponse"));
    goals.push(judgeColdStart("an object's first request", coldStarts, "firstOfObject"));
  }
  if (memory) goals.push(...judgeMemory(memory));
  if (sizes) goals.push(...judgeSizes(sizes.quillgate));
  return goals;
}

/** Compares the cost with the most recorded jobs to that with the fewest. */
function judgeJobs(jobs) {
  const costs = Object.values(jobs);
  const [fewest, most] = [costs[0], costs.at(-1)];
  return ["creation", "alarm"].map((what) => {
    const growth = median(most[what]) / median(fewest[what]);
    return {
      what: `${what} with the most recorded jobs: at most ${MAX_JOB_GROWTH} × that with the fewest`,
      value: growth.toFixed(2),
      isReached: growth <= MAX_JOB_GROWTH,
    };
  });
}

/** Compares the processor time of exports with the baseline's, round by round. */
function judgeExportSpeed({ speed }) {
  return FORMATS.map((format) => {
    const { quillgate, baseline } = speed[format];
    const ratios = quillgate.map(({ cpu }, round) => cpu / baseline[round].cpu);
    return {
      what: `processor time of a ${format} export: at most ${MAX_CPU} × that of \`baseline\``,
      value: `${median(ratios).toFixed(2)} ± ${estimateError(ratios).toFixed(2)}`,
      ...judge(ratios, { max: MAX_CPU }),
    };
  });
}

/** Compares the memory for exports of different lengths. */
function judgeExportMemory({ memory }) {
  const judged = Object.entries(SOURCES).filter(([, { hasGoal }]) => hasGoal);
  return FORMATS.flatMap((format) =>
    judged.map(([name, { what }]) => {
      const peaks = LENGTHS.map((rows) => median(memory[format][name][rows]));
      const growth = Math.max(...peaks) / Math.min(...peaks);
      return {
        what: `memory for ${format} exports of any length, ${what}: at most ${MAX_EXPORT_GROWTH} × the least`,
        value: growth.toFixed(2),
        isReached: growth <= MAX_EXPORT_GROWTH,
      };
    }),
  );
}

function judgeColdStart(what, { quillgate, baseline }, name) {
  const ratios = quillgate.map((start, round) => start[name] / baseline[round][name]);
  return {
    what: `${what}: at most ${MAX_COLD_START} × the time of \`baseline\``,
    value: `${median(ratios).toFixed(2)} ± ${estimateError(ratios).toFixed(2)}`,
    ...judge(ratios, { max: MAX_COLD_START }),
  };
}

function judgeMemory(memory) {
  return Object.values(memory).map(({ heap, same, distinct }) => {
    const growth = distinct - same;
    return {
      what: `memory after ${REQUESTS} distinct cheap requests, ${heap}: at most ${MAX_MEMORY_GROWTH / 1e6} MB more`,
      value: `${(growth / 1e6).toFixed(1)} MB`,
      isReached: growth <= MAX_MEMORY_GROWTH,
    };
  });
}

/** @param {Record<string, import("./measure.mjs").Size>} modules */
function judgeSizes(modules) {
  const all = Object.values(modules).reduce((sum, module) => sum + module.gzip, 0);
  return [
    ["the Worker's wasm", modules[WASM].gzip],
    ["all modules of the Worker", all],
  ].map(([what, gzip]) => ({
    what: `${what}: at most ${MAX_GZIP / 1000} kB gzip`,
    value: `${(gzip / 1000).toFixed(1)} kB`,
    isReached: gzip <= MAX_GZIP,
  }));
}
