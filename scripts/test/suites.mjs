/** The suites of `npm test`: what each needs and which tasks it consists of. */
import { readdir } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { ROOT } from "../versions.mjs";
import { BINDINGS, CLIENT, CORE_TESTS, LINTS } from "./cargo_commands.mjs";

/** Slots of a command that keeps every core busy: all but one. */
const ALL_CORES = availableParallelism();
/** Slots of a command that does not keep every core busy. */
const ONE_SLOT = 1;

/**
 * @typedef {object} Suite
 * @property {import("../setup.mjs").Needs} [needs] what setup must provide
 * @property {import("../setup.mjs").Needs} [matrixNeeds] what it must also provide for the matrix
 * @property {string[]} [builds] names in {@link import("./builds.mjs").BUILDS}
 * @property {Command[]} [commands] one task each
 * @property {boolean} [files] whether each `*.test.mjs` file of its folder is a task
 * @property {boolean} [plantsCanary] whether its programs receive the admin key of the run
 *
 * @typedef {object} Command
 * @property {string} name
 * @property {number} slots
 * @property {string} [lock] commands with the same lock never run concurrently: Cargo commands that
 *   share a target folder would only wait for each other
 * @property {"cargo" | "playwright" | "none"} report how to count its tests
 * @property {(bin: Record<string, string>) => string[]} command program and arguments
 * @property {boolean} [alone] whether it judges time or memory, and so runs with nothing beside it
 * @property {string} [results] folder of its Playwright report and traces in `tests/.logs`
 * @property {"node" | "chrome"} [environment] where wasm-bindgen's test runner runs the tests
 */

/** Test files that judge time or memory, and so run with nothing beside them. */
export const ALONE = new Set([
  "tests/build/unchanged.test.mjs",
  "tests/cli/startup.test.mjs",
  "tests/gateway/budgets/sliding_window.test.mjs",
  "tests/package/memory.test.mjs",
  "tests/soak/soak.test.mjs",
]);

/** Test files that wait for the gateway's own intervals and use little processor time. */
export const WAITING = new Set([
  "tests/gateway/exports/waiting.test.mjs",
  "tests/gateway/streams/hibernation.test.mjs",
  "tests/gateway/budgets/polls.test.mjs",
  "tests/gateway/jobs/polls.test.mjs",
  "tests/gateway/webhooks/receivers.test.mjs",
  "tests/gateway/streams/limits.test.mjs",
  "tests/gateway/streams/polling.test.mjs",
  "tests/gateway/streams/job.test.mjs",
  "tests/gateway/webhooks/delivery.test.mjs",
]);

const BUILD = { wasmBindgen: true };
const WASM_TESTS = { wasmTestRunner: true };
const WASM_PACK = { wasmPack: true, wasmTestRunner: true };

/**
 * Suites in the order in which their tasks start. Compilers come first, because they use the cores
 * that tests leave idle while they wait. Then the longest comes first.
 *
 * @type {Record<string, Suite>}
 */
