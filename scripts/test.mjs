/**
 * Builds, and runs the tests:
 *
 *     npm test                      every suite
 *     npm test -- gateway core      these suites
 *     npm run test:matrix           every suite with its wide matrices
 *
 * It prints each command with its time. Each also runs alone, after `npm run build`. This script
 * imports no npm package, because it installs them.
 */
import { createWriteStream } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join, relative } from "node:path";
import { finished } from "node:stream/promises";
import { parseArgs, stripVTControlCharacters } from "node:util";
import { findCanary, newCanaryKey } from "../tests/harness/canary.mjs";
import { LOGS } from "../tests/harness/process.mjs";
import { buildUpstream } from "../tests/harness/upstream.mjs";
import { build, PARTS } from "./build.mjs";
import { endWithNpm, runMain, StepError, spawnGroup } from "./child.mjs";
import { secondsSince, setup } from "./setup.mjs";
import { ROOT } from "./versions.mjs";

/** Lines of a failed command's output to print. */
const LINES_OF_FAILURE = 100;
const WASM = "cargo test --locked --target wasm32-unknown-unknown";
const IN_NODE = `WASM_BINDGEN_TEST_ONLY_NODE=1 ${WASM}`;
const IN_CHROME = `WASM_BINDGEN_USE_BROWSER=1 WASM_BINDGEN_TEST_TIMEOUT=120 ${WASM}`;
const WASM_CRATES = "-p quillgate -p quillgate-wasm -p quillgate-worker -p quillgate-check-config";
const PLAYWRIGHT = "npx playwright test -c tests/page/playwright.config.mjs";

/** Suites that test the sources. They run while the builds run. */
const SOURCE_SUITES = {
  format: () => ["cargo fmt --all --check", "npx biome ci"],
  core: () => ["cargo test --locked --workspace --all-features --no-fail-fast"],
  wasm: () => [
    // The same crates in both commands, so that Cargo compiles their dependencies once.
    `${IN_NODE} ${WASM_CRATES} --lib --test bindings --test client_web`,
    `${IN_CHROME} ${WASM_CRATES} --test bindings --test client_web`,
  ],
  clippy: () => [
    "cargo clippy --locked --workspace --all-features --all-targets -- -D warnings",
    `cargo clippy --locked --target wasm32-unknown-unknown --all-features --all-targets ${WASM_CRATES} -- -D warnings`,
  ],
  supply: (matrix) => [nodeTests(["supply"], matrix)],
  contract: (matrix) => [nodeTests(["contract"], matrix)],
};

/** Suites that test what the builds write. */
const BUILT_SUITES = {
  lint: () => ["npx tsc --noEmit -p www", "npx tsc --noEmit -p action", "npx knip --no-progress"],
  gateway: (matrix) => [nodeTests(["gateway", "openapi"], matrix)],
  page: (matrix) => [
    nodeTests(["page"], matrix),
    `${PLAYWRIGHT} --grep-invert '@alone${matrix ? "" : "|@matrix"}'`,
  ],
  package: (matrix) => [nodeTests(["package"], matrix)],
  cli: (matrix) => [nodeTests(["cli"], matrix)],
  clients: (matrix) => [nodeTests(["action", "examples", "gateway_package", "build"], matrix)],
  repository: (matrix) => [nodeTests(["harness"], matrix)],
};

/** Suites that judge time or memory. Nothing runs beside them. */
const LAST_SUITES = {
  alone: (matrix) => [
    nodeTests(["*"], false, "alone", 1),
    `${PLAYWRIGHT} --grep @alone`,
    ...(matrix ? [nodeTests(["soak"], false, "matrix", 1)] : []),
  ],
};

export const SUITES = Object.keys({ ...SOURCE_SUITES, ...BUILT_SUITES, ...LAST_SUITES });

/** Suites that give the admin key to the simulator and the gateway. */
const PLANTED = ["gateway", "page", "package", "cli"];
/** The needs of a suite by its name, and the further needs of its matrices. */
const NEEDS = {
  ...{ wasm: ["browser"], page: ["browser"], package: ["browser"], alone: ["browser"] },
  ...{ cli: ["cliPrograms"], clients: ["browser", "cliPrograms"] },
};
const MATRIX_NEEDS = {
  ...{ package: ["firefox", "packageTools"], page: ["firefox"], gateway: ["python"] },
  ...{ clients: ["wasmPack", "wasmTestRunner"], supply: ["cargoDeny"] },
};

/** Returns the command that runs the test files of folders of `tests/`. */
function nodeTests(folders, matrix, ending = "test", concurrency = 2 * availableParallelism() + 1) {
  const endings = matrix ? [ending, "matrix"] : [ending];
  const paths = folders.map((name) => `tests/${name}`).join(" ");
  const names = endings.map((end) => `-name '*.${end}.mjs'`).join(" -o ");
  const list = `find ${paths} -not -path '*/node_modules/*' \\( ${names} \\)`;
  return `node --test --test-reporter=spec --test-concurrency=${concurrency} $(${list})`;
}

