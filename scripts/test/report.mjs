/** Prints the results of a test run and stores its times. */
import { writeFile } from "node:fs/promises";
import { relative } from "node:path";
import { ROOT } from "../versions.mjs";

const SLOWEST = 20;
/** Bounds of a failure's message in the summary. The log has all of it. */
const MAX_LINES = 15;
const MAX_LINE_LENGTH = 200;

/**
 * @typedef {import("./scheduler.mjs").Result & import("./results.mjs").Counts & {
 *   name: string, suite: string, seconds: number, log?: string, output?: string,
 *   files?: { file: string, seconds: number }[] }} TaskResult
 */

/**
 * Prints one line for a finished task.
 *
 * @param {TaskResult} result
 */
export function printTask({ name, passed, failed, skipped = 0, problem, seconds }) {
  const counts = [
    passed > 0 && `${passed} passed`,
    failed > 0 && `${failed} failed`,
    skipped > 0 && `${skipped} skipped`,
  ];
  const words = [...counts.filter(Boolean), `${seconds.toFixed(1)} s`].join(", ");
  console.log(
    `${problem ? "✖" : "✔"} ${name} (${words})${problem ? `: ${firstLine(problem)}` : ""}`,
  );
}

/**
 * Prints the summary: times by suite, the slowest files, and last the failures.
 *
 * @param {TaskResult[]} results
 * @param {number} seconds of the whole run
 * @returns {boolean} whether everything passed
 */
export function printSummary(results, seconds) {
  const suites = suitesOf(results);
  console.log(`\n${row("suite", ["passed", "failed", "skipped", "sum", "from", "to"])}`);
  for (const { name, passed, failed, skipped, sum, from, to } of suites) {
    const times = [sum, from, to].map((time) => time.toFixed(1));
    console.log(row(name, [passed, failed, skipped, ...times]));
  }

  console.log(`\nslowest files${" ".repeat(43)}seconds`);
  for (const { file, seconds: time } of filesOf(results).slice(0, SLOWEST)) {
    console.log(`${file.padEnd(54)}${time.toFixed(1).padStart(9)}`);
  }

  const failures = results.filter(({ problem }) => problem);
  const total = (key) => suites.reduce((sum, suite) => sum + suite[key], 0);
  const minutes = `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  console.log(`\n${total("passed")} passed, ${total("failed")} failed in ${minutes}`);
  for (const { name, problem, log, output = "", failures: tests = [] } of failures) {
    console.log(`\n✖ ${name}: ${firstLine(problem)}`);
    for (const test of tests) printFailure(test);
    const text = output === "" ? problem : output;
    if (!tests.some(({ message }) => message)) printLines(text.split("\n"), -MAX_LINES);
    if (log) console.log(`    ${relative(ROOT, log)}`);
  }
  return failures.length === 0;
}

/** Prints a failed test, the beginning of its message, and the paths of its traces. */
function printFailure({ name, message = "", files = [] }) {
  console.log(`    ${name}`);
  printLines(message.split("\n"), 0, MAX_LINES);
  for (const file of files) console.log(`      ${relative(ROOT, file)}`);
}

/** Prints the lines that are not empty, from the index `start` up to the index `end`. */
function printLines(lines, start, end) {
  for (const line of lines.filter((line) => line.trim() !== "").slice(start, end)) {
    console.log(`      | ${line.slice(0, MAX_LINE_LENGTH)}`);
  }
}

/**
 * Stores the times of a run as JSON.
 *
 * @param {string} path
 * @param {TaskResult[]} results
 * @param {number} seconds of the whole run
 */
export async function writeTimes(path, results, seconds) {
  const report = { seconds, suites: suitesOf(results), files: filesOf(results) };
  await writeFile(path, `${JSON.stringify(report, undefined, 2)}\n`);
}

/**
 * Groups the results by suite. `sum` adds the seconds of its tasks. `from` and `to` are the start
 * of the first and the end of the last, in seconds since the run began.
 */
function suitesOf(results) {
  const suites = new Map();
  for (const { suite, passed, failed, skipped = 0, seconds, startedAt } of results) {
    const own = suites.get(suite) ?? { name: suite, passed: 0, failed: 0, skipped: 0, sum: 0 };
    own.passed += passed;
    own.failed += failed;
    own.skipped += skipped;
    own.sum += seconds;
    own.from = Math.min(own.from ?? startedAt, startedAt);
    own.to = Math.max(own.to ?? 0, startedAt + seconds);
    suites.set(suite, own);
  }
  return [...suites.values()];
}

function filesOf(results) {
  return results
    .flatMap(({ name, seconds, files }) => files ?? [{ file: name, seconds }])
    .sort((a, b) => b.seconds - a.seconds);
}

function row(name, cells) {
  return name.padEnd(18) + cells.map((cell) => String(cell).padStart(9)).join("");
}

function firstLine(text) {
  return text.split("\n")[0];
}
