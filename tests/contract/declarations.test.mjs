/** The core's declarations against Mintlify's OpenAPI descriptions. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, test } from "node:test";
import { findPublished, listDifferences } from "./compare.mjs";
import { readDeclared } from "./declared.mjs";
import { assertExpected, DECLARED, SIMULATED } from "./expected.mjs";
import { readPublished, SKIP } from "./published.mjs";

const DIFFERENCES = new URL("../../docs/mintlify/differences.md", import.meta.url);
const HEADING = "# Where Quillgate differs\n";

test("Mintlify publishes every declared operation under the same path and method", {
  skip: SKIP,
}, async () => {
  const [declared, published] = [await readDeclared(), await readPublished()];
  const missing = declared.filter((operation) => !findPublished(operation, published));
  const lines = missing.map(({ name, method, path }) => `${name}: ${method} ${path}`);
  assert.deepEqual(lines, []);
  assert.equal(published.length, declared.length);
});

test("the declarations have only the intended differences from Mintlify's descriptions", {
  skip: SKIP,
}, async () => {
  const found = listDifferences(await readDeclared(), await readPublished());
  assertExpected(found, DECLARED);
});

describe("intended differences", () => {
  const all = [...DECLARED, ...SIMULATED];

  test("every intended difference has a reason and is listed once", () => {
    for (const { id, reason, lines } of all) {
      assert.ok(reason.length > 0 && lines.length > 0, id);
    }
    const lines = all.flatMap(({ lines }) => lines);
    assert.equal(lines.length, new Set(lines).size);
  });

  test("every intended difference has a row in docs/mintlify/differences.md", async () => {
    const rows = await readRows();
    assert.equal(rows.length, new Set(rows).size, "two rows have the same id");
    const unlisted = all.map(({ id }) => id).filter((id) => !rows.includes(id));
    assert.deepEqual(unlisted, []);
  });
});

/** Returns the ids in the table of docs/mintlify/differences.md. */
async function readRows() {
  const text = await readFile(DIFFERENCES, "utf8");
  const [, section] = text.split(HEADING);
  assert.ok(section, `docs/mintlify/differences.md lacks the section ${HEADING.trim()}`);
  return [...section.matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, id]) => id);
}
