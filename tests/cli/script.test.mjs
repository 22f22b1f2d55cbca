/** The script in docs/guides/command-line.md that retries an export while the budget is spent. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { capture } from "../../scripts/child.mjs";
import { ROOT } from "../../scripts/versions.mjs";
import { BIN, runCommand } from "./command_line.mjs";
import { startSession } from "./session.mjs";
import { problem } from "./stand_in.mjs";

const CONCURRENCY = 3;

/** Reads the script in the documentation and replaces `npx` and `sleep`. */
function readScript() {
  const text = readFileSync(join(ROOT, "docs", "guides", "command-line.md"), "utf8");
  const script = /```sh\n(while [\s\S]*?)```/.exec(text)[1];
  const programs = [
    `npx() { [ "$1" = quillgate ] && shift && '${process.execPath}' '${BIN}' "$@"; }`,
    'sleep() { echo "slept $1"; }',
  ];
  return [...programs, script].join("\n");
}

describe("the script in the documentation", { concurrency: CONCURRENCY }, () => {
  const spent = problem(429, "rate-limited", "no request is left", { "retry-after": "90" });
  for (const [name, respond, code, sleeps] of [
    [
      "continues until the export is complete",
      (number) => ([2, 3].includes(number) ? spent : undefined),
      ...[0, 2],
    ],
    ["returns the exit code of other failures", () => problem(401, "unauthorized", "no"), 3, 0],
    [
      "returns the exit code of a failure after a wait",
      (number) => (number === 0 ? spent : problem(404, "none", "no")),
      ...[4, 1],
    ],
  ]) {
    for (const flags of [[], ["-e"]]) {
      const shell = ["bash", ...flags].join(" ");
      test(`the script ${name} in ${shell}`, { skip: process.platform === "win32" }, async (t) => {
        const { env, folder, read, respondWith } = await startSession(t);
        respondWith((_, number) => respond(number));
        const args = [...flags, "-c", readScript()];
        const result = await capture("bash", args, { env, cwd: folder });
        assert.equal(result.code, code);
        assert.equal(result.stdout, "slept 600\n".repeat(sleeps));
        if (code !== 0) return;
        respondWith(undefined);
        const range = ["--from", "2026-01-01", "--to", "2026-02-01"];
        const exported = ["views", ...range, "--format", "csv"];
        const { stdout: expected } = await runCommand(exported, { env });
        assert.ok(expected.length > 0);
        assert.ok(read("views.csv") === expected);
      });
    }
  }
});
