/** Tests how a test run counts tests and failures in the reports of test runners. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { readCargo, readNextest, readPlaywright } from "../../scripts/test/results.mjs";

const NODE_REPORTER = new URL("../../scripts/test/node_reporter.mjs", import.meta.url).href;

const TEST_FILE = `
import assert from "node:assert/strict";
import { describe, test } from "node:test";

describe("outer", () => {
  test("passes", () => {});
  test("differs", () => assert.equal("actual text", "expected text"));
  test("is skipped", { skip: true }, () => {});
});
test("rejects", async () => {
  throw new Error("no server");
});
`;

test("the report of Node's runner names each failed test with its message", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "quillgate-results-"));
  t.after(() => rm(folder, { recursive: true }));
  const file = join(folder, "some.test.mjs");
  await writeFile(file, TEST_FILE);
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const output = await new Promise((resolve) => {
    execFile(process.execPath, [`--test-reporter=${NODE_REPORTER}`, file], { env }, (_, stdout) =>
      resolve(stdout),
    );
  });
  const { failures, ...counts } = JSON.parse(output);
  assert.deepEqual(counts, { passed: 1, failed: 2, skipped: 1 });
  assert.deepEqual(
    failures.map(({ name }) => name),
    ["outer › differs", "rejects"],
  );
  assert.match(failures[0].message, /actual text[\s\S]*expected text/);
  assert.equal(failures[1].message, "no server");
});

test("the report of Playwright names each failed test with its message and traces", () => {
  const attachments = [{ name: "trace", path: "/results/trace.zip" }, { name: "no file" }];
  const failed = { status: "failed", duration: 1500, error: { message: "\u001b[31mred\u001b[0m" } };
  const passed = { status: "passed", duration: 500, attachments: [] };
  const specs = [
    { title: "opens", tests: [{ results: [passed] }] },
    { title: "closes", tests: [{ results: [{ ...failed, attachments }] }] },
  ];
  const suites = [{ file: "menu.spec.mjs", suites: [{ title: "menu", specs }] }];
  const stats = { expected: 1, unexpected: 1, flaky: 0, skipped: 0 };
  assert.deepEqual(readPlaywright(JSON.stringify({ stats, suites })), {
    passed: 1,
    failed: 1,
    skipped: 0,
    failures: [
      { name: "menu.spec.mjs › menu › closes", message: "red", files: ["/results/trace.zip"] },
    ],
    files: [{ file: "menu.spec.mjs", seconds: 2 }],
  });
});

test("the output of cargo-nextest names each failed test", () => {
  const output = `
        PASS [   0.004s] (1/2) quillgate decode
        FAIL [   0.005s] (2/2) quillgate retry
     Summary [   0.010s] 2 tests run: 1 passed, 1 failed, 0 skipped
        FAIL [   0.005s] (2/2) quillgate retry
`;
  const failures = [{ name: "quillgate retry" }];
  assert.deepEqual(readNextest(output), { passed: 1, failed: 1, skipped: 0, failures });
});

test("the output of cargo test names each failed test", () => {
  const output = `
test client ... ok
test retry ... FAILED
test result: FAILED. 1 passed; 1 failed; 0 ignored
`;
  assert.deepEqual(readCargo(output), { passed: 1, failed: 1, failures: [{ name: "retry" }] });
});
