/** Writes down what was measured of the package, beside what it was before. */

import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { estimateError, median } from "../gateway/statistics.mjs";
import { judge, WAYS } from "./goals.mjs";
import { compare } from "./timing.mjs";

/** The figures of an earlier commit, by the same bench on the same kind of machine. */
const FILE = new URL("./before.json", import.meta.url);
let earlier = JSON.parse(readFileSync(FILE, "utf8"));

/** @param {import("./measure.mjs").Measured} measured */
export function reportPackage(measured) {
  const { sizes, script, wasm, page, browser, decoding, calls } = measured;
  return [
    `The package: one run of \`npm run bench package\` on Node ${process.versions.node} and ${browser}. *Before* is commit ${earlier.commit}, in a run of its own. Ratios are medians over alternating rounds, each with half of its 95 % confidence interval.`,
    "## Goals",
    writeGoals(judge(measured)),
    "## Size, bundled and minified by Vite, in bytes",
    "With Vite's preload helper, which the `import()` of an export and of a stream brings in: 600 bytes.",
    writeSizes(sizes),
    "### JavaScript by file, minified by esbuild, not compressed",
    writeShares("file", earlier.script, script),
    "### wasm by group of functions and by section, not compressed",
    writeShares("group", earlier.wasm, wasm),
    `## From text to checked rows: one page of 250 rows, ${page} bytes`,
    writeTimes(decoding),
    "## A whole call for that page in Node, the network left out",
    `After each call there is a turn of the event loop, as a network gives one; what a call puts off until then is a part of its time. The turn itself, ${writeTurns(calls)} µs, is taken off.`,
    writeTimes(Object.fromEntries(Object.entries(calls).map(([way, of]) => [WAYS[way], of]))),
  ].join("\n\n");
}

/** Makes what was measured the figures of before, from now on. */
export async function keepAsBefore(commit, measured) {
  const { sizes, script, wasm } = measured;
  const own = Object.fromEntries(Object.entries(sizes).filter(([name]) => isOwn(name)));
  const goals = judge(measured).map(({ what, ratio, error }) => [what, { ratio, error }]);
  earlier = { commit, sizes: own, script, wasm, goals: Object.fromEntries(goals) };
  await writeFile(FILE, `${JSON.stringify(earlier, undefined, 2)}\n`);
}

/** The package's default entry; the other one came later. */
function isOwn(name) {
  return name.startsWith("quillgate: ");
}

function writeGoals(goals) {
  const lines = goals.map((goal) => {
    const before = earlier.goals[goal.what];
    return [goal.what, before ? writeRatio(before) : "–", writeRatio(goal), writeVerdict(goal)];
  });
  return writeTable(["goal", "before", "now", "reached"], lines);
}

function writeRatio({ ratio, error }) {
  return `${ratio.toFixed(2)} ± ${error.toFixed(2)}`;
}

function writeVerdict({ isReached, isClose }) {
  return `${isReached ? "yes" : "**no**"}${isClose ? ", within the error" : ""}`;
}

function writeSizes(sizes) {
  const lines = Object.entries(sizes).map(([name, { raw, gzip, brotli }]) => [
    name,
    earlier.sizes[name]?.brotli ?? "",
    raw,
    gzip,
    brotli,
  ]);
  return writeTable(["what", "brotli 11 before", "minified", "gzip 9", "brotli 11"], lines);
}

/** A table of parts and their shares, the largest of before first. */
function writeShares(what, before, now) {
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])];
  const [totalBefore, totalNow] = [before, now].map(sumOf);
  const cells = (parts, name, total) =>
    parts[name] === undefined
      ? ["–", ""]
      : [parts[name], `${((100 * parts[name]) / total).toFixed(1)} %`];
  const lines = names.map((name) => [
    name,
    ...cells(before, name, totalBefore),
    ...cells(now, name, totalNow),
  ]);
  lines.push(["all", totalBefore, "", totalNow, ""]);
  return writeTable([what, "before", "share", "now", "share"], lines);
}

function sumOf(parts) {
  return Object.values(parts).reduce((sum, part) => sum + part, 0);
}

/** A column of times and one of ratios for each of several hosts or ways. */
function writeTimes(columns) {
  const names = Object.keys(Object.values(columns)[0].times);
  const lines = names.map((name) => [
    name,
    ...Object.values(columns).flatMap(({ times }) => [
      median(times[name]).toFixed(1),
      writeRatio(compare(times, name, names[0])),
    ]),
  ]);
  return writeTable(
    ["way", ...Object.keys(columns).flatMap((name) => [`${name}, µs`, "ratio"])],
    lines,
  );
}

function writeTurns(calls) {
  const turns = Object.values(calls).flatMap(({ turns }) => turns);
  return `${median(turns).toFixed(1)} ± ${estimateError(turns).toFixed(1)}`;
}

function writeTable(head, lines) {
  const rule = head.map((_, at) => (at === 0 ? "---" : "--:"));
  return [head, rule, ...lines].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
