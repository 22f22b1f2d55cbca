/** The packed package in one runtime of each kind. `runtimes.matrix.mjs` checks all of them. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { checkServiceWorker, checkStrictPolicy } from "./runtimes/browsers.mjs";
import { checkBundle, checkNodeBundles } from "./runtimes/bundles.mjs";
import { checkWorkerd } from "./runtimes/edge.mjs";
import { rows } from "./runtimes/fixtures.mjs";
import { checkRendering } from "./runtimes/rendering.mjs";
import { checkOwnNode } from "./runtimes/servers.mjs";
import { readTable } from "./tables.mjs";

describe("Runtimes", { concurrency: 2 }, () => {
  checkOwnNode();
  checkNodeBundles();
  checkBundle("Vite build", "`import`");
  checkStrictPolicy("web");
  checkServiceWorker();
  checkWorkerd("`import`");
  checkRendering();
});

test("docs/reference/runtimes.md has every row of this run: else run `npm run test:matrix -- package`", () => {
  // Versions are left out: those of Node and Chromium depend on the machine.
  const describeRow = ({ runtime, way, result }) =>
    [runtime.replace(/^Node \d+$/, "Node"), way, result].join(" | ");
  const documented = new Set(readTable("runtimes").map(describeRow));
  const missing = rows.filter(({ ran }) => ran).map(describeRow);
  const undocumented = missing.filter((row) => !documented.has(row));
  assert.deepEqual(undocumented, []);
});
