/** How `npm test` judges its commands. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { judge } from "../../scripts/test.mjs";

const CARGO = "test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out\n";

for (const [name, command, code, output, expected] of [
  ["cargo", "cargo test", 0, CARGO + CARGO, [10, 0]],
  ["cargo, a failure", "cargo test", 101, "test result: FAILED. 4 passed; 2 failed; 0", [4, 2]],
  ["cargo, no test", "cargo test", 0, "no tests to run!", [0, 1]],
  ["node", "node --test a.test.mjs", 0, "✔ works (1ms)\nℹ pass 7\nℹ fail 0\n", [7, 0]],
  ["node, a failure", "node --test a", 1, "ℹ pass 7\nℹ fail 3\n", [7, 3]],
  ["node, a crash", "node --test a", 1, "ℹ pass 7\nℹ fail 0\n", [7, 1]],
  [
    "node, a file without a test",
    "node --test a",
    0,
    "✔ tests/a.test.mjs (9ms)\nℹ pass 7\n",
    [7, 1],
  ],
  ["playwright", "npx playwright test", 0, "\n  26 passed (1.2m)\n", [26, 0]],
  ["playwright, a failure", "npx playwright test", 1, "  1 failed\n  25 passed (1.2m)\n", [25, 1]],
  ["a killed command", "node --test a", null, "", [0, 1]],
  ["a linter", "npx knip", 0, "", [1, 0]],
  ["a linter, a finding", "npx knip", 1, "", [0, 1]],
]) {
  test(`judges ${name}`, () => {
    const { passed, failed } = judge(command, code, output);
    assert.deepEqual([passed, failed], expected);
  });
}
