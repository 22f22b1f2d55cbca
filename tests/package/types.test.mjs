/** The packed package's types in the current TypeScript, and the files of the tarball. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { test } from "node:test";
import { capture } from "../../scripts/child.mjs";
import { ROOT } from "../../scripts/versions.mjs";
import { packed, versionOf, write } from "./installed.mjs";
import { checkCompiler, compile, ENTRIES, folder, PROJECTS } from "./types/compiler.mjs";

const COMPILER = join(ROOT, "node_modules", "typescript", "bin", "tsc");

checkCompiler(versionOf("typescript"), COMPILER);

test("TypeScript allows a CommonJS module to require the package", async () => {
  for (const entry of ENTRIES) {
    write(folder, {
      "required.cts": `import quillgate = require("${entry}");\nnew quillgate.Client({ auth: { token: "t" } });\n`,
    });
    const { output } = await compile(COMPILER, PROJECTS["for Node"], ["required.cts"]);
    assert.equal(output, "");
  }
});

test("TypeScript for CommonJS imports every entry, whatever its module resolution", async () => {
  const entries = [...ENTRIES, "quillgate/testing", "quillgate/values", "quillgate/webhooks"];
  const lines = entries.map((entry, at) => `export * as e${at} from "${entry}";\n`);
  write(folder, {
    "commonjs.cts": `${lines.join("")}import { Client } from "quillgate";\nnew Client({ auth: { token: "t" } });\n`,
  });
  const resolutions = [
    ["node16", "node16"],
    ["node18", "node16"],
    ["nodenext", "nodenext"],
    ["commonjs", "bundler"],
  ];
  for (const [module, moduleResolution] of resolutions) {
    const options = { ...PROJECTS["for Node"], module, moduleResolution };
    const plain = { ...options, verbatimModuleSyntax: false, types: ["node"] };
    const { output } = await compile(COMPILER, plain, ["commonjs.cts"]);
    assert.equal(output, "", module);
  }
});

test("the source maps of the tarball lead to its sources", async () => {
  const { stdout } = await capture("tar", ["-tzf", await packed()]);
  const files = new Set(stdout.trim().split("\n"));
  const maps = [...files].filter((path) => path.endsWith(".js.map"));
  assert.ok(maps.length > 40);
  for (const map of maps) {
    const { stdout: text } = await capture("tar", ["-xzOf", await packed(), map]);
    for (const source of JSON.parse(text).sources) {
      const path = posix.join(posix.dirname(map), source);
      const isGenerated = /\/(core|core_text|host)\.js$/.test(path);
      assert.ok(files.has(path) || isGenerated, `${map}: ${source}`);
    }
  }
});

test("TypeScript without the types of the DOM or Node needs skipLibCheck, as the README says", async () => {
  write(folder, {
    "bare.ts": `import { Client } from "quillgate";
const client = new Client({ auth: { token: "t" } });
export const status: string | null = (await client.agentJobs.get("j")).status;
`,
  });
  const bare = { ...PROJECTS["for Node"], lib: ["ES2022"], types: [] };
  const strict = await compile(COMPILER, bare, ["bare.ts"]);
  assert.match(strict.output, /Cannot find name 'Response'/);
  const skipping = await compile(COMPILER, { ...bare, skipLibCheck: true }, ["bare.ts"]);
  assert.equal(skipping.output, "");
  const readme = readFileSync(join(ROOT, "pkg", "README.md"), "utf8");
  assert.ok(readme.includes("`skipLibCheck`"), "the README does not mention it");
});

test("TypeScript accepts a client of one entry as a client of the other", async () => {
  write(folder, {
    "both.ts": `import { Client } from "quillgate";
import type { Client as InlineClient } from "quillgate/inline";
export const client: InlineClient = new Client({ auth: { token: "t" } });
`,
  });
  const { output } = await compile(COMPILER, PROJECTS["for a bundler"], ["both.ts"]);
  assert.equal(output, "");
});

test("the tarball contains the package's files and no declarations of its internals", async () => {
  const { stdout } = await capture("tar", ["-tzf", await packed()]);
  const files = stdout
    .trim()
    .split("\n")
    .map((path) => path.replace("package/", ""))
    .sort();
  for (const name of [
    "package.json",
    "LICENSE",
    "dist/core_bg.wasm",
    "dist/core_text.js",
    "dist/index.d.ts",
  ]) {
    assert.ok(files.includes(name), name);
  }
  const internal = files.filter((path) =>
    /^dist\/(cjs\/)?(core|cli\/|generated\/).*\.d\.ts$/.test(path),
  );
  assert.deepEqual(internal, [], "no type of the package refers to these");
});
