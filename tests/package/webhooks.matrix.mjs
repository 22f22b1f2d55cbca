/** `quillgate/webhooks` of the packed package in Deno and Bun. */
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { copy, install, runProgram } from "./installed.mjs";
import { BUN, DENO, denoEnv } from "./runtimes/servers.mjs";

const PROGRAM = `
import * as webhooks from "quillgate/webhooks";
import { checkWebhooks } from "./checks.mjs";
console.log("PROBLEMS " + JSON.stringify(await checkWebhooks(webhooks)));
`;

let folder;

before(async () => {
  folder = await install("webhooks", { "main.mjs": PROGRAM });
  copy(folder, "webhooks/checks.mjs");
});

test("Deno verifies webhooks", async () => {
  const args = ["run", "--no-prompt", "--no-remote", "--allow-read=.", "main.mjs"];
  const output = await runProgram("deno", DENO, args, { cwd: folder, env: denoEnv(folder) });
  assert.match(output, /^PROBLEMS \[\]$/m);
});

test("Bun verifies webhooks", async () => {
  const args = ["run", "--no-install", "main.mjs"];
  const output = await runProgram("bun", BUN, args, { cwd: folder });
  assert.match(output, /^PROBLEMS \[\]$/m);
});