/** Builds what the tests start. */
async function buildAll(context) {
  const { env } = context;
  await build(context, {
    ...PARTS,
    simulator: async (own) => {
      env.QUILLGATE_SIMULATOR = await buildUpstream(own);
    },
  });
}

/** Runs a command, stores its output, and counts the tests in it. */
async function runCommand(command, env) {
  const started = performance.now();
  const log = join(LOGS, `${command.replaceAll(/[^\w.]+/g, "-").slice(0, 150)}.log`);
  const child = spawnGroup("sh", ["-c", command], { env, stdio: ["ignore", "pipe", "pipe"] });
  const file = createWriteStream(log);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => {
      output += text;
      file.write(text);
    });
  }
  const code = await new Promise((resolve) => child.once("close", resolve));
  await finished(file.end());
  const { passed, failed } = judge(command, code, stripVTControlCharacters(output));
  const mark = failed === 0 ? "✔" : "✖";
  console.log(`${mark} ${secondsSince(started)}, ${passed} passed: ${command}`);
  if (failed > 0) console.log(output.split("\n").slice(-LINES_OF_FAILURE).join("\n"));
  return { command, log, passed, failed };
}

/** Counts the tests of a command. A linter is one test. A command without any test has failed. */
function judge(command, code, output) {
  if (!/\btest\b/.test(command)) return { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1 };
  const { passed, failed } = countTests(output);
  // Node.js counts a file that runs no test as a test with the name of the file.
  const isEmpty = passed === 0 || /^✔ \S+\.mjs \(/m.test(output);
  return { passed, failed: Math.max(failed, code === 0 && !isEmpty ? 0 : 1) };
}

/** Adds the numbers in the summaries of Cargo, Node.js and Playwright. */
function countTests(output) {
  const sum = (pattern) =>
    [...output.matchAll(pattern)].reduce((total, [text]) => total + Number(/\d+/.exec(text)), 0);
  return {
    passed: sum(/^test result: \w+\. \d+ passed|^ℹ pass \d+|^ {2}\d+ passed/gm),
    failed: sum(/(?<=^test result: .*)\d+ failed|^ℹ fail \d+|^ {2}\d+ failed/gm),
  };
}

async function main() {
  endWithNpm();
  const started = performance.now();
  const options = { matrix: { type: "boolean" } };
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const unknown = positionals.find((name) => !SUITES.includes(name));
  if (unknown) throw new StepError(`unknown suite ${unknown}; known: ${SUITES.join(", ")}`);

  await rm(LOGS, { recursive: true, force: true });
  await mkdir(LOGS, { recursive: true });
  const selected = SUITES.filter((name) => positionals.length === 0 || positionals.includes(name));
  const tables = values.matrix ? [NEEDS, MATRIX_NEEDS] : [NEEDS];
  const needs = selected.flatMap((name) => tables.flatMap((table) => table[name] ?? []));
  const commandsOf = (suites) => selected.flatMap((name) => suites[name]?.(values.matrix) ?? []);
  const [source, built, last] = [SOURCE_SUITES, BUILT_SUITES, LAST_SUITES].map(commandsOf);
  if (built.length + last.length > 0) needs.push("wasmBindgen");
  const context = await setup(Object.fromEntries(needs.map((name) => [name, true])));
  const canary = newCanaryKey();
  context.env.QUILLGATE_CANARY_KEY = canary;

  const results = [];
  const runAll = async (commands) => {
    for (const command of commands) results.push(await runCommand(command, context.env));
  };
  const runSource = async () => {
    // Compiled beside the builds, because it takes a minute.
    if (selected.includes("wasm")) await setup({ wasmTestRunner: true });
    await runAll(source);
  };
  const runBuilt = async () => {
    if (built.length + last.length > 0) await buildAll(context);
    await runAll(built);
  };
  await Promise.all([runSource(), runBuilt()]);
  await runAll(last);

  const isPlanted = selected.some((name) => PLANTED.includes(name));
  const leaks = await findCanary(canary, isPlanted);
  const total = (key) => results.reduce((sum, result) => sum + result[key], 0);
  const seconds = (performance.now() - started) / 1000;
  const minutes = `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  console.log(
    `\n${total("passed")} passed, ${total("failed") + leaks.length} failed in ${minutes}`,
  );
  for (const leak of leaks) console.log(`✖ ${leak}`);
  for (const { command, log, failed } of results) {
    if (failed > 0) console.log(`✖ ${command}\n  ${relative(ROOT, log)}`);
  }
  if (total("failed") + leaks.length > 0) process.exitCode = 1;
}

if (process.argv[1] === import.meta.filename) await runMain(main);
