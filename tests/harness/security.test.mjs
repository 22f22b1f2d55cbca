/** The tables of SECURITY.md: complete, and every test that they name exists. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT } from "../../scripts/versions.mjs";

/** As in `tests/gateway/access.test.mjs`: "does not open another project". */
const REFERENCE = /`([\w./-]+\.(?:mjs|rs))`: "([^"]+)"/g;
const HOLES = 13;
const OWASP_ITEMS = 10;

const text = await readFile(join(ROOT, "SECURITY.md"), "utf8");

/** The rows of the tables whose last column names tests, as cells. */
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

/** Whether a file has a test or a group of tests of this title. */
async function hasTest(file, title) {
  const source = await readFile(join(ROOT, file), "utf8").catch(() => "");
  if (file.endsWith(".rs")) return source.includes(`fn ${title}(`);
  return ['"', "'", "`"].some((quote) =>
    ["test(", "describe("].some((call) => {
      const escaped = quote === "`" ? title.replaceAll("`", "\\`") : title;
      return new RegExp(`${escapeRegExp(call)}\\s*${escapeRegExp(quote + escaped + quote)}`).test(
        source,
      );
    }),
  );
}

function escapeRegExp(text) {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

test("every test that SECURITY.md names exists", async () => {
  const references = [...text.matchAll(REFERENCE)];
  assert.ok(references.length > 30, `${references.length} references`);
  for (const [, file, title] of references) {
    assert.ok(await hasTest(file, title), `${file} has no test called "${title}"`);
  }
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

test("SECURITY.md covers what the audit found and the whole of OWASP's list", () => {
  const firsts = readRows().map(([first]) => first);
  for (let hole = 1; hole <= HOLES; hole++) assert.ok(firsts.includes(String(hole)), `${hole}`);
  for (let item = 1; item <= OWASP_ITEMS; item++) {
    assert.ok(
      firsts.some((first) => first.startsWith(`API${item} `)),
      `API${item}`,
    );
  }
});

test("a title that is nowhere, or in a comment alone, is found out", async () => {
  const own = "tests/harness/security.test.mjs";
  assert.equal(await hasTest(own, "every test that SECURITY.md names exists"), true);
  assert.equal(await hasTest(own, "The tables of SECURITY.md"), false);
  assert.equal(await hasTest("tests/harness/none.test.mjs", "x"), false);
});
