/** Reads the number of passed and failed tests from the reports of test runners. */

/**
 * @typedef {object} Counts
 * @property {number} passed
 * @property {number} failed
 * @property {number} [skipped]
 * @property {string[]} [failures] names of the failed tests
 */

/**
 * Reads a TAP report of Node.js.
 *
 * @param {string} report
 * @returns {Counts}
 */
export function readTap(report) {
  const total = (name) => Number(report.match(new RegExp(`^# ${name} (\\d+)$`, "m"))?.[1] ?? 0);
  return {
    passed: total("pass"),
    failed: total("fail") + total("cancelled"),
    skipped: total("skipped"),
    failures: failedTests(report),
  };
}

/** The full names of failed tests: a failed `describe` is named only through its tests. */
function failedTests(report) {
  const names = [];
  const path = [];
  for (const line of report.split("\n")) {
    const subtest = /^( *)# Subtest: (.*)$/.exec(line);
    if (subtest) {
      const depth = subtest[1].length / 4;
      path.length = depth;
      path[depth] = subtest[2];
    }
    const failed = /^( *)not ok \d+ - (.*?)(?: # .*)?$/.exec(line);
    if (!failed) continue;
    const parents = path.slice(0, failed[1].length / 4);
    const name = [...parents, failed[2]].join(" › ");
    if (!names.some((other) => other.startsWith(`${name} › `))) names.push(name);
  }
  return names;
}

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
    counts.failures.push(name);
  }
  return counts;
}

/**
 * Reads the output of `cargo nextest run`.
 *
 * @param {string} output
 * @returns {Counts}
 */
export function readNextest(output) {
  const [, summary = ""] = /^\s*Summary \[.*?\]\s*(.*)$/m.exec(output) ?? [];
  const count = (word) => Number(new RegExp(`(\\d+) ${word}`).exec(summary)?.[1] ?? 0);
  const failures = [
    ...output.matchAll(/^\s*(?:FAIL|TIMEOUT|SIG\w+) \[.*?\]\s*(?:\(.*?\)\s*)?(.*)$/gm),
  ];
  return {
    passed: count("passed"),
    failed: count("failed") + count("timed out"),
    skipped: 0,
    failures: [...new Set(failures.map(([, name]) => name))],
  };
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
    failures: errors.map(({ message }) => message.split("\n")[0]),
    files: [],
  };
  for (const suite of suites) {
    let milliseconds = 0;
    for (const { name, result } of resultsIn(suite)) {
      milliseconds += result.duration;
      if (result.status === "passed" || result.status === "skipped") continue;
      const traces = result.attachments.flatMap(({ path }) => path ?? []);
      counts.failures.push([`${suite.file} › ${name}`, ...traces].join("\n      "));
    }
    counts.files.push({ file: suite.file, seconds: milliseconds / 1000 });
  }
  return counts;
}

function* resultsIn({ suites = [], specs = [] }, parents = []) {
  for (const spec of specs) {
    const name = [...parents, spec.title].join(" › ");
    for (const { results } of spec.tests) for (const result of results) yield { name, result };
  }
  for (const suite of suites) yield* resultsIn(suite, [...parents, suite.title]);
}
