/**
 * The size of a deployment. The tests limit the size of the Worker's gzipped wasm, and the number
 * of lines of the Worker's JavaScript.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { ROOT } from "../../../scripts/versions.mjs";

/**
 * Cloudflare's free plan accepts Workers of up to 3 MB after gzip. This limit is lower, because a
 * small module starts faster.
 */
const MAX_WASM_BYTES = 495_000;
const MAX_JAVASCRIPT_LINES = 200;

test(`keeps the Worker's gzipped wasm at ${MAX_WASM_BYTES} bytes or fewer`, (context) => {
  const wasm = readFileSync(join(ROOT, "worker", "build", "gateway_bg.wasm"));
  const { length } = gzipSync(wasm, { level: 9 });
  context.diagnostic(`${length} bytes`);
  assert.ok(length <= MAX_WASM_BYTES, `${length} bytes`);
});

test(`keeps the Worker's JavaScript at ${MAX_JAVASCRIPT_LINES} lines or fewer`, (context) => {
  const folder = join(ROOT, "worker");
  const isScript = (name) => /\.[cm]?[jt]sx?$/.test(name) && !/^(build|\.wrangler)\//.test(name);
  const scripts = readdirSync(folder, { recursive: true }).filter(isScript);
  const lines = scripts.map(
    (name) => readFileSync(join(folder, name), "utf8").split("\n").length - 1,
  );
  const sum = lines.reduce((all, one) => all + one, 0);
  context.diagnostic(`${sum} lines in ${scripts.join(" and ")}`);
  assert.ok(sum > 0 && sum <= MAX_JAVASCRIPT_LINES, `${sum} lines`);
});
