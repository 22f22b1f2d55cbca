/** Cancellations that arrive before the step starts something. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { build } from "esbuild";
import { ROOT } from "../../scripts/versions.mjs";

async function loadModule(name) {
  const { outputFiles } = await build({
    ...{ entryPoints: [join(ROOT, "action", "src", name)], bundle: true, write: false },
    ...{ platform: "node", format: "esm", target: "node20.19" },
  });
  const source = Buffer.from(outputFiles[0].contents).toString("base64");
  return import(`data:text/javascript;base64,${source}`);
}

test("a step that was cancelled before it starts something sends no request", async () => {
  const { sendWrite } = await loadModule("connection.ts");
  const requests = [];
  const connection = { identityLost: new AbortController().signal, failedAttempts: [] };
  const reason = new Error("the step was cancelled");
  const options = { key: "key", timeout: 60_000, runner: {}, signal: AbortSignal.abort(reason) };
  const write = sendWrite(connection, (call) => requests.push(call), options);
  await assert.rejects(write, reason);
  assert.deepEqual(requests, []);
});
