/** Cancellations that arrive before the step creates its job. */
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

test("a step that was cancelled before the creation sends no request", async () => {
  const { createJob } = await loadModule("job.ts");
  const requests = [];
  const connection = {
    client: { agentJobs: { create: (params) => requests.push(params) } },
    identityLost: new AbortController().signal,
    failedAttempts: [],
  };
  const reason = new Error("the step was cancelled");
  const options = { runner: {}, signal: AbortSignal.abort(reason) };
  const creation = createJob(connection, { prompt: "x", timeout: 60_000 }, "key", options);
  await assert.rejects(creation, reason);
  assert.deepEqual(requests, []);
});
