/** What was measured of the gateway, as tables. */
import { cpus } from "node:os";
import { ANSWER_DAYS, ROUNDS as ARCHIVE_ROUNDS } from "./archive.mjs";
import { COLD_VARIANTS, STARTS } from "./cold_start.mjs";
import {
  FORMATS as EXPORT_FORMATS,
  ROUNDS as EXPORT_ROUNDS,
  ROWS as EXPORT_ROWS,
  HEAP_LIMIT,
  HOLDERS,
  LENGTHS,
  MEMORY_RUNS,
  MOST_ROWS,
} from "./exports.mjs";
import { compare, compareExports, judgeLoad, judgeRest } from "./goals.mjs";
import { ROUNDS as JOB_ROUNDS } from "./jobs.mjs";
import { REQUESTS } from "./memory.mjs";
import { estimateError, median } from "./statistics.mjs";
import { CONNECTIONS, ROUNDS, SAMPLE, SPARE_ROUNDS } from "./throughput.mjs";
import { VARIANTS } from "./variants.mjs";

/**
 * Writes the gateway's part of the report.
 *
 * @param {import("./measure.mjs").Measured} measured
 */
export function reportGateway(measured) {
  const { throughput, coldStarts, memory, crossings, exports, archives, jobs, sizes } = measured;
  const parts = ["## The gateway beside its peers and an earlier build", describeMethod(measured)];
  parts.push("### Goals", ...reportGoals(measured));
  for (const [path, groups] of Object.entries(throughput)) {
    parts.push(...writeHeading(formatPath(path), path), writeLoadTable(groups));
  }
  if (coldStarts) {
    parts.push(...writeHeading("cold start, in milliseconds", "cold-start"));
    const note = `Medians of ${STARTS} starts, one Worker per process. Bare has no object.`;
    parts.push(note, writeStartTable(coldStarts));
  }
  if (memory) {
    parts.push(...writeHeading("resident memory of workerd, in MB", "memory"));
    const note = `\
First ${REQUESTS} times the same request, then as many distinct ones for rows of the same page: limits,
offsets and spellings of a date. V8 leaves garbage lying until it needs the room: \`small-heap\` is ours in a heap
of 48 MB, where less of it lies.`;
    parts.push(note, writeMemoryTable(memory));
  }
  if (crossings) {
    parts.push(...writeHeading("calls between JavaScript and wasm, per request", "crossings"));
    parts.push(writeCrossingTable(crossings));
  }
  if (jobs) {
    parts.push(...writeHeading("a project with many recorded jobs, in milliseconds", "jobs"));
    const note = `Medians of ${JOB_ROUNDS} rounds: creations of a job with a webhook, and alarms with nothing due.`;
    parts.push(note, writeJobTable(jobs));
  }
  if (exports) {
    parts.push(...writeHeading("exports", "export"));
    const note = `\
Medians of ${EXPORT_ROUNDS} rounds of an export of ${EXPORT_ROWS.toLocaleString("en")} rows by each in turn, one at a time, every page of it from
upstream. Memory is the most that was resident in a process of its own, after exports of ${MOST_ROWS.toLocaleString("en")} rows in all:
where there is a goal, medians of ${MEMORY_RUNS} runs. ${HEAP_LIMIT} MB is what Cloudflare gives an isolate. Where V8 may take more, it enlarges its young
generation rather than collect: the more, the longer a process has worked, at whatever length its exports have. What
Node holds of a stream are buffers of 64 KiB that wait to be collected.`;
    parts.push(note, writeExportTable(exports), writeExportMemoryTable(exports));
  }
  if (archives) {
    parts.push(...writeHeading("series of the daily archive, in milliseconds", "archive"));
    const note = `\
Medians of ${ARCHIVE_ROUNDS} requests for ${ANSWER_DAYS} days, from request to answer. The archive's size is that of its whole database.`;
    parts.push(note, writeArchiveTable(archives));
  }
  if (sizes) parts.push(...writeHeading("size, in bytes", "size"), writeSizeTable(sizes));
  return parts.join("\n\n");
}

