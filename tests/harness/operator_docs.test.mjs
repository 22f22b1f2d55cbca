/** Compares the pages for operators with the code. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { LOADS, MEASURED, makeTable } from "../../scripts/cost.mjs";
import { ROOT } from "../../scripts/versions.mjs";

const read = (...path) => readFileSync(join(ROOT, ...path), "utf8");

function listFields(source, struct) {
  const [, body] = new RegExp(`pub struct ${struct}<'a> \\{(.*?)^\\}`, "ms").exec(source) ?? [];
  assert.ok(body, struct);
  return [...body.matchAll(/^ {4}pub (\w+):/gm)].map(([, name]) =>
    name.replaceAll(/_(\w)/g, (_, letter) => letter.toUpperCase()),
  );
}

function listFirstColumn(page, heading) {
  const section = page.split(`\n## ${heading}\n`)[1]?.split("\n## ")[0];
  assert.ok(section, heading);
  const [table] = /(?:^\|.*\n)+/m.exec(section) ?? [];
  return [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
}

for (const [struct, heading] of [
  ["LogEntry", "The line of a request"],
  ["ExportEnd", "The line at the end of an export"],
]) {
  test(`docs/operate/logs.md lists exactly the fields of ${struct}`, () => {
    const fields = listFields(read("worker", "src", "app", "log.rs"), struct);
    assert.ok(fields.length > 0);
    assert.deepEqual(listFirstColumn(read("docs", "operate", "logs.md"), heading), fields);
  });
}

test("docs/operate/cost.md has the table of scripts/cost.mjs", () => {
  assert.ok(read("docs", "operate", "cost.md").includes(makeTable(LOADS)), "run npm run cost");
});

test("docs/operate/cost.md has the measured operations of scripts/cost.mjs", () => {
  const page = read("docs", "operate", "cost.md");
  for (const [name, action] of Object.entries({
    creation: "create a job, with an idempotency key | 1",
    stream: "open a stream of a job | 1",
    read: "read a job | 1",
    poll: "poll a job at Mintlify | 0",
    change: "poll that finds a change | 0",
    end: "poll that finds the end | 0",
    report: "report page from Mintlify | 1",
    cachedReport: "report page from the cache | 1",
  })) {
    const { objects, written, read: rows } = MEASURED[name];
    assert.ok(page.includes(`| ${action} | ${objects} | ${written} | ${rows} |`), action);
  }
});
