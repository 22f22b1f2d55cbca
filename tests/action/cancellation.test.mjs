/** Cancellations that arrive before the step starts something. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadModule } from "./modules.mjs";

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
