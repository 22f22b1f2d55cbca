/** Checks that every declared operation has a method, and a section in the reference. */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { Client } from "quillgate";
import { ROOT } from "../../scripts/versions.mjs";

// The names of all operations, from the generated interface `Operations`.
const types = await readFile(join(ROOT, "pkg", "dist", "types.d.ts"), "utf8");
const [, operations] = types.split("export interface Operations {");
const names = [...operations.split("\n}")[0].matchAll(/^ {2}"([\w.]+)": \{/gm)].map(
  ([, name]) => name,
);

test("every operation has a method of the client with its name", () => {
  assert.ok(names.length >= 18, `only ${names.length} operations were found`);
  const auth = { token: "t" };
  const client = new Client({ baseUrl: "https://gate.example", projectId: "acme", auth });
  const missing = names.filter((name) => {
    const [resource, method] = name.split(".");
    return typeof client[resource]?.[method] !== "function";
  });
  assert.deepEqual(missing, []);
});

test("every operation has a section in the reference, which shows its method", async () => {
  const reference = await readFile(join(ROOT, "docs", "reference", "operations.md"), "utf8");
  const sections = reference.split("\n## ").slice(1);
  const missing = names.filter((name) => {
    const section = sections.find((text) => text.startsWith(`${name}\n`));
    return !section?.includes(`\`client.${name}(`);
  });
  assert.deepEqual(missing, []);
});
