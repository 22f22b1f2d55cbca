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

/** Whether the file of a test has a test or a group with this title. */
async function hasTest(file, title) {
  const source = await readFile(join(ROOT, file), "utf8").catch(() => "");
  return file.endsWith(".rs") ? hasRustTest(source, title) : hasNodeTest(source, title);
}

/** Whether a Rust file has a test function, or a property test, with this name. */
function hasRustTest(source, name) {
  const test = String.raw`^ *#\[(?:\w+::)?(?:wasm_bindgen_)?test\b.*\]\n(?: *#.*\n)*`;
  return new RegExp(`${test} *(?:async )?fn ${escapeRegExp(name)}\\(`, "m").test(source);
}

/** Whether a file for `node:test` or Playwright has a test or a group with this title. */
function hasNodeTest(source, title) {
  return ['"', "'", "`"].some((quote) => {
    const escaped = quote === "`" ? title.replaceAll("`", "\\`") : title;
    const literal = escapeRegExp(quote + escaped + quote);
    const start = String.raw`^ *(?:test|describe|test\.describe)\(\s*`;
    return new RegExp(start + literal, "m").test(source);
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
  assert.equal(hasNodeTest('test("a title", () => {});', "a title"), true);
  assert.equal(hasNodeTest('  test(\n    "a title",', "a title"), true);
  assert.equal(hasNodeTest('// test("a title", () => {});', "a title"), false);
  assert.equal(hasRustTest("#[test]\nfn a_name() {}", "a_name"), true);
  assert.equal(hasRustTest("    #[wasm_bindgen_test]\n    async fn a_name() {}", "a_name"), true);
  assert.equal(hasRustTest("fn a_name() {}", "a_name"), false);
  assert.equal(hasRustTest("// #[test]\n// fn a_name() {}", "a_name"), false);
  assert.equal(await hasTest("tests/harness/none.test.mjs", "x"), false);
});
