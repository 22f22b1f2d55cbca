/** Limits on the sizes of the package. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { bundleSize, ownSizes } from "../../bench/sizes.mjs";
import { ROOT } from "../../scripts/versions.mjs";

/**
 * Maximum sizes in bytes, compressed with brotli, except `tarball`, which npm compresses with gzip.
 * Raise one here if a change needs more.
 *
 * Exports and event streams are about 2,500 bytes of `js`: service workers cannot load them later. Lists
 * that continue in parts after a 414 or 504 (`src/parts.rs`) are about 2,800 bytes of `wasm`.
 * Deployments, previews and automations are about 700 bytes of `js` and 350 bytes of `wasm`: methods,
 * decoders and declarations.
 * wasm-bindgen's glue is unmodified: shorter names and less of it would save about 670 bytes.
 * The command line and its man page are about 68,000 bytes of `tarball`, the entries for webhooks and
 * tests about 23,000, CommonJS 72,000, source maps and sources 65,000.
 */
const BUDGET = { wasm: 19_000, js: 16_600, total: 35_500, tarball: 382_000 };
const ENTRIES = {
  "quillgate/testing": [
    'import { createFakeGateway } from "quillgate/testing"; globalThis.x = createFakeGateway;',
    8_000,
  ],
  "quillgate/values": [
    'import { parseInstant, readPullRequest } from "quillgate/values"; globalThis.x = [parseInstant, readPullRequest];',
    1_100,
  ],
  "quillgate/webhooks": [
    'import { unwrap } from "quillgate/webhooks"; globalThis.x = unwrap;',
    3_800,
  ],
};
/** The inline entry relative to JavaScript plus wasm. The README states it. */
const MAX_INLINE_RATIO = 1.06;

test("the wasm and the JavaScript of an import are within their budget", async () => {
  const { wasm, js, total } = await ownSizes();
  assert.ok(wasm.brotli <= BUDGET.wasm, `the wasm has ${wasm.brotli} bytes of ${BUDGET.wasm}`);
  assert.ok(js.brotli <= BUDGET.js, `the JavaScript has ${js.brotli} bytes of ${BUDGET.js}`);
  const sum = total.brotli;
  assert.ok(sum <= BUDGET.total, `together they have ${sum} bytes of ${BUDGET.total}`);
});

test("every other entry is within its budget", async () => {
  for (const [entry, [source, max]] of Object.entries(ENTRIES)) {
    const { brotli } = await bundleSize(source);
    assert.ok(brotli <= max, `${entry} has ${brotli} bytes of ${max}`);
  }
});

test("the inline entry is at most 6 % larger than JavaScript plus wasm", async () => {
  const { total } = await ownSizes();
  const inline = await ownSizes("quillgate/inline");
  assert.equal(inline.wasm.raw, 0, "the inline entry loads a wasm file");
  const ratio = inline.total.brotli / total.brotli;
  assert.ok(ratio <= MAX_INLINE_RATIO, `it has ${ratio.toFixed(3)} times the bytes`);
});

test("the tarball is within its budget and has no unexpected file", async () => {
  const args = ["pack", "--dry-run", "--json", "--ignore-scripts"];
  const { stdout } = await promisify(execFile)("npm", args, { cwd: join(ROOT, "pkg") });
  const [{ size, files }] = JSON.parse(stdout);
  assert.ok(size <= BUDGET.tarball, `the tarball has ${size} bytes of ${BUDGET.tarball}`);
  const unexpected = files.map(({ path }) => path).filter((path) => !EXPECTED.test(path));
  assert.deepEqual(unexpected, []);
});

const EXPECTED =
  /^(package\.json|README\.md|LICENSE|\w+\/package\.json|src\/(generated\/)?\w+(\.d)?\.ts|dist\/(quillgate\.1|cjs\/package\.json|cli\/(generated\/)?\w+\.js|(cjs\/)?(generated\/)?(\w+\.js(\.map)?|\w+\.d\.ts|core_bg\.wasm)))$/;

test("the built files contain no path of the machine that built them", async () => {
  const dist = join(ROOT, "pkg", "dist");
  const entries = await readdir(dist, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  assert.ok(files.some(({ name }) => name === "core_bg.wasm"));
  for (const { parentPath, name } of files) {
    const text = await readFile(join(parentPath, name), "latin1");
    assert.ok(!text.includes(ROOT), name);
    assert.ok(!text.includes("/.cargo/"), name);
  }
});
