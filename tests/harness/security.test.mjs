/**
 * Checks that SECURITY.md covers every known attack: each hole of the audit and each item of the
 * OWASP API Security Top 10. It also checks that every test that SECURITY.md names exists.
 */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT } from "../../scripts/versions.mjs";

/** Matches `tests/gateway/auth/access.test.mjs`: "a title". */
const REFERENCE = /`([\w./-]+\.(?:mjs|rs))`: "([^"]+)"/g;
const HOLES = 13;
const OWASP_ITEMS = 10;

const text = await readFile(join(ROOT, "SECURITY.md"), "utf8");

/** Returns the cells of each row in the tables whose last column names tests. */
function readRows() {
  const tables = text.split(/\n\n/).filter((block) => /^\|.*\| test \|\n\| -/.test(block));
  return tables.flatMap((table) =>
    table
      .trim()
      .split("\n")
      .slice(2)
      .map((row) =>
        row
          .slice(1, -1)
          .split(" | ")
          .map((cell) => cell.trim()),
      ),
  );
}

/**
 * Whether a `node:test` or Playwright file has a test or a group with this title. In a Rust file,
 * any function with this name counts.
 */
async function hasTest(file, title) {
  const source = await readFile(join(ROOT, file), "utf8").catch(() => "");
  if (file.endsWith(".rs")) return source.includes(`fn ${title}(`);
  return ['"', "'", "`"].some((quote) => {
    const escaped = quote === "`" ? title.replaceAll("`", "\\`") : title;
    const literal = escapeRegExp(quote + escaped + quote);
    return new RegExp(`\\b(?:test|describe|test\\.describe)\\(\\s*${literal}`).test(source);
  });
}

function escapeRegExp(text) {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

test("every test that SECURITY.md names exists", async () => {
  const references = [...text.matchAll(REFERENCE)];
  assert.ok(references.length > 30, `${references.length} references`);
  const missing = [];
  for (const [, file, title] of references) {
    if (!(await hasTest(file, title))) missing.push(`${file}: "${title}"`);
  }
  assert.deepEqual(missing, []);
});

test("every attack in SECURITY.md has a defence and a test", () => {
  const rows = readRows();
  assert.ok(rows.length > HOLES + OWASP_ITEMS, `${rows.length} rows`);
  const untested = rows.filter((cells) => {
    const [defence, tests] = cells.slice(-2);
    return !defence || tests.replace(REFERENCE, "").replace(/[;\s]/g, "") !== "" || tests === "";
  });
  assert.deepEqual(
    untested.map((cells) => cells.join(" | ")),
    [],
  );
});

test("SECURITY.md covers every hole of the audit and every item of the OWASP API Security Top 10", () => {
  const firsts = readRows().map(([first]) => first);
  for (let hole = 1; hole <= HOLES; hole++) assert.ok(firsts.includes(String(hole)), `${hole}`);
  for (let item = 1; item <= OWASP_ITEMS; item++) {
    assert.ok(
      firsts.some((first) => first.startsWith(`API${item} `)),
      `API${item}`,
    );
  }
});

test("the search for the tests of SECURITY.md ignores comments and missing files", async () => {
  const own = "tests/harness/security.test.mjs";
  assert.equal(await hasTest(own, "every test that SECURITY.md names exists"), true);
  assert.equal(await hasTest(own, "SECURITY.md covers every known attack"), false);
  assert.equal(await hasTest("tests/harness/none.test.mjs", "x"), false);
});
