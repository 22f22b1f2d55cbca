/** Formats the package's measurements as Markdown. */

import { median } from "../gateway/statistics.mjs";
import { formatJudgement, formatMedian, formatTable } from "../tables.mjs";
import { judge, WAYS } from "./goals.mjs";
import { compare } from "./timing.mjs";

export function reportPackage(measured) {
  const { sizes, page, browser, decoding, calls } = measured;
  return [
    `The package, measured by one run of \`npm run bench -- package\` on Node ${process.versions.node} and ${browser}. Ratios are medians over alternating rounds, each with half of its 95 % confidence interval.`,
    "## Goals",
    formatGoals(judge(measured)),
    "## Size, bundled and minified by Vite, in bytes",
    "Includes 600 bytes of Vite's preload helper, which the `import()` of exports and event streams requires.",
    formatSizes(sizes),
    `## Decoding one page of 250 rows, ${page} bytes of JSON`,
    formatTimes(decoding),
    "## A whole call for that page in Node, without a network",
    `A turn of the event loop follows each call, as with a network, so work that a call defers counts. The turn itself takes ${formatTurns(calls)} µs, which is subtracted.`,
    formatTimes(Object.fromEntries(Object.entries(calls).map(([way, of]) => [WAYS[way], of]))),
  ].join("\n\n");
}

function formatGoals(goals) {
  const lines = goals.map((goal) => [goal.what, formatRatio(goal), formatJudgement(goal)]);
  return formatTable(["goal", "measured", "reached"], lines);
}

function formatRatio({ ratio, error }) {
  return `${ratio.toFixed(2)} ± ${error.toFixed(2)}`;
}

function formatSizes(sizes) {
  const lines = Object.entries(sizes).map(([name, { raw, gzip, brotli }]) => [
    name,
    raw,
    gzip,
    brotli,
  ]);
  return formatTable(["import", "minified", "gzip 9", "brotli 11"], lines);
}

function formatTimes(columns) {
  const names = Object.keys(Object.values(columns)[0].times);
  const lines = names.map((name) => [
    name,
    ...Object.values(columns).flatMap(({ times }) => [
      median(times[name]).toFixed(1),
      formatRatio(compare(times, name, names[0])),
    ]),
  ]);
  return formatTable(
    ["client", ...Object.keys(columns).flatMap((name) => [`${name}, µs`, "ratio"])],
    lines,
  );
}

function formatTurns(calls) {
  return formatMedian(
    Object.values(calls).flatMap(({ turns }) => turns),
    1,
  );
}
