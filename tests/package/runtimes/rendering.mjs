/** Runs the package in server-side rendering, where its import must not have side effects. */
import assert from "node:assert/strict";
import { copy, runProgram } from "../installed.mjs";
import { cell, folder } from "./fixtures.mjs";

/** wasm-bindgen's glue uses these on import. Every runtime has them, without side effects. */
const HARMLESS = ["TextDecoder", "TextEncoder"];

export function checkRendering() {
  for (const entry of ["node", "web", "inline"]) {
    const way = `\`import\` of the ${entry} entry, untouched globals`;
    cell("Server-side rendering", way, async (row) => {
      row.version = `Node ${process.versions.node}`;
      copy(folder, "runtimes/side_effects.mjs");
      const args = ["side_effects.mjs", entry];
      const output = await runProgram("side-effects", process.execPath, args, { cwd: folder });
      const { byImport, byClient, added } = JSON.parse(output);
      const reads = byImport.reads.filter((name) => !HARMLESS.includes(name));
      assert.deepEqual({ reads, writes: byImport.writes }, { reads: [], writes: [] });
      // The client checks its `baseUrl` with `URL`, which has no side effects either.
      const used = byClient.filter((name) => name !== "URL");
      assert.deepEqual({ used, added }, { used: [], added: [] });
      row.result = "no fetch, no wasm, no timer, nothing defined";
    });
  }
}
