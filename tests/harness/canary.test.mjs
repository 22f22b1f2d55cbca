/** Tests the search for the canary key. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { newCanaryKey, scanForCanary } from "./canary.mjs";
import { makeFolder } from "./folder.mjs";

const KEY = newCanaryKey();
const folder = makeFolder({ after }, "canary");

async function scan(content, name = "found.bin") {
  const root = mkdtempSync(join(folder, "scan-"));
  mkdirSync(join(root, "a", "b"), { recursive: true });
  writeFileSync(join(root, "a", "b", name), content);
  return scanForCanary(KEY, [root]);
}

function forms({ hits }) {
  return hits.map(({ form }) => form);
}

const hex = Buffer.from(KEY).toString("hex");
for (const [form, text] of [
  ["plain", KEY],
  ["base64", Buffer.from(`Bearer ${KEY}?`).toString("base64")],
  ["base64", Buffer.from(`a${KEY}`).toString("base64")],
  ["base64", Buffer.from(`ab${KEY}`).toString("base64")],
  ["utf-16", Buffer.from(KEY, "utf16le").toString("latin1")],
  ["hex", hex.toUpperCase()],
  ["percent-encoded", hex.replace(/../g, "%$&")],
]) {
  test(`finds the key in binary data, ${form}`, async () => {
    const binary = Buffer.from([0, 255, 254, 10, 0]);
    assert.deepEqual(forms(await scan(Buffer.concat([binary, Buffer.from(text), binary]))), [form]);
  });
}

test("reports no hit for another key, and the number of searched files", async () => {
  const other = newCanaryKey();
  assert.deepEqual(await scan(`${other} ${KEY.slice(0, -1)}`), { files: 1, hits: [] });
});