export const SUITES = {
  format: {
    commands: [
      {
        name: "rustfmt",
        slots: ONE_SLOT,
        report: "none",
        command: () => ["cargo", "fmt", "--all", "--check"],
      },
      { name: "biome", slots: ONE_SLOT, report: "none", command: ({ biome }) => [biome, "check"] },
    ],
  },
  core: {
    commands: [
      {
        name: "tests",
        slots: ALL_CORES,
        lock: "target",
        report: "cargo",
        command: () => ["cargo", ...CORE_TESTS],
      },
    ],
  },
  // The packages' builds check the types of pkg/ and gateway/.
  lint: {
    needs: BUILD,
    builds: ["package"],
    commands: [
      ...["www", "action"].map(checkTypes),
      {
        name: "knip",
        slots: ONE_SLOT,
        report: "none",
        command: ({ knip }) => [knip, "--no-progress"],
      },
      ...LINTS.map(clippy),
    ],
  },
  "worker-node": {
    needs: WASM_TESTS,
    commands: [wasmTests("node", "quillgate-worker", ["--lib"])],
  },
  "bindings-node": { needs: WASM_TESTS, commands: [wasmTests("node", "quillgate-wasm", BINDINGS)] },
  "client-node": { needs: WASM_TESTS, commands: [wasmTests("node", "quillgate", CLIENT)] },
  "bindings-chrome": {
    needs: { ...WASM_TESTS, browser: true },
    commands: [wasmTests("chrome", "quillgate-wasm", BINDINGS)],
  },
  "client-chrome": {
    needs: { ...WASM_TESTS, browser: true },
    commands: [wasmTests("chrome", "quillgate", CLIENT)],
  },
  page: {
    needs: { ...BUILD, browser: true },
    matrixNeeds: { firefox: true },
    builds: ["worker", "page", "simulator"],
    files: true,
    commands: [
      ...[1, 2, 3].map(browserShard),
      playwright("browser, alone", ["--grep", "@alone"], {
        slots: 2,
        results: "page-alone",
        alone: true,
      }),
    ],
    plantsCanary: true,
  },
  openapi: {
    needs: BUILD,
    matrixNeeds: { python: true },
    builds: ["worker", "page", "simulator"],
    files: true,
    plantsCanary: true,
  },
  gateway: {
    needs: BUILD,
    builds: ["worker", "page", "trap worker", "simulator"],
    files: true,
    plantsCanary: true,
  },
  package: {
    needs: { ...BUILD, browser: true },
    matrixNeeds: { firefox: true, packageTools: true },
    builds: ["package", "worker", "page", "simulator"],
    files: true,
    plantsCanary: true,
  },
  action: {
    needs: BUILD,
    builds: ["package", "worker", "page", "simulator"],
    files: true,
    plantsCanary: true,
  },
  cli: {
    needs: { ...BUILD, cliPrograms: true },
    builds: ["package", "worker", "page", "simulator"],
    files: true,
    plantsCanary: true,
  },
  examples: {
    needs: { ...BUILD, browser: true },
    matrixNeeds: WASM_PACK,
    builds: ["package", "worker", "page", "simulator"],
    files: true,
    plantsCanary: true,
  },
  gateway_package: {
    needs: BUILD,
    builds: ["package", "gateway", "simulator"],
    files: true,
    plantsCanary: true,
  },
  soak: {
    needs: BUILD,
    builds: ["package", "worker", "page", "simulator"],
    files: true,
    plantsCanary: true,
  },
  harness: { builds: ["worker", "page"], needs: BUILD, files: true },
  contract: { builds: ["simulator"], files: true },
  supply: { matrixNeeds: { cargoDeny: true }, files: true },
  build: {
    needs: BUILD,
    matrixNeeds: WASM_PACK,
    builds: [
      ...["package", "worker", "page", "gateway", "simulator"],
      ...["start package", "start worker", "start page"],
    ],
    files: true,
    plantsCanary: true,
  },
};

/**
 * Runs a third of the page's browser tests. Together, they exceed a task's timeout on slow cores.
 */
function browserShard(shard) {
  const selection = ["--grep-invert", "@alone", `--shard=${shard}/3`];
  return playwright(`browser ${shard}`, selection, { slots: 2, results: `page-${shard}` });
}

/** Runs the page's browser tests that an option selects. */
function playwright(name, selection, options) {
  const args = ["test", "-c", "tests/page/playwright.config.mjs", ...selection];
  return {
    name,
    report: "playwright",
    command: ({ playwright: program }) => [program, ...args],
    ...options,
  };
}

/** Checks the types of a TypeScript project that the build only strips. */
function checkTypes(project) {
  return {
    name: `types of ${project}`,
    slots: ONE_SLOT,
    report: "none",
    command: ({ tsc }) => [tsc, "--noEmit", "-p", project],
  };
}

function clippy(args, index) {
  return {
    name: `clippy ${index + 1}`,
    slots: ALL_CORES,
    lock: "target",
    report: "none",
    command: () => ["cargo", "clippy", "--locked", "--quiet", ...args],
  };
}

/** Runs a test target for wasm32. `.cargo/config.toml` names wasm-bindgen's test runner. */
function wasmTests(environment, crate, args) {
  const target = ["--target", "wasm32-unknown-unknown"];
  return {
    name: `in ${environment === "chrome" ? "Chromium" : "Node.js"}`,
    slots: ALL_CORES,
    lock: "target",
    report: "cargo",
    environment,
    command: () => ["cargo", "test", "--locked", ...target, "-p", crate, ...args],
  };
}

/**
 * Lists the test files of a suite.
 *
 * @param {string} suite
 * @param {boolean} matrix whether to include the wide matrices
 * @returns {Promise<string[]>} paths from the repository's root
 */
export async function testFiles(suite, matrix) {
  const folder = join("tests", suite);
  const ending = matrix ? /\.(?:test|matrix)\.mjs$/ : /\.test\.mjs$/;
  const names = await readdir(join(ROOT, folder), { recursive: true });
  return names
    .filter((name) => ending.test(name) && !name.includes("node_modules"))
    .map((name) => join(folder, name))
    .sort();
}
