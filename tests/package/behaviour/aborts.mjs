/** How a signal aborts a call. */
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { LISTS, pageOf } from "../scripted_lists.mjs";
import { against, describe, inTurn, JOB, rejectionOf, when } from "./fixtures.mjs";

describe("Aborts", () => {
  const reasons = [new Error("enough"), "a string", { kind: "api", message: "a look-alike" }, null];

  /** Aborts a call after a hook of its client. Returns the reason with which the call rejects. */
  function abortAt(hook, client, reason) {
    const controller = new AbortController();
    const abort = () => setImmediate(() => controller.abort(reason));
    const { agentJobs } = client.withOptions({ [hook]: abort });
    return rejectionOf(agentJobs.get("j1", { signal: controller.signal }));
  }

  when(
    "a call is aborted during its request",
    "it rejects immediately with the signal's reason and closes the connection",
    () =>
      against({ stall: "head" }, async ({ agentJobs }, server) => {
        for (const [at, reason] of reasons.entries()) {
          const controller = new AbortController();
          const call = agentJobs.get("j1", { signal: controller.signal });
          await Promise.all([
            rejectionOf(call).then((error) => assert.equal(error, reason)),
            server.arrived(at + 1).then(() => controller.abort(reason)),
          ]);
          assert.equal(await server.requests[at].ended, false);
        }
      }),
  );

  when(
    "a call is aborted while it reads the body",
    "it rejects immediately with the signal's reason and closes the connection",
    () =>
      against({ stall: "body" }, async (client, { requests }) => {
        for (const [at, reason] of reasons.entries()) {
          assert.equal(await abortAt("onResponse", client, reason), reason);
          assert.equal(await requests[at].ended, false);
        }
      }),
  );

  when(
    "a call is aborted while it waits to retry",
    "it rejects immediately with the signal's reason and sends no other request",
    () =>
      against({ status: 503, headers: { "retry-after": "59" } }, async (client, { requests }) => {
        for (const [at, reason] of reasons.entries()) {
          assert.equal(await abortAt("onRetry", client, reason), reason);
          assert.equal(requests.length, at + 1);
        }
      }),
  );

  when(
    "the signal is already aborted",
    "the call rejects immediately with its reason; nothing is sent",
    () =>
      against({ json: JOB }, async ({ agentJobs, analytics }, { requests }) => {
        for (const reason of reasons) {
          const options = { signal: AbortSignal.abort(reason) };
          for (const call of [
            () => agentJobs.create({ prompt: "p" }, options),
            () => agentJobs.wait("j1", options),
            () => analytics.views({}, options),
            () => analytics.views({}, options).all(),
          ]) {
            assert.equal(await rejectionOf(call), reason);
          }
        }
        assert.equal(requests.length, 0);
      }),
  );

  when(
    "a wait is aborted between two polls",
    "it rejects immediately with the signal's reason and sends no other request",
    () =>
      against({ json: JOB }, async ({ agentJobs }, { requests }) => {
        const controller = new AbortController();
        const onUpdate = () => setImmediate(() => controller.abort("seen enough"));
        const wait = agentJobs.wait("j1", { onUpdate, signal: controller.signal });
        assert.equal(await rejectionOf(wait), "seen enough");
        assert.equal(requests.length, 1);
      }),
  );

  when(
    "one signal serves several calls",
    "each call removes its listeners and timers when it settles",
    async (context) => {
      const { signal } = new AbortController();
      const timers = trackTimers(context);
      const assertNothingLeft = () => {
        assert.equal(getEventListeners(signal, "abort").length, 0);
        assert.equal(timers.size, 0);
      };
      const retryNow = { status: 503, headers: { "retry-after": "0" } };
      await against(inTurn(retryNow, { json: JOB }), async ({ agentJobs }) => {
        await agentJobs.get("j1", { signal });
        assertNothingLeft();
      });
      await against({ status: 404 }, async ({ agentJobs }) => {
        await rejectionOf(agentJobs.get("j1", { signal }));
        assertNothingLeft();
        await rejectionOf(agentJobs.wait("j1", { signal }));
        assertNothingLeft();
      });
      await against(pageOf(LISTS.views), async ({ analytics }) => {
        await analytics.views({}, { signal }).all();
        assertNothingLeft();
        for await (const _ of analytics.views({}, { signal })) break;
        assertNothingLeft();
      });
    },
  );
});

/** Returns the set of the package's timers that are pending, until the test ends. */
function trackTimers(context) {
  const pending = new Set();
  const { setTimeout, clearTimeout } = globalThis;
  context.mock.method(globalThis, "setTimeout", (run, ms, ...rest) => {
    const isOurs = new Error().stack.includes("/node_modules/quillgate/");
    const timer = setTimeout(() => {
      pending.delete(timer);
      run(...rest);
    }, ms);
    if (isOurs) pending.add(timer);
    return timer;
  });
  context.mock.method(globalThis, "clearTimeout", (timer) => {
    pending.delete(timer);
    clearTimeout(timer);
  });
  return pending;
}
