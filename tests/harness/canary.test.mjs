/**
 * Tests the search for the canary key. If the search misses an encoding, a leaked key goes
 * unnoticed.
 */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { newCanaryKey, scanForCanary } from "./canary.mjs";

const KEY = newCanaryKey();
const folder = mkdtempSync(join(tmpdir(), "quillgate-canary-"));
after(() => rmSync(folder, { recursive: true }));

/** Scans a folder with one nested file. */
async function scan(content, name = "found.bin") {
  const root = mkdtempSync(join(folder, "scan-"));
  mkdirSync(join(root, "a", "b"), { recursive: true });
  writeFileSync(join(root, "a", "b", name), content);
  return scanForCanary(KEY, [root]);
}

function forms({ hits }) {
  return hits.map(({ form }) => form);
}

test("each new key is unique and has the form of an admin key", () => {
  assert.match(KEY, /^mint_canary_[0-9a-f]{48}$/);
  assert.notEqual(newCanaryKey(), KEY);
});

test("finds the key in binary data", async () => {
  const binary = Buffer.from([0, 255, 254, 10, 0]);
  const found = await scan(Buffer.concat([binary, Buffer.from(KEY), binary]));
  assert.deepEqual(forms(found), ["plain"]);
  assert.match(found.hits[0].file, /found\.bin$/);
});

for (const encoding of ["base64", "base64url"]) {
  for (const before of ["", "B", "Be", "Bearer "]) {
    for (const behind of ["", "?", "??", "??>"]) {
      test(`finds the ${encoding} encoding of "${before}…${behind}"`, async () => {
        const text = Buffer.from(before + KEY + behind).toString(encoding);
        assert.ok((await scan(`x=${text};`)).hits.length > 0);
      });
    }
  }
}

test("finds the key as upper-case and lower-case hexadecimal", async () => {
  const hex = Buffer.from(KEY).toString("hex");
  assert.deepEqual(forms(await scan(hex)), ["hex"]);
  assert.deepEqual(forms(await scan(hex.toUpperCase())), ["hex"]);
});

test("finds the key with every byte or only its underscores percent-encoded", async () => {
  const every = Buffer.from(KEY).toString("hex").replace(/../g, "%$&");
  for (const text of [every, every.toUpperCase(), KEY.replaceAll("_", "%5F")]) {
    assert.deepEqual(forms(await scan(text)), ["percent-encoded"]);
  }
});

test("finds the key at the end of a large file", async () => {
  assert.equal((await scan("x".repeat(5_000_000) + KEY)).hits.length, 1);
});

test("reports no hit for another key, and the number of searched files", async () => {
  const other = newCanaryKey();
  assert.deepEqual(await scan(`${other} ${KEY.slice(0, -1)}`), { files: 1, hits: [] });
});

test("accepts a missing folder", async () => {
  assert.deepEqual(await scanForCanary(KEY, [join(folder, "missing")]), { files: 0, hits: [] });
});

test("searches a single file", async () => {
  const file = join(folder, "single.log");
  writeFileSync(file, KEY);
  assert.deepEqual(await scanForCanary(KEY, [file]), { files: 1, hits: [{ file, form: "plain" }] });
});
