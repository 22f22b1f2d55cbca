/** Start of the program. Its help must not load the client. The client must not load the program. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { ROOT } from "../../scripts/versions.mjs";
import { makeFolder } from "../harness/folder.mjs";
import { BIN } from "./command_line.mjs";

const execute = promisify(execFile);
const DIST = join(ROOT, "pkg", "dist");
/** Maximum size of the modules that help loads: 85 kB, with a margin. */
const MAX_HELP_BYTES = 95_000;
const folder = makeFolder({ after }, "startup");

async function listLoadedFiles(...args) {
  const reports = mkdtempSync(join(folder, "coverage-"));
  const env = { PATH: process.env.PATH, NODE_V8_COVERAGE: reports };
  await execute(process.execPath, [BIN, ...args], { env, cwd: folder });
  const files = readdirSync(reports).map((name) => readFileSync(join(reports, name), "utf8"));
  return files
    .flatMap((text) => JSON.parse(text).result)
    .map(({ url }) => url)
    .filter((url) => url.startsWith("file:"))
    .map((url) => relative(DIST, fileURLToPath(url)));
}

test("help loads the declarations of the commands, but not the client", async () => {
  for (const args of [["--help"], ["views", "--help"]]) {
    const files = await listLoadedFiles(...args);
    assert.ok(files.includes("cli/commands.js"));
    // The output formats times, and flags select days.
    const others = files.filter((file) => !file.startsWith("cli/"));
    assert.deepEqual(others, ["instant.js"]);
    assert.ok(!files.includes("cli/report.js"));
    const bytes = files.map((file) => statSync(join(DIST, file)).size).reduce((a, b) => a + b);
    assert.ok(bytes <= MAX_HELP_BYTES, `help loads ${bytes} bytes`);
  }
  assert.ok(!(await listLoadedFiles("completion", "bash")).includes("node.js"));
});

test("importing the library loads no file of the program", async () => {
  for (const entry of ["quillgate", "quillgate/inline"]) {
    for (const platform of ["node", "browser"]) {
      const { metafile } = await build({
        stdin: { contents: `import ${JSON.stringify(entry)};`, resolveDir: ROOT },
        ...{ bundle: true, write: false, metafile: true },
        ...{ format: "esm", outdir: folder, splitting: true },
        ...{ platform, treeShaking: false, loader: { ".wasm": "file" }, logLevel: "silent" },
      });
      const inputs = Object.keys(metafile.inputs);
      const hasClient = inputs.some((file) => file.endsWith("client.js"));
      assert.ok(hasClient, entry);
      const ofCommands = inputs.filter((file) => file.includes("/cli/"));
      assert.deepEqual(ofCommands, []);
    }
  }
});

test("only bin.js runs when it is loaded", async () => {
  for (const file of readdirSync(join(DIST, "cli")).filter((name) => name.endsWith(".js"))) {
    const text = readFileSync(join(DIST, "cli", file), "utf8");
    assert.equal(text.startsWith("#!/usr/bin/env node\n"), file === "bin.js", file);
    assert.equal(/\bprocess\.exit\(/.test(text), file === "bin.js", file);
    assert.ok(statSync(join(DIST, "cli", file)).size > 0);
  }
});
