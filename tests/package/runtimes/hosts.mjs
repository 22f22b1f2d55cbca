/** Loads the package in test runners, and resolves it by tools that do not know `exports`. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { transformSync } from "esbuild";
import { ROOT } from "../../../scripts/versions.mjs";
import { HERE, install, runProgram, tool, toolPath, versionOf } from "../installed.mjs";
import {
  cell,
  conclude,
  direct,
  RUN_CHECKS,
  resultsIn,
  upstream,
  viaGateway,
} from "./fixtures.mjs";

const ENTRIES = ["quillgate", ...["inline", "testing", "values", "webhooks"].map(entry)];
const COMMON_JS = '{ "private": true, "type": "commonjs" }';
const TS_JEST = {
  tsconfig: { module: "commonjs", esModuleInterop: true, target: "es2022", lib: ["es2022", "dom"] },
};

function entry(name) {
  return `quillgate/${name}`;
}

/** Per way: the extension of the test, its first line, and Jest's configuration. */
const JEST = {
  "`require`, by default": ["js", 'const quillgate = require("quillgate");', {}],
  "`import`, by babel-jest, which also transforms packages": [
    "js",
    'import * as quillgate from "quillgate";',
    {
      transform: {
        "\\.js$": [tool.resolve("babel-jest"), { presets: [tool.resolve("@babel/preset-env")] }],
      },
      transformIgnorePatterns: [],
    },
  ],
  "`import`, by ts-jest": [
    "ts",
    'import * as quillgate from "quillgate";\ndeclare const require: any, test: any;',
    { transform: { "\\.ts$": [tool.resolve("ts-jest"), TS_JEST] } },
  ],
};

export function checkJest() {
  for (const [way, [extension, load, config]] of Object.entries(JEST)) {
    cell("Jest", way, async (row) => {
      const test = `${load}
const { conform } = require("./conformance.js");
test("checks", async () => {
  const settings = require("./settings.json");
  ${RUN_CHECKS}
  require("fs").writeFileSync("results.json", JSON.stringify(results));
}, 300_000);
`;
      const folder = await runJest(row, { [`package.test.${extension}`]: test }, config);
      conclude(row, JSON.parse(readFileSync(join(folder, "results.json"), "utf8")));
    });
  }
  cell("Jest", "`require` of every entry, in jsdom", async (row) => {
    const test = `
test("loads", async () => {
  const [{ Client }, , { createFakeGateway }] = ${JSON.stringify(ENTRIES)}.map(require);
  const client = new Client(createFakeGateway().clientOptions);
  expect(typeof TextDecoder).toBe("undefined");
  expect(client.agentJobs).toBeDefined();
});
`;
    await runJest(
      row,
      { "package.test.js": test },
      {
        testEnvironment: tool.resolve("jest-environment-jsdom"),
      },
    );
    row.result = "every entry loads, a client can be created";
  });
}

/** Runs a test of a new project by Jest, and returns the project's folder. */
async function runJest(row, files, config) {
  row.version = versionOf("jest");
  const folder = await installProject(files);
  const jest = toolPath("jest", "bin", "jest.js");
  const settings = JSON.stringify({ rootDir: folder, ...config });
  const args = [jest, "--no-cache", "--runInBand", "--watchman=false", "--config", settings];
  await runProgram("jest", process.execPath, args, { cwd: folder });
  return folder;
}

export function checkVitest() {
  cell("Vitest", "`import`, in jsdom", async (row) => {
    row.version = versionOf("vitest");
    const folder = await installProject({
      "package.test.js": `
import * as quillgate from "quillgate";
import { test } from "vitest";
import { conform } from "./conformance.js";
import settings from "./settings.json";
test("checks", async () => {
  ${RUN_CHECKS}
  console.log("CONFORMANCE " + JSON.stringify(results));
}, 300_000);
`,
    });
    const vitest = toolPath("vitest", "vitest.mjs");
    const env = { ...process.env, NO_COLOR: "1" };
    const args = [vitest, "run", "--root", folder, "--environment", "jsdom"];
    conclude(
      row,
      resultsIn(await runProgram("vitest", process.execPath, args, { cwd: folder, env })),
    );
  });
}

export function checkResolvers() {
  cell("ESLint", "every entry, by eslint-plugin-import", async (row) => {
    row.version = versionOf("eslint-plugin-import");
    const config = `const plugin = require(${JSON.stringify(tool.resolve("eslint-plugin-import"))});
const rules = { "import/no-unresolved": "error" };
module.exports = [{ plugins: { import: plugin }, rules }];`;
    const imports = ENTRIES.map((name) => `import ${JSON.stringify(name)};`).join("\n");
    const folder = await installProject({ "eslint.config.cjs": config, "entries.mjs": imports });
    const args = [toolPath("eslint", "bin", "eslint.js"), "entries.mjs"];
    await runProgram("eslint", process.execPath, args, { cwd: folder });
    row.result = "every entry resolves";
  });

  for (const module of ["node16", "node18"]) {
    cell("TypeScript", `every entry, in CommonJS with \`module: ${module}\``, async (row) => {
      row.version = versionOf("typescript");
      const imports = ENTRIES.map((name, at) => `export * as e${at} from "${name}";`).join("\n");
      const folder = await installProject({ "entries.ts": imports });
      const tsc = join(ROOT, "node_modules", "typescript", "bin", "tsc");
      const options = ["--module", module, "--lib", "es2022,dom", "--types", "", "--noEmit"];
      const args = [tsc, "--strict", "--target", "es2022", ...options, "entries.ts"];
      await runProgram("tsc", process.execPath, args, { cwd: folder });
      row.result = "every entry resolves";
    });
  }
}

let count = 0;

async function installProject(files) {
  count += 1;
  const conformance = readFileSync(join(HERE, "runtimes", "conformance.mjs"), "utf8");
  const settings = { direct: direct(upstream.url, true), gateway: viaGateway() };
  return await install(`host-${count}`, {
    "package.json": COMMON_JS,
    "conformance.js": transformSync(conformance, { format: "cjs" }).code,
    "settings.json": JSON.stringify(settings),
    ...files,
  });
}
