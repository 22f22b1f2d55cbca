/**
 * `npm test [suite…]`: sets up, builds, and runs the named suites, all of them
 * when none is named. Every suite runs, also after another has failed.
 *
 * Runs before `npm ci` has: it may import nothing but Node.js itself.
 */
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { newCanaryKey, PLANTED, scanForCanary } from "../tests/harness/canary.mjs";
import { LOGS } from "../tests/harness/process.mjs";
import { BUILD_NEEDS, build } from "./build.mjs";
import { LOCKED } from "./cargo.mjs";
import { BINDINGS, CLIENT, CORE_TESTS, LINTS } from "./checks.mjs";
import { endWithNpm, run, runMain, StepError } from "./child.mjs";
import { setup } from "./setup.mjs";
import { ROOT } from "./versions.mjs";

const WASM_PACK_NEEDS = { wasmBindgen: true, wasmPack: true };
const OPENAPI_NEEDS = { ...BUILD_NEEDS, python: true };
const PACKAGE_NEEDS = {
  ...BUILD_NEEDS,
  ...{ browser: true, firefox: true, spreadsheet: true, packageTools: true },
};
const EXAMPLES_NEEDS = { ...BUILD_NEEDS, wasmPack: true, browser: true };
const TEST_TIMEOUT_MS = 15 * 60_000;

/** How many files of a suite run side by side, where they wait more than they work. */
const SIDE_BY_SIDE = { gateway: 2 };

/** Suites that start the gateway or the simulator with the canary. */
const PLANTING = [
  "package",
  "cli",
  "gateway",
  "gateway_package",
  "openapi",
  "page",
  "action",
  "examples",
  "soak",
  "build",
];

/**
 * @typedef {object} Counts
 * @property {number} passed
 * @property {number} failed
 * @property {number} [skipped] as the suite itself says
 *
 * @typedef {object} Suite
 * @property {import("./setup.mjs").Needs} needs
 * @property {boolean} [built] whether it tests what `npm run build` makes
 * @property {(test: TestRun) => Promise<Counts>} run
 *
 * @typedef {object} TestRun
 * @property {string} name of the suite
 * @property {string[]} selected all the suites of this run
 * @property {string} canary
 * @property {NodeJS.ProcessEnv} env
 * @property {Record<string, string>} bin
 * @property {(command: string, args: string[], env?: NodeJS.ProcessEnv) => Promise<Outcome>} run
 *
 * @typedef {{ output: string, failure?: Error }} Outcome
 */

/** @type {Record<string, Suite>} */
const SUITES = {
  format: { needs: {}, run: checkFormat },
  lint: { needs: {}, run: checkLint },
  core: { needs: {}, run: testCore },
  "bindings-node": { needs: WASM_PACK_NEEDS, run: inNode(BINDINGS) },
  "bindings-chrome": { needs: { ...WASM_PACK_NEEDS, browser: true }, run: inChrome(BINDINGS) },
  "client-node": { needs: WASM_PACK_NEEDS, run: inNode(CLIENT) },
  "client-chrome": { needs: { ...WASM_PACK_NEEDS, browser: true }, run: inChrome(CLIENT) },
  "worker-node": { needs: WASM_PACK_NEEDS, run: testWorkerInNode },
  package: { needs: PACKAGE_NEEDS, built: true, run: testWithNode },
  cli: { needs: { ...BUILD_NEEDS, shells: true }, built: true, run: testWithNode },
  gateway: { needs: { ...BUILD_NEEDS, spreadsheet: true }, built: true, run: testWithNode },
  openapi: { needs: OPENAPI_NEEDS, built: true, run: testWithNode },
  gateway_package: { needs: BUILD_NEEDS, built: true, run: testWithNode },
  page: { needs: { ...BUILD_NEEDS, browser: true }, built: true, run: testWithNode },
  action: { needs: BUILD_NEEDS, built: true, run: testWithNode },
  examples: { needs: EXAMPLES_NEEDS, built: true, run: testWithNode },
  soak: { needs: BUILD_NEEDS, built: true, run: testWithNode },
  harness: { needs: {}, run: testWithNode },
  contract: { needs: {}, run: testWithNode },
  supply: { needs: { cargoDeny: true }, run: testWithNode },
  build: { needs: BUILD_NEEDS, built: true, run: testWithNode },
  secrets: { needs: BUILD_NEEDS, built: true, run: searchForCanary },
};

