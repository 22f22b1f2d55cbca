/** Compiles and runs the JavaScript and TypeScript examples of the documents about the package. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { transform } from "esbuild";
import { ROOT } from "../../scripts/versions.mjs";
import { PROJECT, startGate } from "../gateway/recorded_gateway.mjs";
import { SCOPES } from "../harness/token.mjs";

const execute = promisify(execFile);
/** The documents with examples, and a line that their examples print. */
const DOCUMENTS = {
  "pkg/README.md": /limit must be an integer from 1 to 250, found 251/,
  "docs/start/try.md": /^https:\/\/github\.com\/acme\/docs\/pull\/\d+$/m,
  "docs/guides/scripts.md": /^limit page-size$/m,
  "docs/guides/export.md": /^views\.ndjson: \d+ bytes$/m,
  "docs/guides/testing.md": /^RateLimitError 1800$/m,
};
const IMPORT = /^import (?:(\w+)|\{(.*)\}) from "(quillgate(?:\/\w+)?|node:[^"]+)";\n/gm;

let gate;
let token;
let folder;

before(async () => {
  gate = await startGate("examples", {
    upstream: { pages: 600, jobDurationMs: 200, deploymentDurationMs: 200 },
    gateway: { vars: { JOB_POLL_SECONDS: "1", JOB_POLLS_PER_HOUR: "100000" } },
  });
  token = gate.token({ sub: "examples", scope: SCOPES.join(" ") });
  // Inside the workspace, so that "quillgate" resolves.
  folder = await mkdtemp(join(ROOT, "node_modules", ".examples-"));
});

after(async () => {
  await gate?.stop();
  if (folder) await rm(folder, { recursive: true, force: true });
});

async function readExamples(document) {
  const text = await readFile(join(ROOT, document), "utf8");
  const blocks = [...text.matchAll(/^```(?:js|ts)\n(.*?)^```$/gms)].map(([, code]) => code);
  const imports = new Map([["quillgate", new Set(["Client"])]]);
  for (const [, whole, names = "", from] of blocks.join("\n").matchAll(IMPORT)) {
    const known = imports.get(from) ?? new Set();
    const added = whole ? [`default as ${whole}`] : names.split(",").map((name) => name.trim());
    imports.set(from, new Set([...known, ...added]));
  }
  const module = [
    ...[...imports].map(([from, names]) => `import { ${[...names].join(", ")} } from "${from}";`),
    'const client = new Client({ baseUrl: "https://gate.example", projectId: "acme", auth: { token: "…" } });',
    'const job = await client.agentJobs.create({ prompt: "For the documentation" });',
    // A block cannot contain imports and exports.
    ...blocks.map((block, at) => {
      const local = block.replace(IMPORT, "").replace(/^export /gm, "");
      return `{ // example ${at + 1}\n${local}}`;
    }),
    `console.log("ran ${blocks.length} examples");`,
    "export {};",
  ].join("\n");
  return { count: blocks.length, module };
}

for (const [document, printed] of Object.entries(DOCUMENTS)) {
  const name = document.replaceAll(/\W/g, "_");

  test(`the examples of ${document} compile with strict settings`, async () => {
    const { module } = await readExamples(document);
    const file = join(folder, `${name}.mts`);
    await writeFile(file, module);
    const options = ["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--target", "es2022"];
    const resolution = "--module nodenext --types node --lib es2022,dom,dom.iterable".split(" ");
    const tsc = join(ROOT, "node_modules", ".bin", "tsc");
    const compiled = execute(tsc, [...options, ...resolution, file], { cwd: ROOT });
    const { stdout } = await compiled.catch((error) => error);
    assert.equal(stdout, "");
  });

  test(`the examples of ${document} run`, async () => {
    const { count, module } = await readExamples(document);
    assert.ok(count >= 1, "found no examples");
    const addressed = module
      .replaceAll('"https://gate.example"', JSON.stringify(gate.gateway.url))
      .replaceAll('"acme"', JSON.stringify(PROJECT))
      .replaceAll('token: "…"', `token: ${JSON.stringify(token)}`);
    const { code } = await transform(addressed, { loader: "ts", format: "esm", target: "es2022" });
    const file = join(folder, `${name}.mjs`);
    await writeFile(file, code);
    const variables = { QUILLGATE_BASE_URL: gate.gateway.url, QUILLGATE_PROJECT_ID: PROJECT };
    const env = { ...process.env, ...variables, QUILLGATE_TOKEN: token };
    const { stdout } = await execute(process.execPath, [file], { cwd: folder, env });
    assert.match(stdout, new RegExp(`ran ${count} examples\\s*$`));
    assert.match(stdout, printed);
  });
}
