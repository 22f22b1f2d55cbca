/** Runs the package in server-side rendering, where its import must not have side effects. */
import assert from "node:assert/strict";
import { copy, runProgram } from "../installed.mjs";
import { cell, folder } from "./fixtures.mjs";

export function checkRendering() {
  for (const entry of ["node", "web", "inline"]) {
    const way = `\`import\` of the ${entry} entry, untouched globals`;
    cell("Server-side rendering", way, async (row) => {
      row.version = `Node ${process.versions.node}`;
      copy(folder, "runtimes/side_effects.mjs");
      const args = ["side_effects.mjs", entry];
      const output = await runProgram("side-effects", process.execPath, args, { cwd: folder });
      const { byImport, byClient, added } = JSON.parse(output);
      assert.deepEqual(byImport, { reads: [], writes: [] });
      // The client checks its `baseUrl` with `URL`, which has no side effects either.
      const used = byClient.filter((name) => name !== "URL");
      assert.deepEqual({ used, added }, { used: [], added: [] });
      row.result = "no fetch, no wasm, no timer, nothing defined";
    });
  }
}
