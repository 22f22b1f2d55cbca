/**
 * Start of the program. Its help must not load the client, and must take at most 1.5 times as long
 * as Node alone. The client must not load the program.
 */
import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { ROOT } from "../../scripts/versions.mjs";
import { BIN } from "./command_line.mjs";

const execute = promisify(execFile);
const DIST = join(ROOT, "pkg", "dist");
/** Largest start-up time of help, as a multiple of Node's own. */
const MAX_RATIO = 1.5;
const RUNS = 15;
let folder;

before(() => {
  folder = mkdtempSync(join(tmpdir(), "quillgate-startup-"));
});
after(() => rmSync(folder, { recursive: true, force: true }));

/** Lists the package's files that a run of the program loads. */
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
    assert.deepEqual(
      files.filter((file) => !file.startsWith("cli/")),
      ["instant.js"],
    );
    assert.ok(!files.includes("cli/report.js"));
  }
  assert.ok(!(await listLoadedFiles("completion", "bash")).includes("node.js"));
});

/**
 * Returns the shortest run of each command, in milliseconds. The commands alternate, so that other
 * load affects both.
 */
function measureStart(...commands) {
  const shortest = commands.map(() => Number.POSITIVE_INFINITY);
  for (let run = 0; run < RUNS; run++) {
    commands.forEach((args, at) => {
      const started = performance.now();
      const { status } = spawnSync(process.execPath, args, { stdio: "ignore" });
      shortest[at] = Math.min(shortest[at], performance.now() - started);
      assert.equal(status, 0);
    });
  }
  return shortest;
}

test("help takes at most 1.5 times as long as Node alone", (context) => {
  const [alone, help] = measureStart(["-e", "0"], [BIN, "--help"]);
  const ratio = help / alone;
  context.diagnostic(`${help.toFixed(1)} ms, ${ratio.toFixed(2)} times ${alone.toFixed(1)} ms`);
  assert.ok(ratio <= MAX_RATIO, `help takes ${ratio.toFixed(2)} times as long`);
});

test("importing the library loads no file of the program", async () => {
  for (const entry of ["quillgate", "quillgate/inline"]) {
    for (const platform of ["node", "browser"]) {
      const { metafile } = await build({
        stdin: { contents: `import ${JSON.stringify(entry)};`, resolveDir: ROOT },
        ...{
          bundle: true,
          write: false,
          metafile: true,
          format: "esm",
          outdir: folder,
          splitting: true,
        },
        ...{ platform, treeShaking: false, loader: { ".wasm": "file" }, logLevel: "silent" },
      });
      const inputs = Object.keys(metafile.inputs);
      assert.ok(
        inputs.some((file) => file.endsWith("client.js")),
        entry,
      );
      assert.deepEqual(
        inputs.filter((file) => file.includes("/cli/")),
        [],
      );
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
