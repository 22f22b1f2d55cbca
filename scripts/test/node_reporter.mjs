/** A reporter of Node's test runner that writes the number of tests and the failures as JSON. */

/**
 * @param {AsyncIterable<{ type: string, data: object }>} events
 * @returns {AsyncGenerator<string>} one JSON document, a {@link import("./results.mjs").Counts}
 */
export default async function* reportAsJson(events) {
  const counts = { passed: 0, failed: 0, skipped: 0, failures: [] };
  /** Names of the current test and the tests and suites around it. */
  const path = [];
  for await (const { type, data } of events) {
    if (type === "test:start") {
      path.length = data.nesting;
      path.push(data.name);
    }
    if (type !== "test:pass" && type !== "test:fail") continue;
    const { error, type: kind } = data.details;
    if (kind !== "suite") count(counts, type, data);
    // `subtestsFailed` only repeats the failed tests inside, which are listed themselves.
    if (type === "test:fail" && error.failureType !== "subtestsFailed") {
      const name = [...path.slice(0, data.nesting), data.name].join(" › ");
      counts.failures.push({ name, message: String(error.cause?.message ?? error.message) });
    }
  }
  yield JSON.stringify(counts);
}

function count(counts, type, { skip, todo }) {
  if (type === "test:fail") counts.failed += 1;
  else if (skip !== undefined || todo !== undefined) counts.skipped += 1;
  else counts.passed += 1;
}
