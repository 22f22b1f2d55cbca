/**
 * Compiles every JavaScript and TypeScript example of the package's README, and runs it against the
 * simulated platform.
 */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { transform } from "esbuild";
import { ROOT } from "../../scripts/versions.mjs";
import { canaryKey } from "../harness/canary.mjs";
import { startGateway } from "../harness/gateway.mjs";
import { accessClaims, mintToken, newSecret, SCOPES } from "../harness/token.mjs";
import { startUpstream } from "../harness/upstream.mjs";

const execute = promisify(execFile);
const PROJECT = "demo-docs";
const IMPORTS = /^import .* from "quillgate";\n/gm;
/** Imports of the other entries and of Node's modules. */
const OTHER_IMPORT = /^import (.*) from "(quillgate\/\w+|node:[^"]+)";$/gm;

let upstream;
let gateway;
let token;
let folder;

before(async () => {
  const secret = newSecret();
  upstream = await startUpstream({
    key: canaryKey(),
    pages: 600,
    jobDurationMs: 200,
    deploymentDurationMs: 200,
  });
  gateway = await startGateway({
    upstreamUrl: upstream.url,
    adminKey: canaryKey(),
    secret,
    vars: { JOB_POLL_SECONDS: "1", JOB_POLLS_PER_HOUR: "100000" },
  });
  const grant = { sub: "readme", projects: [PROJECT], scope: SCOPES.join(" ") };
  token = mintToken(accessClaims(grant), secret);
  // Inside the workspace, so that "quillgate" resolves.
  folder = await mkdtemp(join(ROOT, "node_modules", ".readme-"));
});

after(async () => {
  await gateway?.stop();
  await upstream?.stop();
  if (folder) await rm(folder, { recursive: true, force: true });
});

/** Returns a module with every example in a block, after a client and a job that they share. */
async function examples() {
  const text = await readFile(join(ROOT, "pkg", "README.md"), "utf8");
  const blocks = [...text.matchAll(/^```(?:js|ts)\n(.*?)^```$/gms)].map(([, code]) => code);
  const names = new Set(["Client"]);
  for (const block of blocks) {
    for (const [line] of block.matchAll(IMPORTS)) {
      for (const name of line.match(/\{(.*)\}/)[1].split(",")) names.add(name.trim());
    }
  }
  const module = [
    `import { ${[...names].join(", ")} } from "quillgate";`,
    'const client = new Client({ baseUrl: "https://gate.example", projectId: "acme", auth: { token: "…" } });',
    'const job = await client.agentJobs.create({ prompt: "For the README" });',
    ...blocks.map((block, at) => `{ // example ${at + 1}\n${inBlock(block)}}`),
    `console.log("ran ${blocks.length} examples");`,
    "export {};",
  ].join("\n");
  return { count: blocks.length, module };
}

/** Removes the imports and exports of an example, since a block cannot contain them. */
function inBlock(example) {
  const local = example.replace(IMPORTS, "").replace(/^export /gm, "");
  return local.replace(OTHER_IMPORT, 'const $1 = await import("$2");');
}

test("the examples of pkg/README.md compile with strict settings", async () => {
  const { module } = await examples();
  const file = join(folder, "examples.mts");
  await writeFile(file, module);
  const options = ["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--target", "es2022"];
  const resolution = [
    "--module",
    "nodenext",
    "--types",
    "node",
    "--lib",
    "es2022,dom,dom.iterable",
  ];
  const tsc = join(ROOT, "node_modules", ".bin", "tsc");
  const compiled = execute(tsc, [...options, ...resolution, file], { cwd: ROOT });
  const { stdout } = await compiled.catch((error) => error);
  assert.equal(stdout, "");
});

test("the examples of pkg/README.md run", async () => {
  const { count, module } = await examples();
  assert.ok(count >= 12, `found only ${count} examples`);
  const addressed = module
    .replaceAll('"https://gate.example"', JSON.stringify(gateway.url))
    .replaceAll('"acme"', JSON.stringify(PROJECT))
    .replaceAll('token: "…"', `token: ${JSON.stringify(token)}`);
  const { code } = await transform(addressed, { loader: "ts", format: "esm", target: "es2022" });
  const file = join(folder, "examples.mjs");
  await writeFile(file, code);
  const { stdout } = await execute(process.execPath, [file], { cwd: folder });
  assert.match(stdout, new RegExp(`ran ${count} examples\\s*$`));
  assert.match(stdout, /limit must be an integer from 1 to 250, found 251/);
});
