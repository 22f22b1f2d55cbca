/** The tasks of a test run: builds, test files, commands, and the search for the admin key. */
import { createWriteStream } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { PLANTED, scanForCanary } from "../../tests/harness/canary.mjs";
import { LOGS } from "../../tests/harness/process.mjs";
import { spawnGroup, stopGroup } from "../child.mjs";
import { ROOT } from "../versions.mjs";
import { BUILDS, withPrerequisites } from "./builds.mjs";
import { readCargo, readPlaywright } from "./results.mjs";
import { ALONE, SUITES, testFiles, WAITING } from "./suites.mjs";

/**
 * One more than the cores, because test files mostly wait. With two more, some almost timed out.
 */
export const SLOTS = availableParallelism() + 1;
const TIMEOUT_MS = 15 * 60_000;
const NODE_REPORTER = new URL("node_reporter.mjs", import.meta.url).href;
const BUILT_FOLDERS = ["pkg/dist", "worker/build", "gateway/dist", "www/dist"];

/**
 * @typedef {import("./scheduler.mjs").Task & { suite: string }} SuiteTask
 *
 * @typedef {object} Context
 * @property {NodeJS.ProcessEnv} env
 * @property {Record<string, string>} bin paths of programs
 * @property {string} canary the admin key of this run
 */

/**
 * Returns one task for each build that the suites need.
 *
 * @param {string[]} suites
 * @param {Context} context
 * @returns {SuiteTask[]}
 */
export function buildTasks(suites, context) {
  const names = withPrerequisites(suites.flatMap((suite) => SUITES[suite].builds ?? []));
  return names.map((name) => ({
    name: nameOfBuild(name),
    suite: "build steps",
    slots: BUILDS[name].compiles ? availableParallelism() : 1,
    after: (BUILDS[name].after ?? []).map(nameOfBuild),
    run: async () => {
      const { build, variable } = BUILDS[name];
      const result = await build({ ...context, compiled: [], made: [] });
      if (variable) context.env[variable] = result;
      return { passed: 1, failed: 0 };
    },
  }));
}

/**
 * Returns one task for each test file and command.
 *
 * @param {Map<string, string[]>} selection suites, with parts of the paths of the files to run
 * @param {boolean} matrix whether to include the wide matrices
 * @param {Context} context
 * @returns {Promise<SuiteTask[]>}
 */
export async function testTasks(selection, matrix, context) {
  const tasks = [];
  for (const [suite, parts] of selection) {
    const { commands = [], files } = SUITES[suite];
    const after = (SUITES[suite].builds ?? []).map(nameOfBuild);
    if (parts.length === 0) {
      tasks.push(...commands.map((command) => commandTask(suite, command, after, context)));
    }
    if (!files) continue;
    const wanted = (file) => parts.length === 0 || parts.some((part) => file.includes(part));
    const selected = (await testFiles(suite, matrix)).filter(wanted);
    tasks.push(...selected.map((file) => fileTask(suite, file, after, context)));
  }
  return tasks;
}

/**
 * Returns the task that searches the logs and the built files for the admin key of the run. The
 * task also fails if a suite should have started the upstream and the gateway with the key, but one
 * of them was not.
 *
 * @param {string[]} suites the suites that run completely
 * @param {Context} context
 * @returns {SuiteTask}
 */
export function secretsTask(suites, { canary }) {
  return { name: "secrets", suite: "secrets", slots: 1, last: true, run };

  async function run() {
    const problems = [];
    const roots = ["tests/.logs", ...BUILT_FOLDERS];
    for (const root of roots) {
      const { hits } = await scanForCanary(canary, [join(ROOT, root)]);
      problems.push(...hits.map(({ file, form }) => `the admin key is in ${file} (${form})`));
    }
    if (suites.some((suite) => SUITES[suite].plantsCanary)) {
      const planted = await readFile(PLANTED, "utf8").catch(() => "");
      for (const program of ["upstream", "gateway"]) {
        if (planted.split("\n").includes(program)) continue;
        problems.push(`no ${program} was started with the admin key, so the search proves nothing`);
      }
    }
    const problem = problems.length > 0 ? "the search for the admin key failed" : undefined;
    return {
      passed: problem ? 0 : 1,
      failed: problems.length,
      problem,
      failures: problems.map((name) => ({ name })),
    };
  }
}

