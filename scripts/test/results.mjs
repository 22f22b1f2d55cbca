/** Reads the number of passed and failed tests from the reports of test runners. */
import { stripVTControlCharacters } from "node:util";

/**
 * @typedef {object} Counts
 * @property {number} passed
 * @property {number} failed
 * @property {number} [skipped]
 * @property {Failure[]} [failures]
 *
 * @typedef {object} Failure
 * @property {string} name of the test, after those of the tests and suites around it
 * @property {string} [message] of the error
 * @property {string[]} [files] paths of traces and screenshots
 */

/**
 * Reads the output of `cargo test` or of wasm-bindgen's test runner.
 *
 * @param {string} output
 * @returns {Counts}
 */
export function readCargo(output) {
  const counts = { passed: 0, failed: 0, failures: [] };
  for (const [, passed, failed] of output.matchAll(
    /^test result: \w+\. (\d+) passed; (\d+) failed/gm,
  )) {
    counts.passed += Number(passed);
    counts.failed += Number(failed);
  }
  for (const [, name] of output.matchAll(/^test (.*?) \.\.\. FAIL(?:ED)?/gm)) {
    counts.failures.push({ name });
  }
  return counts;
}

/**
 * Reads the JSON report of Playwright Test.
 *
 * @param {string} report
 * @returns {Counts & { files: { file: string, seconds: number }[] }}
 */
export function readPlaywright(report) {
  const { stats, suites, errors = [] } = JSON.parse(report);
  const counts = {
    passed: stats.expected,
    failed: stats.unexpected + stats.flaky,
    skipped: stats.skipped,
    failures: errors.map(({ message }) => ({ name: "Playwright", message: plain(message) })),
    files: [],
  };
  for (const suite of suites) {
    let milliseconds = 0;
    for (const { name, result } of resultsIn(suite)) {
      milliseconds += result.duration;
      if (result.status === "passed" || result.status === "skipped") continue;
      counts.failures.push({
        name: `${suite.file} › ${name}`,
        message: plain(result.error?.message),
        files: result.attachments.flatMap(({ path }) => path ?? []),
      });
    }
    counts.files.push({ file: suite.file, seconds: milliseconds / 1000 });
  }
  return counts;
}

/** Removes the colours of a message. */
function plain(message = "") {
  return stripVTControlCharacters(message);
}

function* resultsIn({ suites = [], specs = [] }, parents = []) {
  for (const spec of specs) {
    const name = [...parents, spec.title].join(" › ");
    for (const { results } of spec.tests) for (const result of results) yield { name, result };
  }
  for (const suite of suites) yield* resultsIn(suite, [...parents, suite.title]);
}
