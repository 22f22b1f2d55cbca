/** Calls while the wasm core loads. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Client } from "quillgate";
import { loadFrom } from "../../pkg/dist/engine.js";

loadFrom(() => new Promise(() => {}));
const auth = { token: "token-of-a-test" };
const client = new Client({ baseUrl: "http://localhost:9", projectId: "p", auth });

for (const [name, call] of Object.entries({
  get: (options) => client.agentJobs.get("j1", options),
  wait: (options) => client.agentJobs.wait("j1", options),
  watchAll: (options) => client.agentJobs.watchAll(options).next(),
  request: (options) => client.request("GET", "/healthz", options),
  buildRequest: (options) => client.buildRequest("agentJobs.get", { id: "j1" }, options),
  "a page": (options) => client.analytics.views({}, options),
  all: (options) => client.analytics.views({}, options).all(),
  export: ({ signal }) =>
    client.analytics.views().export({ format: "csv", signal }).getReader().read(),
})) {
  test(`a signal aborts ${name} while the core loads`, { timeout: 5_000 }, async () => {
    const reason = new Error("enough");
    const rejects = (call) =>
      assert.rejects(
        async () => call,
        (error) => error === reason,
      );
    await rejects(call({ signal: AbortSignal.abort(reason) }));
    const controller = new AbortController();
    const pending = call({ signal: controller.signal });
    setImmediate(() => controller.abort(reason));
    await rejects(pending);
  });
}
