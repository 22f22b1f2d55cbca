/** The gateway's goals, and whether they are reached. */
import { formatMedian } from "../tables.mjs";
import { FORMATS, LENGTHS, SOURCES } from "./exports.mjs";
import { FIRST, LAST, REQUESTS } from "./memory.mjs";
import { estimateError, median } from "./statistics.mjs";
import { WASM } from "./variants.mjs";

/** Pairs under load, with the maximum processor time relative to the other Worker. */
const LOAD_GOALS = [
  { path: "create", other: "same_statements", maxCpu: 1.25 },
  { path: "views-uncached", other: "same_statements", maxCpu: 1.3 },
  { path: "views-cached", other: "same_statements", maxCpu: 0.5 },
  { path: "job-read", other: "hono", maxCpu: 1 },
];
/** Maximum processor time of an export, relative to the baseline build. */
const MAX_EXPORT = 1;
/** Maximum cold start, relative to the baseline build. */
const MAX_COLD_START = 1.1;
/** Maximum size of the Worker's wasm, and of all its modules together, compressed, in bytes. */
const MAX_GZIP = 450_000;
/** Maximum growth of workerd's memory between two batches of distinct requests, in bytes. */
const MAX_MEMORY_GROWTH = 10_000_000;
/** Maximum memory for the longest exports, relative to the shortest. */
const MAX_EXPORT_GROWTH = 1.2;

export function compare(group, other) {
  const pairs = group.quillgate.map((own, round) => [own, group[other][round]]);
  return {
    cpu: pairs.map(([own, its]) => own.cpu.gateway / its.cpu.gateway),
    rate: pairs.map(([own, its]) => own.rate / its.rate),
  };
}

export function judgeLoad({ throughput }) {
  const measured = LOAD_GOALS.filter(({ path }) => path in throughput);
  return measured.map((goal) => {
    const ratios = compare(throughput[goal.path], goal.other);
    return { ...goal, ...ratios, ...judge(ratios.cpu, goal.maxCpu) };
  });
}

/** Judges the median of ratios, rounded to the two decimals that the report prints. */
function judge(ratios, max) {
  const middle = Number(median(ratios).toFixed(2));
  return { isReached: middle <= max, isClose: Math.abs(middle - max) <= estimateError(ratios) };
}

export function judgeRest({ coldStarts, exports, memory, sizes }) {
  const goals = [];
  if (exports) goals.push(...judgeExportSpeed(exports), ...judgeExportMemory(exports));
  if (coldStarts) {
    goals.push(judgeColdStart("a new workerd's first response", coldStarts, "firstResponse"));
    goals.push(judgeColdStart("an object's first request", coldStarts, "firstOfObject"));
  }
  if (memory) goals.push(judgeMemory(memory));
  if (sizes) goals.push(...judgeSizes(sizes.quillgate));
  return goals;
}

/** Compares the processor time of exports with the baseline's, round by round. */
function judgeExportSpeed({ speed }) {
  return FORMATS.map((format) => {
    const { quillgate, baseline } = speed[format];
    const ratios = quillgate.map(({ cpu }, round) => cpu / baseline[round].cpu);
    const what = `processor time of a ${format} export: at most ${MAX_EXPORT} × that of \`baseline\``;
    return judgeRatios(what, ratios, MAX_EXPORT);
  });
}

/** Compares the memory for the longest exports with that for the shortest. */
function judgeExportMemory({ memory }) {
  return FORMATS.flatMap((format) =>
    Object.entries(SOURCES).map(([name, { what }]) => {
      const [shortest, longest] = LENGTHS.map((rows) => median(memory[format][name][rows]));
      const growth = longest / shortest;
      return {
        what: `memory for ${format} exports of ${LENGTHS[1]} rows, ${what}: at most ${MAX_EXPORT_GROWTH} × that of ${LENGTHS[0]} rows`,
        value: growth.toFixed(2),
        isReached: growth <= MAX_EXPORT_GROWTH,
      };
    }),
  );
}

function judgeColdStart(what, { quillgate, baseline }, name) {
  const ratios = quillgate.map((start, round) => start[name] / baseline[round][name]);
  const goal = `${what}: at most ${MAX_COLD_START} × the time of \`baseline\``;
  return judgeRatios(goal, ratios, MAX_COLD_START);
}

function judgeRatios(what, ratios, max) {
  return { what, value: formatMedian(ratios, 2), ...judge(ratios, max) };
}

function judgeMemory(batches) {
  const growth = batches[LAST - 1] - batches[FIRST - 1];
  return {
    what: `memory between batch ${FIRST} and batch ${LAST} of ${REQUESTS} distinct cheap requests: at most ${MAX_MEMORY_GROWTH / 1e6} MB more`,
    value: `${(growth / 1e6).toFixed(1)} MB`,
    isReached: growth <= MAX_MEMORY_GROWTH,
  };
}

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
