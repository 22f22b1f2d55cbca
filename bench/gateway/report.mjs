/** What was measured of the gateway, as tables. */
import { cpus } from "node:os";
import { COLD_VARIANTS, STARTS } from "./cold_start.mjs";
import { compare, judgeLoad, judgeRest } from "./goals.mjs";
import { median, quantile } from "./statistics.mjs";
import { CONNECTIONS, ROUNDS, SAMPLE, SPARE_ROUNDS } from "./throughput.mjs";
import { VARIANTS } from "./variants.mjs";

/**
 * Writes the gateway's part of the report.
 *
 * @param {import("./measure.mjs").Measured} measured
 */
export function reportGateway(measured) {
  const { throughput, coldStarts, crossings, sizes } = measured;
  const parts = ["## The gateway beside its peers and an earlier build", describeMethod(measured)];
  parts.push("### Goals", ...reportGoals(measured));
  for (const [path, groups] of Object.entries(throughput)) {
    parts.push(...titleSection(name(path), path), loadTable(groups));
  }
  if (coldStarts) {
    parts.push(...titleSection("cold start, in milliseconds", "cold-start"));
    parts.push(`Medians of ${STARTS} starts, one Worker per process.`, startTable(coldStarts));
  }
  if (crossings) {
    parts.push(...titleSection("calls between JavaScript and wasm, per request", "crossings"));
    parts.push(crossingTable(crossings));
  }
  if (sizes) parts.push(...titleSection("size, in bytes", "size"), sizeTable(sizes));
  return parts.join("\n\n");
}

function name(path) {
  return path.replace("-", " ");
}

function titleSection(title, section) {
  return [`### ${title[0].toUpperCase()}${title.slice(1)}`, `\`npm run bench gateway:${section}\``];
}

function describeMethod({ throughput, place }) {
  const samples = Object.values(throughput).flat().flatMap(Object.values).flat();
  const others = samples.length === 0 ? "" : `, of which other work took ${mean(samples)}`;
  return `\
All of it: \`npm run bench gateway\`. ${CONNECTIONS} keep-alive connections on loopback; at most three gateways in one
workerd; ${ROUNDS} rounds of ${SAMPLE} ms each, odd rounds in reversed order; ${cpus().length} cores${others}. Up to ${SPARE_ROUNDS} rounds
that other work disturbed are replaced. A ratio is of two samples of one round: medians, with quartiles in
parentheses. Processor time is workerd's own. Busy is the share of a core that it used: well below 1,
something else limited the rate. Durable Objects are on workerd's local disk storage, in \`${place}\`.`;
}

function mean(samples) {
  const sum = samples.reduce((total, { others }) => total + others, 0);
  return (sum / samples.length).toFixed(2);
}

// --- goals -----------------------------------------------------------------

function reportGoals(measured) {
  const load = judgeLoad(measured).map((goal) => {
    const { path, other, cpu, rate, isReached } = goal;
    const what = `${name(path)}, beside \`${other}\`: ${describeBound(goal)}`;
    return row([what, formatSpread(cpu), formatSpread(rate), formatReached(isReached)]);
  });
  const rest = judgeRest(measured).map(({ what, value, isReached }) =>
    row([what, value, formatReached(isReached)]),
  );
  const parts = [table(["goal", "measured", "reached"], rest)];
  if (load.length > 0) {
    const head = ["goal", "ratio of processor time", "ratio of rates", "reached"];
    parts.unshift(table(head, load));
  }
  const deviations = Object.entries(measured.deviations).flatMap(([build, found]) =>
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

function formatReached(isReached) {
  if (isReached === undefined) return "–";
  return isReached ? "yes" : "**no**";
}

// --- tables ----------------------------------------------------------------

function loadTable(groups) {
  const lines = groups.flatMap((group, at) => {
    // The gateway is in every group: its own figures are from the first.
    const names = Object.keys(group).filter((variant) => at === 0 || variant !== "quillgate");
    return names.map((variant) => loadRow(group, variant));
  });
  const head = ["gateway", "req/s", "CPU, µs", "busy", "quillgate's CPU / its", "rate / its"];
  return table(head, lines);
}

function loadRow(group, variant) {
  const samples = group[variant];
  const { cpu, rate } = compare(group, variant);
  const isOwn = variant === "quillgate";
  return row([
    `${variant}: ${VARIANTS[variant].description}`,
    median(samples.map((sample) => sample.rate)).toFixed(0),
    median(samples.map((sample) => sample.cpu.gateway)).toFixed(0),
    median(samples.map((sample) => (sample.rate * sample.cpu.gateway) / 1e6)).toFixed(2),
    isOwn ? "" : formatSpread(cpu),
    isOwn ? "" : formatSpread(rate),
  ]);
}

function startTable(starts) {
  const format = (variant, key) => formatSpread(starts[variant].map((start) => start[key]));
  const lines = COLD_VARIANTS.map((variant) =>
    row([variant, format(variant, "firstAnswer"), format(variant, "firstOfObject")]),
  );
  const head = ["gateway", "fresh workerd to its first answer", "first request of an object"];
  return table(head, lines);
}

function crossingTable(crossings) {
  const lines = Object.entries(crossings).map(([path, { worker, object }]) =>
    row([name(path), worker.into, worker.out, object.into, object.out]),
  );
  const head = ["path", "Worker: into wasm", "out of it", "Durable Object: into wasm", "out of it"];
  return table(head, lines);
}

function sizeTable(sizes) {
  const lines = Object.entries(sizes).flatMap(([build, { wasm, script }]) => [
    sizeRow(`${build}: wasm`, wasm),
    sizeRow(`${build}: JavaScript`, script),
  ]);
  return table(["what", "as built", "gzip 9", "brotli 11"], lines);
}

function sizeRow(what, { raw, gzip, brotli }) {
  return row([what, raw, gzip, brotli]);
}

function formatSpread(values) {
  const digits = median(values) < 10 ? 2 : 1;
  const [low, high] = [0.25, 0.75].map((part) => quantile(values, part).toFixed(digits));
  return `${median(values).toFixed(digits)} (${low}–${high})`;
}

function table(head, lines) {
  const rule = row(head.map((_, at) => (at === 0 ? "---" : "--:")));
  return [row(head), rule, ...lines].join("\n");
}

function row(cells) {
  return `| ${cells.join(" | ")} |`;
}