function fileTask(suite, file, after, context) {
  return {
    name: file,
    suite,
    slots: WAITING.has(file) ? 0.5 : 1,
    after,
    alone: ALONE.has(file),
    async run() {
      const report = logOf(file, "json");
      const reporters = [
        ...["--test-reporter=spec", "--test-reporter-destination=stdout"],
        ...[`--test-reporter=${NODE_REPORTER}`, `--test-reporter-destination=${report}`],
      ];
      const outcome = await execute(file, process.execPath, [...reporters, file], context.env);
      return conclude(outcome, await readNodeReport(report));
    },
  };
}

function commandTask(suite, command, after, context) {
  const name = `${suite}: ${command.name}`;
  const { slots, lock, alone } = command;
  return {
    name,
    suite,
    slots,
    lock,
    alone,
    after,
    async run() {
      const [program, ...args] = command.command(context.bin);
      const outcome = await execute(name, program, args, await commandEnv(name, command, context));
      return conclude(outcome, await countTests(command, outcome));
    },
  };
}

async function commandEnv(name, { environment, results }, context) {
  if (environment === "chrome") return chromeEnv(name, context);
  if (environment === "node") return { ...context.env, WASM_BINDGEN_TEST_ONLY_NODE: "1" };
  return results ? { ...context.env, QUILLGATE_PAGE_RESULTS: results } : context.env;
}

async function countTests({ report, results }, { output, problem }) {
  if (report === "cargo") return readCargo(output);
  if (report === "playwright") {
    const written = await readFile(join(LOGS, results, "report.json"), "utf8").catch(() => "");
    return written === "" ? { passed: 0, failed: 0 } : readPlaywright(written);
  }
  return { passed: problem ? 0 : 1, failed: problem ? 1 : 0 };
}

/** Reads the reporter's output. It is missing or empty if the test file ended early. */
async function readNodeReport(path) {
  const report = await readFile(path, "utf8").catch(() => "");
  return report === "" ? { passed: 0, failed: 0 } : JSON.parse(report);
}

/** A process that failed without a failed test, or ran no test, counts as one failure. */
function conclude({ log, output, problem }, counts) {
  const tests = counts.passed + counts.failed + (counts.skipped ?? 0);
  const found = counts.failed > 0 ? "tests failed" : problem;
  const failure = found ?? (tests === 0 ? "no test ran" : undefined);
  return {
    ...counts,
    failed: Math.max(counts.failed, failure ? 1 : 0),
    problem: failure,
    log,
    output,
  };
}

/** Runs a program and stores its output in a log. Never rejects. */
async function execute(name, program, args, env) {
  const log = logOf(name, "log");
  const child = spawnGroup(program, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  const chunks = [];
  const file = createWriteStream(log);
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => chunks.push(chunk));
    stream.pipe(file, { end: false });
  }
  let problem;
  const limit = setTimeout(() => {
    problem = `timed out after ${TIMEOUT_MS / 60_000} min`;
    stopGroup(child);
  }, TIMEOUT_MS);
  const how = await new Promise((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code, signal) => resolve(code === 0 ? undefined : exitOf(code, signal)));
  });
  clearTimeout(limit);
  await new Promise((resolve) => file.end(resolve));
  const output = stripVTControlCharacters(Buffer.concat(chunks).toString("utf8"));
  return { log, output, problem: problem ?? how };
}

function exitOf(code, signal) {
  return signal ? `ended by ${signal}` : `exited with code ${code}`;
}

/** Returns the variables that make wasm-bindgen's test runner use headless Chromium. */
async function chromeEnv(name, { env, bin }) {
  const capabilities = logOf(name, "webdriver.json");
  const args = ["--disable-gpu", "--no-first-run", "--disable-background-networking"];
  const chrome = { "goog:chromeOptions": { binary: bin.chromium, args } };
  await writeFile(capabilities, JSON.stringify(chrome));
  return {
    ...env,
    CHROMEDRIVER: bin.chromedriver,
    WASM_BINDGEN_TEST_ONLY_WEB: "1",
    // Tests that work in both environments run in the browser.
    WASM_BINDGEN_USE_BROWSER: "1",
    WASM_BINDGEN_TEST_DRIVER_TIMEOUT: "30",
    WASM_BINDGEN_TEST_TIMEOUT: "120",
    WASM_BINDGEN_TEST_WEBDRIVER_JSON: capabilities,
  };
}

function logOf(name, ending) {
  const words = name.replace(/\.(?:test|matrix)\.mjs$/, "").replace(/^tests\//, "");
  return join(LOGS, `test-${words.replaceAll(/[^\w.-]+/g, "-")}.${ending}`);
}

function nameOfBuild(name) {
  return `build ${name}`;
}
