/** Checks what docs/problems says about errors of the package and exit codes of the command line. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { findExitCode } from "../../pkg/dist/cli/exit_codes.js";
import { toApiError } from "../../pkg/dist/errors.js";
import { ROOT } from "../../scripts/versions.mjs";

const FOLDER = join(ROOT, "docs", "problems");
/** Only browsers that show the gateway's page, or the records of an export, have these problems. */
const WITHOUT_ERROR = ["sign-in-failed", "session-ended", "counts-changed"];

for (const name of readdirSync(FOLDER).filter((name) => name !== "README.md")) {
  const kind = name.replace(/\.md$/, "");
  const text = readFileSync(join(FOLDER, name), "utf8");
  const row = (client) => new RegExp(`^\\| ${client} \\| (.*) \\|$`, "m").exec(text)?.[1];
  if (WITHOUT_ERROR.includes(kind)) continue;

  test(`the page of ${kind} names the error class and the exit code`, () => {
    const body = JSON.parse(/^```http\n.*?\n\n(\{.*?\n\})\n```$/ms.exec(text)[1]);
    const errorOf = (problem) =>
      toApiError(new Response("", { status: body.status }), problem, null, undefined);
    const check = (problem, described) => {
      const error = errorOf(problem);
      assert.ok(described.includes(`\`${error.name}\``), `${error.name} in ${described}`);
      return findExitCode(error);
    };
    const code = check(body, row("TypeScript") ?? row("TypeScript elsewhere"));
    const line = row("command line");
    if (line) assert.match(line, new RegExp(`^exit code ${code}(;|$)`));
    assert.equal(
      text.includes("- Possible properties:") && /`outcome`/.test(text),
      !!row("with `outcome`"),
    );
    if (row("with `outcome`")) {
      const uncertain = check({ ...body, outcome: "unknown" }, row("with `outcome`"));
      assert.ok(row("with `outcome`").endsWith(`exit code ${uncertain}`));
    }
  });
}
