/** Checks that docs/reference/cli.md is up to date with the declarations of the commands. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { COMMANDS } from "../../pkg/dist/cli/commands.js";
import { makeReference, REFERENCE } from "../../scripts/cli_reference.mjs";

test("docs/reference/cli.md is up to date: node scripts/cli_reference.mjs updates it", async () => {
  const text = await readFile(REFERENCE, "utf8");
  assert.ok(text === (await makeReference()), "docs/reference/cli.md is out of date");
  for (const { name } of COMMANDS) assert.ok(text.includes(`\n### ${name}\n`), name);
});