await runMain(async () => {
  endWithNpm();
  const selected = suitesNamed(process.argv.slice(2));
  await rm(LOGS, { recursive: true, force: true });
  await mkdir(LOGS, { recursive: true });
  const needs = Object.assign({}, ...selected.map((name) => SUITES[name].needs));
  const context = await setup(needs);
  const canary = newCanaryKey();
  const shared = { ...context, env: { ...context.env, QUILLGATE_CANARY_KEY: canary } };

  const results = [];
  let building;
  for (const name of selected) {
    console.log(`\n━━ ${name} ${"━".repeat(Math.max(0, 68 - name.length))}`);
    const started = performance.now();
    const result = await outcomeOf(async () => {
      if (SUITES[name].built) {
        building ??= build(context);
        await building;
      }
      return SUITES[name].run({ ...shared, name, selected, canary, run: runner(name, shared.env) });
    });
    // A suite that failed without a failed test of its own counts as one.
    const failed = Math.max(result.failed, result.problem ? 1 : 0);
    results.push({ name, ...result, failed, seconds: (performance.now() - started) / 1000 });
  }
  report(results);
});

/** Runs a suite; what it throws makes it a failed one. */
async function outcomeOf(runSuite) {
  try {
    const counts = await runSuite();
    if (counts.passed + counts.failed === 0) return { ...counts, problem: "ran no test" };
    const problem = counts.failure?.message ?? (counts.failed > 0 ? "tests failed" : undefined);
    return { ...counts, problem };
  } catch (error) {
    console.error(error instanceof StepError ? `\n✗ ${error.message}` : error);
    return { passed: 0, failed: 0, problem: firstLineOf(error.message) };
  }
}

function report(results) {
  const passed = results.reduce((sum, result) => sum + result.passed, 0);
  const failed = results.reduce((sum, result) => sum + result.failed, 0);
  console.log(`\n${row("suite", "result", "passed", "failed", "time")}`);
  for (const { name, problem, seconds, skipped = 0, ...counts } of results) {
    const verdict = problem ? "FAILED" : "ok";
    const time = `${seconds.toFixed(1)} s`;
    const notes = [problem && firstLineOf(problem), skipped > 0 && `${skipped} skipped`];
    const words = notes
      .filter(Boolean)
      .map((note) => `  ${note}`)
      .join("");
    console.log(row(name, verdict, counts.passed, counts.failed, time) + words);
  }
  if (results.some(({ problem }) => problem)) process.exitCode = 1;
  console.log(`\n${passed} passed, ${failed} failed`);
}

function row(name, verdict, ...numbers) {
  const cells = numbers.map((cell) => String(cell).padStart(9)).join("");
  return name.padEnd(18) + verdict.padEnd(8) + cells;
}

function firstLineOf(text) {
  return text.split("\n")[0];
}

function suitesNamed(names) {
  const known = Object.keys(SUITES);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new StepError(`no suite is called ${unknown.join(", ")}; there are ${known.join(", ")}`);
  }
  return names.length > 0 ? known.filter((name) => names.includes(name)) : known;
}

/** Runs a suite's commands: shown, kept in the suite's log, never thrown. */
function runner(suite, suiteEnv) {
  let kept = "";
  return async (command, args, env = suiteEnv) => {
    const chunks = [];
    const onOutput = (chunk) => chunks.push(chunk);
    const failure = await run(suite, command, args, { env, onOutput }).then(
      () => undefined,
      (error) => error,
    );
    const output = stripVTControlCharacters(Buffer.concat(chunks).toString("utf8"));
    if (failure) console.error(`\n✗ ${failure.message}`);
    kept += output;
    await writeFile(join(LOGS, `suite-${suite}.log`), kept);
    return { output, failure };
  };
}

// --- the suites ------------------------------------------------------------

function checkFormat({ run, bin }) {
  return countCommands(run, [
    ["cargo", ["fmt", "--all", "--check"]],
    [bin.biome, ["check"]],
  ]);
}

function checkLint({ run }) {
  return countCommands(
    run,
    LINTS.map((args) => ["cargo", ["clippy", LOCKED, ...args]]),
  );
}

async function testCore({ run }) {
  return countCargo(await run("cargo", ["test", LOCKED, ...CORE_TESTS]));
}

/** Runs a test target for wasm32 in Node. */
function inNode(tests) {
  return async ({ run, bin }) =>
    countCargo(await run(bin.wasmPack, [...wasmPackTest("--node"), ...tests, LOCKED]));
}

/** The Worker's rooms that touch JavaScript; its decisions are the core suite's. */
async function testWorkerInNode({ run, bin }) {
  const command = ["test", "--node", "--mode", "no-install", "worker", "--lib", LOCKED];
  return countCargo(await run(bin.wasmPack, command));
}

