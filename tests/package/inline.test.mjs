/** The string that the entry `quillgate/inline` contains instead of a wasm file. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { encodeBytes } from "../../scripts/byte_text.mjs";
import { ROOT } from "../../scripts/versions.mjs";

const DIST = join(ROOT, "pkg", "dist");

function load(name) {
  return import(pathToFileURL(join(DIST, name)).href);
}

test("the string encoding of wasm round-trips every pair of bytes", async () => {
  const { decodeBytes } = await load("byte_text.js");
  const bytes = Uint8Array.from({ length: 2 * 256 * 256 }, (_, at) => (at % 2 ? at >> 1 : at >> 9));
  const text = encodeBytes(bytes);
  assert.deepEqual(decodeBytes(text), bytes);
  assert.match(text, /^[!#-[\]-~]+$/, "the string needs escapes in JavaScript");
});

test("the embedded string decodes to the wasm file", async () => {
  const { decodeBytes } = await load("byte_text.js");
  const { text } = await load("core_text.js");
  const wasm = await readFile(join(DIST, "core_bg.wasm"));
  assert.ok(wasm.equals(decodeBytes(text)));
});