function formatPath(path) {
  return path.replace("-", " ");
}

function writeHeading(title, section) {
  return [`### ${title[0].toUpperCase()}${title.slice(1)}`, `\`npm run bench gateway:${section}\``];
}

function describeMethod({ throughput, place }) {
  const samples = Object.values(throughput).flat().flatMap(Object.values).flat();
  const others = samples.length === 0 ? "" : `, of which other work took ${averageOthers(samples)}`;
  return `\
All of it: \`npm run bench gateway\`. ${CONNECTIONS} keep-alive connections on loopback; at most three gateways in one
workerd; ${ROUNDS} rounds of ${SAMPLE} ms each, odd rounds in reversed order; ${cpus().length} cores${others}. Up to ${SPARE_ROUNDS} rounds
that other work disturbed are replaced. A ratio is of two samples of one round: medians, each with half of its
95 % confidence interval. Processor time is workerd's own. Busy is the share of a core that it used: well
below 1, something else limited the rate. Durable Objects are on workerd's local disk storage, in
\`${place}\`.`;
}

function averageOthers(samples) {
  const sum = samples.reduce((total, { others }) => total + others, 0);
  return (sum / samples.length).toFixed(2);
}

// --- goals -----------------------------------------------------------------

function reportGoals(measured) {
  const load = judgeLoad(measured).map((goal) => {
    const { path, other, cpu, rate } = goal;
    const what = `${formatPath(path)}, beside \`${other}\`: ${describeBound(goal)}`;
    return formatRow([what, formatMedian(cpu), formatMedian(rate), formatJudgement(goal)]);
  });
  const rest = judgeRest(measured).map((goal) =>
    formatRow([goal.what, goal.value, formatJudgement(goal)]),
  );
  const parts = [formatTable(["goal", "measured", "reached"], rest)];
  if (load.length > 0) {
    const head = ["goal", "ratio of processor time", "ratio of rates", "reached"];
    parts.unshift(formatTable(head, load));
  }
  const deviations = Object.entries(measured.deviations ?? {}).flatMap(([build, found]) =>
    found.map((text) => `- \`${build}\`: ${text}`),
  );
  if (deviations.length > 0) {
    parts.push("Where a build does not do what `hand` and `hono` do:", deviations.join("\n"));
  }
  return parts;
}

function describeBound({ maxCpu, minRate }) {
  if (maxCpu !== undefined) return `at most ${maxCpu.toFixed(2)} × its processor time`;
  return minRate === undefined ? "no goal" : `at least ${minRate.toFixed(2)} × its rate`;
}

function formatJudgement({ isReached, isClose }) {
  if (isReached === undefined) return "–";
  return `${isReached ? "yes" : "**no**"}${isClose ? ", within the error" : ""}`;
}

// --- tables ----------------------------------------------------------------

function writeLoadTable(groups) {
  const lines = groups.flatMap((group, at) => {
    // The gateway is in every group: its own figures are from the first.
    const names = Object.keys(group).filter((variant) => at === 0 || variant !== "quillgate");
    return names.map((variant) => writeLoadRow(group, variant));
  });
  const head = ["gateway", "req/s", "CPU, µs", "busy", "quillgate's CPU / its", "rate / its"];
  return formatTable(head, lines);
}

function writeLoadRow(group, variant) {
  const samples = group[variant];
  const { cpu, rate } = compare(group, variant);
  const isOwn = variant === "quillgate";
  return formatRow([
    `${variant}: ${VARIANTS[variant].description}`,
    median(samples.map((sample) => sample.rate)).toFixed(0),
    median(samples.map((sample) => sample.cpu.gateway)).toFixed(0),
    median(samples.map((sample) => (sample.rate * sample.cpu.gateway) / 1e6)).toFixed(2),
    isOwn ? "" : formatMedian(cpu),
    isOwn ? "" : formatMedian(rate),
  ]);
}