/** Without installing: setup has put the right tools first on PATH. */
function wasmPackTest(...where) {
  return ["test", ...where, "--mode", "no-install", "."];
}

/** Runs a test target for wasm32 in headless Chromium. */
function inChrome(tests) {
  return async ({ name, run, bin, env }) => {
    const capabilities = join(LOGS, `webdriver-${name}.json`);
    const args = ["--disable-gpu", "--no-first-run", "--disable-background-networking"];
    const chrome = { "goog:chromeOptions": { binary: bin.chromium, args } };
    await writeFile(capabilities, JSON.stringify(chrome));
    const command = wasmPackTest("--headless", "--chrome", "--chromedriver", bin.chromedriver);
    const outcome = await run(bin.wasmPack, [...command, ...tests, LOCKED], {
      ...env,
      // Tests that choose no place to run in run in both.
      WASM_BINDGEN_USE_BROWSER: "1",
      WASM_BINDGEN_TEST_DRIVER_TIMEOUT: "30",
      WASM_BINDGEN_TEST_TIMEOUT: "120",
      WASM_BINDGEN_TEST_WEBDRIVER_JSON: capabilities,
    });
    return countCargo(outcome);
  };
}

async function testWithNode({ name, run }) {
  const folder = join("tests", name);
  const files = (await readdir(join(ROOT, folder), { recursive: true }))
    .filter((file) => file.endsWith(".test.mjs"))
    .map((file) => join(folder, file))
    .sort();
  if (files.length === 0) throw new StepError(`${folder} holds no file called *.test.mjs`);
  const tap = join(LOGS, `suite-${name}.tap`);
  const outcome = await run(process.execPath, [
    ...["--test", `--test-concurrency=${SIDE_BY_SIDE[name] ?? 1}`],
    `--test-timeout=${TEST_TIMEOUT_MS}`,
    ...["--test-reporter=spec", "--test-reporter-destination=stdout"],
    ...["--test-reporter=tap", `--test-reporter-destination=${tap}`],
    ...files,
  ]);
  return { ...countTap(await readFile(tap, "utf8")), failure: outcome.failure };
}

/** The admin key of this whole run must be in nothing that it wrote or built. */
async function searchForCanary({ canary, selected }) {
  const counts = { passed: 0, failed: 0 };
  const expect = (what, problem) => {
    console.log(`${problem ? "✖" : "✔"} ${what}${problem ? `: ${problem}` : ""}`);
    counts[problem ? "failed" : "passed"] += 1;
  };

  for (const root of ["tests/.logs", "pkg/dist", "worker/build", "gateway/dist", "www/dist"]) {
    const { files, hits } = await scanForCanary(canary, [join(ROOT, root)]);
    const found = hits.map(({ file, form }) => `found (${form}) in ${file}`).join(", ");
    const empty = root !== "tests/.logs" && files === 0 ? "there is no file to search" : "";
    expect(`the admin key is not in the ${files} files of ${root}`, found || empty);
  }
  if (PLANTING.some((name) => selected.includes(name))) {
    const planted = await readFile(PLANTED, "utf8").catch(() => "");
    for (const program of ["upstream", "gateway"]) {
      const used = planted.split("\n").includes(program);
      expect(`the ${program} was started with the admin key`, used ? "" : "it never was");
    }
  }
  return counts;
}

// --- counting --------------------------------------------------------------

/** Every command is one test. */
async function countCommands(run, commands) {
  const counts = { passed: 0, failed: 0 };
  for (const [command, args] of commands) {
    const { failure } = await run(command, args);
    counts[failure ? "failed" : "passed"] += 1;
    counts.failure ??= failure;
  }
  return counts;
}

/** Sums the summaries of Cargo's and wasm-bindgen's test runners. */
function countCargo({ output, failure }) {
  const counts = { passed: 0, failed: 0, failure };
  for (const [, passed, failed] of output.matchAll(
    /^test result: \w+\. (\d+) passed; (\d+) failed/gm,
  )) {
    counts.passed += Number(passed);
    counts.failed += Number(failed);
  }
  return counts;
}

/** Reads the totals that end a TAP report of Node.js. */
function countTap(report) {
  const total = (name) => Number(report.match(new RegExp(`^# ${name} (\\d+)$`, "m"))?.[1] ?? 0);
  const failed = total("fail") + total("cancelled");
  return { passed: total("pass"), failed, skipped: total("skipped") };
}
