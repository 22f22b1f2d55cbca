/** The packed package's types in the current TypeScript, and the files of the tarball. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { test } from "node:test";
import { capture } from "../../scripts/child.mjs";
import { ROOT } from "../../scripts/versions.mjs";
import { packed, versionOf, write } from "./installed.mjs";
import {
  checkCompiler,
  compile,
  compileText,
  ENTRIES,
  folder,
  PROJECTS,
} from "./types/compiler.mjs";

const COMPILER = join(ROOT, "node_modules", "typescript", "bin", "tsc");
const CLIENT = 'Client({ auth: { token: "t" } })';

checkCompiler(versionOf("typescript"), COMPILER);

test("TypeScript allows a CommonJS module to require the package", async () => {
  for (const entry of ENTRIES) {
    const text = `import quillgate = require("${entry}");\nnew quillgate.${CLIENT};\n`;
    const { output } = await compileText(COMPILER, PROJECTS["for Node"], "required.cts", text);
    assert.equal(output, "");
  }
});

test("TypeScript for CommonJS imports every entry, whatever its module resolution", async () => {
  const entries = [...ENTRIES, "quillgate/testing", "quillgate/values", "quillgate/webhooks"];
  const lines = entries.map((entry, at) => `export * as e${at} from "${entry}";\n`);
  const text = `${lines.join("")}import { Client } from "quillgate";\nnew ${CLIENT};\n`;
  const resolutions = [
    ["node16", "node16"],
    ["node18", "node16"],
    ["nodenext", "nodenext"],
    ["commonjs", "bundler"],
  ];
  for (const [module, moduleResolution] of resolutions) {
    const options = { ...PROJECTS["for Node"], module, moduleResolution };
    const plain = { ...options, verbatimModuleSyntax: false, types: ["node"] };
    const { output } = await compileText(COMPILER, plain, "commonjs.cts", text);
    assert.equal(output, "", module);
  }
});

async function listFiles() {
  const { stdout } = await capture("tar", ["-tzf", await packed()]);
  return stdout.trim().split("\n");
}

test("the source maps of the tarball lead to its sources", async () => {
  const files = new Set(await listFiles());
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
  const text = `import { Client } from "quillgate";
const client = new ${CLIENT};
export const status: string | null = (await client.agentJobs.get("j")).status;
`;
  const bare = { ...PROJECTS["for Node"], lib: ["ES2022"], types: [] };
  const strict = await compileText(COMPILER, bare, "bare.ts", text);
  assert.match(strict.output, /Cannot find name 'Response'/);
  const skipping = await compileText(COMPILER, { ...bare, skipLibCheck: true }, "bare.ts", text);
  assert.equal(skipping.output, "");
  const readme = readFileSync(join(ROOT, "pkg", "README.md"), "utf8");
  assert.ok(readme.includes("`skipLibCheck`"), "the README does not mention it");
});

test("TypeScript accepts a client of an ES module in a CommonJS module, and the reverse", async () => {
  const [script, module] = ["clients.cts", "clients.mts"];
  write(folder, {
    [script]: `import { Client } from "quillgate";
export const client: Client = new ${CLIENT};
export function use(_: Client): void {}
`,
    [module]: `import { Client } from "quillgate";
import { client, use } from "./clients.cjs";
export const other: Client = client;
use(new ${CLIENT});
`,
  });
  for (const resolution of ["node16", "nodenext"]) {
    const options = { module: resolution, moduleResolution: resolution };
    const project = { ...PROJECTS["for Node"], ...options, verbatimModuleSyntax: false };
    const { output } = await compile(COMPILER, project, [script, module]);
    assert.equal(output, "", resolution);
  }
});

test("TypeScript accepts a client of one entry as a client of the other", async () => {
  const text = `import { Client } from "quillgate";
import type { Client as InlineClient } from "quillgate/inline";
export const client: InlineClient = new ${CLIENT};
`;
  const { output } = await compileText(COMPILER, PROJECTS["for a bundler"], "both.ts", text);
  assert.equal(output, "");
});

test("the tarball contains the package's files and no declarations of its internals", async () => {
  const files = await listFiles();
  const built = ["core_bg.wasm", "core_text.js", "index.d.ts"].map((name) => `dist/${name}`);
  for (const name of ["package.json", "LICENSE", ...built]) {
    assert.ok(files.includes(`package/${name}`), name);
  }
  const internal = files.filter((path) =>
    /^package\/dist\/(cjs\/)?(core|cli\/|generated\/).*\.d\.ts$/.test(path),
  );
  assert.deepEqual(internal, [], "no type of the package refers to these");
});
