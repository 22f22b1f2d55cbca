/**
 * Runs the tests.
 *
 *   npm test                                  every suite
 *   npm test -- gateway core                  these suites
 *   npm test -- gateway/archive               the files of a suite whose path contains a string
 *   npm run test:matrix                       every suite with its wide matrices
 *
 * This script may run before `npm ci`, so it imports no npm package until setup is done.
 */
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { newCanaryKey } from "../tests/harness/canary.mjs";
import { LOGS } from "../tests/harness/process.mjs";
import { endWithNpm, runMain, StepError } from "./child.mjs";
import { setup } from "./setup.mjs";
import { printSummary, printTask, writeTimes } from "./test/report.mjs";
import { runTasks } from "./test/scheduler.mjs";
import { SUITES } from "./test/suites.mjs";
import { buildTasks, SLOTS, secretsTask, testTasks } from "./test/tasks.mjs";

const OPTIONS = { matrix: { type: "boolean" } };

await runMain(async () => {
  endWithNpm();
  const started = performance.now();
  const { values, positionals } = readArguments();
  const selection = selectByName(positionals);
  await rm(LOGS, { recursive: true, force: true });
  await mkdir(LOGS, { recursive: true });

  const suites = [...selection.keys()];
  const { env, bin } = await setup(needsOf(suites, values.matrix));
  const canary = newCanaryKey();
  const context = { env: { ...env, QUILLGATE_CANARY_KEY: canary }, bin, canary };
  const tasks = [
    ...buildTasks(suites, context),
    ...(await testTasks(selection, values.matrix, context)),
    secretsTask(wholeSuites(selection), context),
  ];

  const results = [];
  await runTasks(tasks, SLOTS, (task, result) => {
    const startedAt = (performance.now() - started) / 1000 - result.seconds;
    const named = { ...result, name: task.name, suite: task.suite, startedAt };
    results.push(named);
    printTask(named);
  });
  const seconds = (performance.now() - started) / 1000;
  await writeTimes(join(LOGS, "times.json"), results, seconds);
  if (!printSummary(results, seconds)) process.exitCode = 1;
});

function readArguments() {
  try {
    return parseArgs({ options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new StepError(error.message);
  }
}

/**
 * Selects suites by name, in the order of their declaration.
 *
 * @param {string[]} names such as `gateway` or `gateway/archive`; none means every suite
 * @returns {Map<string, string[]>} each suite with parts of the paths of its files; none means all
 */
function selectByName(names) {
  const selection = new Map();
  for (const name of names.length > 0 ? names : Object.keys(SUITES)) {
    const [suite, ...path] = name.split("/");
    if (!Object.hasOwn(SUITES, suite)) {
      const known = Object.keys(SUITES).join(", ");
      throw new StepError(`unknown suite ${suite}; the suites are ${known}`);
    }
    const parts = selection.get(suite);
    // No parts mean the whole suite, which includes every part.
    const isWhole = path.length === 0 || parts?.length === 0;
    selection.set(suite, isWhole ? [] : [...(parts ?? []), path.join("/")]);
  }
  return new Map([...selection].sort(([a], [b]) => orderOf(a) - orderOf(b)));
}

/** Returns the suites that run completely. */
function wholeSuites(selection) {
  return [...selection].filter(([, parts]) => parts.length === 0).map(([suite]) => suite);
}

function orderOf(suite) {
  return Object.keys(SUITES).indexOf(suite);
}

function needsOf(suites, matrix) {
  const needs = suites.flatMap((name) => [
    SUITES[name].needs,
    matrix ? SUITES[name].matrixNeeds : {},
  ]);
  return Object.assign({}, ...needs);
}
