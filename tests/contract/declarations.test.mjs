/** The core's declarations beside the platform's own descriptions. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, test } from "node:test";
import { findPublished, listDifferences } from "./compare.mjs";
import { readDeclared } from "./declared.mjs";
import { assertExpected, DECLARED, SIMULATED } from "./expected.mjs";
import { readPublished, SKIP } from "./published.mjs";

const PLATFORM = new URL("../../docs/platform.md", import.meta.url);
const HEADING = "\n## Where Quillgate differs\n";

test("every operation is published under its path and method", { skip: SKIP }, async () => {
  const [declared, published] = [await readDeclared(), await readPublished()];
  const missing = declared.filter((operation) => !findPublished(operation, published));
  assert.deepEqual(
    missing.map(({ name, method, path }) => `${name}: ${method} ${path}`),
    [],
  );
  assert.equal(published.length, declared.length);
});

test("the declarations differ from the descriptions where they are meant to, and nowhere else", {
  skip: SKIP,
}, async () => {
  const found = listDifferences(await readDeclared(), await readPublished());
  assertExpected(found, DECLARED);
});

describe("a difference that is meant", () => {
  const all = [...DECLARED, ...SIMULATED];

  test("has a reason, and is there once", () => {
    for (const { id, reason, lines } of all) {
      assert.ok(reason.length > 0 && lines.length > 0, id);
    }
    const lines = all.flatMap(({ lines }) => lines);
    assert.equal(lines.length, new Set(lines).size);
  });

  test("has its row in docs/platform.md", async () => {
    const rows = await readRows();
    assert.equal(rows.length, new Set(rows).size, "an id stands in two rows");
    assert.deepEqual(
      all.map(({ id }) => id).filter((id) => !rows.includes(id)),
      [],
    );
  });
});

/** The ids of the table's rows. */
async function readRows() {
  const text = await readFile(PLATFORM, "utf8");
  const [, section] = text.split(HEADING);
  assert.ok(section, "docs/platform.md has no such section");
  return [...section.matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, id]) => id);
}