function writeStartTable(starts) {
  const format = (variant, key) => formatMedian(starts[variant].map((start) => start[key]));
  const lines = COLD_VARIANTS.map((variant) =>
    formatRow([variant, format(variant, "firstAnswer"), format(variant, "firstOfObject")]),
  );
  const head = ["gateway", "fresh workerd to its first answer", "first request of an object"];
  return formatTable(head, lines);
}

function writeMemoryTable(memory) {
  const format = (bytes) => (bytes / 1e6).toFixed(1);
  const lines = Object.entries(memory).map(([variant, { first, same, distinct }]) =>
    formatRow([variant, ...[first, same, distinct, distinct - same].map(format)]),
  );
  const head = ["gateway", "after one", "after the same", "after distinct ones", "more"];
  return formatTable(head, lines);
}

function writeJobTable(jobs) {
  const lines = Object.entries(jobs).map(([count, { creation, alarm }]) =>
    formatRow([Number(count).toLocaleString("en"), formatMedian(creation), formatMedian(alarm)]),
  );
  return formatTable(["recorded jobs", "creation", "alarm"], lines);
}

function writeArchiveTable(archives) {
  const lines = archives.map(({ rows, bytes, milliseconds }) =>
    formatRow([
      rows.toLocaleString("en"),
      (bytes / 1e6).toFixed(1),
      ...Object.values(milliseconds).map(formatMedian),
    ]),
  );
  return formatTable(["rows", "MB", "site", "page", "prefix"], lines);
}

function writeExportTable({ speed }) {
  const lines = EXPORT_FORMATS.flatMap((format) => {
    return Object.entries(speed[format]).map(([variant, samples]) => {
      const { rate, cpu } = compareExports(speed[format], variant);
      const isOwn = variant === "quillgate";
      return formatRow([
        `${format}, ${variant}: ${VARIANTS[variant].description}`,
        median(samples.map((sample) => sample.rate)).toFixed(0),
        median(samples.map((sample) => sample.cpu)).toFixed(0),
        isOwn ? "" : formatMedian(cpu),
        isOwn ? "" : formatMedian(rate),
      ]);
    });
  });
  const head = ["export", "rows/s", "CPU per 1000 rows, µs", "quillgate's CPU / its", "rate / its"];
  return formatTable(head, lines);
}

function writeExportMemoryTable({ memory }) {
  const lines = EXPORT_FORMATS.flatMap((format) =>
    Object.entries(HOLDERS).map(([name, { what }]) => {
      const peaks = LENGTHS.map((rows) => (median(memory[format][name][rows]) / 1e6).toFixed(1));
      return formatRow([`${format}: ${what}`, ...peaks]);
    }),
  );
  const head = LENGTHS.map((rows) => `${rows.toLocaleString("en")} rows each`);
  return formatTable(["most resident memory, MB", ...head], lines);
}

function writeCrossingTable(crossings) {
  const lines = Object.entries(crossings).map(([path, { worker, object }]) =>
    formatRow([formatPath(path), worker.into, worker.out, object.into, object.out]),
  );
  const head = ["path", "Worker: into wasm", "out of it", "Durable Object: into wasm", "out of it"];
  return formatTable(head, lines);
}

function writeSizeTable(sizes) {
  const lines = Object.entries(sizes).flatMap(([build, { wasm, script }]) => [
    writeSizeRow(`${build}: wasm`, wasm),
    writeSizeRow(`${build}: JavaScript`, script),
  ]);
  return formatTable(["what", "as built", "gzip 9", "brotli 11"], lines);
}

function writeSizeRow(what, { raw, gzip, brotli }) {
  return formatRow([what, raw, gzip, brotli]);
}

function formatMedian(values) {
  const middle = median(values);
  const digits = middle < 10 ? 2 : 1;
  return `${middle.toFixed(digits)} ± ${estimateError(values).toFixed(digits)}`;
}

function formatTable(head, lines) {
  const rule = formatRow(head.map((_, at) => (at === 0 ? "---" : "--:")));
  return [formatRow(head), rule, ...lines].join("\n");
}

function formatRow(cells) {
  return `| ${cells.join(" | ")} |`;
}
