/** Formats the gateway's measurements as Markdown. */
import { cpus } from "node:os";
import { formatJudgement, formatMedian, formatTable } from "../tables.mjs";
import { COLD_VARIANTS, STARTS } from "./cold_start.mjs";
import * as plan from "./exports.mjs";
import { compare, judgeLoad, judgeRest } from "./goals.mjs";
import { LAST, REQUESTS } from "./memory.mjs";
import { median } from "./statistics.mjs";
import { CONNECTIONS, ROUNDS, SAMPLE, SPARE_ROUNDS } from "./throughput.mjs";
import { BASELINE_COMMIT, VARIANTS } from "./variants.mjs";

export function reportGateway(measured) {
  const { throughput, coldStarts, memory, exports, sizes } = measured;
  const parts = ["## The gateway", describeMethod(measured)];
  const goals = reportGoals(measured);
  if (goals.length > 0) parts.push("### Goals", ...goals);
  for (const [path, group] of Object.entries(throughput)) {
    parts.push(...formatHeading(formatPath(path), path), formatLoadTable(group));
  }
  if (coldStarts) {
    parts.push(...formatHeading("cold start, in milliseconds", "cold-start"));
    const note = `\
Medians of ${STARTS} starts, one Worker per process. \`baseline\` is the Worker of commit ${BASELINE_COMMIT}.`;
    parts.push(note, formatStartTable(coldStarts));
  }
  if (memory) {
    parts.push(...formatHeading("resident memory of workerd after each batch, in MB", "memory"));
    const note = `\
${LAST} batches of ${REQUESTS} distinct requests for rows of the same page. They differ in limit, offset and date. V8
enlarges its heap in the first batches.`;
    parts.push(note, formatMemoryTable(memory));
  }
  if (exports) {
    parts.push(...formatHeading("exports", "export"));
    const note = `\
Speed: medians of ${plan.ROUNDS} exports of ${formatCount(plan.ROWS)} rows, one at a time. The simulated Mintlify takes ${plan.DELAY} ms for
each page. Memory: the largest resident memory of a process after ${formatCount(plan.TOTAL_ROWS)} rows in total, medians of
${plan.MEMORY_RUNS} runs. A Cloudflare isolate has ${plan.HEAP_LIMIT} MB.`;
    parts.push(note, formatExportTable(exports), formatExportMemoryTable(exports));
  }
  if (sizes) parts.push(...formatHeading("size, in bytes", "size"), formatSizeTable(sizes));
  return parts.join("\n\n");
}

function formatPath(path) {
  return path.replace("-", " ");
}

function formatHeading(title, section) {
  const heading = `### ${title[0].toUpperCase()}${title.slice(1)}`;
  return [heading, `\`npm run bench -- gateway:${section}\``];
}

function describeMethod({ throughput, place }) {
  const samples = Object.values(throughput).flatMap(Object.values).flat();
  const others =
    samples.length === 0 ? "" : ` Other processes used ${averageOthers(samples)} cores on average.`;
  return `\
Run \`npm run bench -- gateway\` to measure everything. The load has ${CONNECTIONS} keep-alive connections on loopback.
Two Workers share a workerd process, on a machine with ${cpus().length} cores.${others} There are ${ROUNDS} rounds
of ${SAMPLE} ms for each Worker, with the order reversed in odd rounds. Up to ${SPARE_ROUNDS} disturbed rounds are replaced. A
ratio divides two samples of the same round. Ratios are medians, each with half of its 95 % confidence
interval. CPU is workerd's processor time per request. Busy is the share of one core that workerd used: if it is
well below 1, something else limited the rate. Durable Objects are on workerd's local disk storage, in
\`${place}\`.`;
}

function averageOthers(samples) {
  const sum = samples.reduce((total, { others }) => total + others, 0);
  return (sum / samples.length).toFixed(2);
}

// --- goals -----------------------------------------------------------------

function reportGoals(measured) {
  const load = judgeLoad(measured).map((goal) => {
    const { path, other, maxCpu, cpu, rate } = goal;
    const what = `${formatPath(path)}: at most ${maxCpu.toFixed(2)} × the processor time of \`${other}\``;
    return [what, formatMedian(cpu), formatMedian(rate), formatJudgement(goal)];
  });
  const rest = judgeRest(measured).map((goal) => [goal.what, goal.value, formatJudgement(goal)]);
  const parts = [];
  if (load.length > 0) {
    const head = ["goal", "ratio of processor time", "ratio of rates", "reached"];
    parts.push(formatTable(head, load));
  }
  if (rest.length > 0) parts.push(formatTable(["goal", "measured", "reached"], rest));
  return parts;
}

// --- tables ----------------------------------------------------------------

function formatLoadTable(group) {
  const lines = Object.keys(group).map((variant) => formatLoadRow(group, variant));
  const head = ["gateway", "req/s", "CPU, µs", "busy", "quillgate's CPU / its", "rate / its"];
  return formatTable(head, lines);
}

function formatLoadRow(group, variant) {
  const samples = group[variant];
  const { cpu, rate } = compare(group, variant);
  const isOwn = variant === "quillgate";
  return [
    `${variant}: ${VARIANTS[variant].description}`,
    median(samples.map((sample) => sample.rate)).toFixed(0),
    median(samples.map((sample) => sample.cpu.gateway)).toFixed(0),
    median(samples.map((sample) => (sample.rate * sample.cpu.gateway) / 1e6)).toFixed(2),
    isOwn ? "" : formatMedian(cpu),
    isOwn ? "" : formatMedian(rate),
  ];
}

function formatStartTable(starts) {
  const format = (variant, key) => formatMedian(starts[variant].map((start) => start[key]));
  const lines = COLD_VARIANTS.map((variant) => [
    variant,
    format(variant, "firstResponse"),
    format(variant, "firstOfObject"),
  ]);
  const head = ["gateway", "a new workerd's first response", "an object's first request"];
  return formatTable(head, lines);
}

function formatMemoryTable(batches) {
  const head = batches.map((_, at) => at + 1);
  return formatTable(head, [batches.map((bytes) => (bytes / 1e6).toFixed(1))]);
}

function formatExportTable({ speed }) {
  const lines = plan.FORMATS.flatMap((format) =>
    Object.entries(speed[format]).map(([variant, samples]) => [
      `${format}: ${variant}`,
      median(samples.map(({ rate }) => rate)).toFixed(0),
      median(samples.map(({ cpu }) => cpu)).toFixed(0),
    ]),
  );
  return formatTable(["export", "rows/s", "CPU per 1000 rows, µs"], lines);
}

function formatExportMemoryTable({ memory }) {
  const lines = plan.FORMATS.flatMap((format) =>
    Object.entries(plan.SOURCES).map(([name, { what }]) => {
      const peaks = plan.LENGTHS.map((rows) =>
        (median(memory[format][name][rows]) / 1e6).toFixed(1),
      );
      return [`${format}: ${what}`, ...peaks];
    }),
  );
  const head = plan.LENGTHS.map((rows) => `${formatCount(rows)} rows each`);
  return formatTable(["largest resident memory, MB", ...head], lines);
}

function formatSizeTable(sizes) {
  const lines = Object.entries(sizes).flatMap(([build, modules]) =>
    Object.entries(modules).map(([module, { raw, gzip, brotli }]) => [
      `${build}: ${module}`,
      raw,
      gzip,
      brotli,
    ]),
  );
  return formatTable(["module", "built", "gzip 9", "brotli 11"], lines);
}

function formatCount(count) {
  return count.toLocaleString("en");
}
