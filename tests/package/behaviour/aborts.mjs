/** Calls that are taken back by their signal. */
import assert from "node:assert/strict";
import { against, describe, JOB, KEY, quillgate, rejected, when } from "./fixtures.mjs";

describe("when a call is taken back", () => {
  const reasons = [new Error("enough"), "a text", { kind: "api", message: "a look-alike" }, null];

  when("in a request", "at once, with the signal's own reason; the connection is closed", () =>
    against({ stall: "head" }, async ({ agentJobs }, server) => {
      for (const [at, reason] of reasons.entries()) {
        const controller = new AbortController();
        const call = agentJobs.get("j1", { signal: controller.signal });
        await Promise.all([
          rejected(call).then((error) => assert.equal(error, reason)),
          abortAfter(server, at + 1, controller, reason),
        ]);
        assert.equal(await server.requests[at].ended, false);
      }
    }),
  );

  when("in a body", "at once, with the signal's own reason; the connection is closed", () =>
    against({ stall: "body" }, async (_, server) => {
      for (const [at, reason] of reasons.entries()) {
        const controller = new AbortController();
        const onResponse = () => setImmediate(() => controller.abort(reason));
        const client = new quillgate.Client({
          baseUrl: server.url,
          projectId: "acme",
          adminKey: KEY,
          onResponse,
        });
        assert.equal(
          await rejected(client.agentJobs.get("j1", { signal: controller.signal })),
          reason,
        );
        assert.equal(await server.requests[at].ended, false);
      }
    }),
  );

  when(
    "in the wait before another attempt",
    "at once, with the signal's own reason; nothing more is sent",
    () =>
      against({ status: 503, headers: { "retry-after": "59" } }, async (client, { requests }) => {
        for (const [at, reason] of reasons.entries()) {
          const controller = new AbortController();
          const retrying = client.withOptions({
            onRetry: () => setImmediate(() => controller.abort(reason)),
          });
          assert.equal(
            await rejected(retrying.agentJobs.get("j1", { signal: controller.signal })),
            reason,
          );
          assert.equal(requests.length, at + 1);
        }
      }),
  );

  when("before it is sent", "at once, with the signal's own reason; nothing is sent", () =>
    against({ json: JOB }, async ({ agentJobs, pageViews }, { requests }) => {
      for (const reason of reasons) {
        const options = { signal: AbortSignal.abort(reason) };
        for (const call of [
          () => agentJobs.create({ prompt: "p" }, options),
          () => agentJobs.wait("j1", options),
          () => pageViews.list({}, options),
          () => pageViews.list({}, options).all(),
        ]) {
          assert.equal(await rejected(call), reason);
        }
      }
      assert.equal(requests.length, 0);
    }),
  );

  when(
    "in the wait between two looks at a job",
    "at once, with the signal's own reason; nothing more is sent",
    () =>
      against({ json: JOB }, async ({ agentJobs }, { requests }) => {
        const controller = new AbortController();
        const onUpdate = () => setImmediate(() => controller.abort("seen enough"));
        assert.equal(
          await rejected(agentJobs.wait("j1", { onUpdate, signal: controller.signal })),
          "seen enough",
        );
        assert.equal(requests.length, 1);
      }),
  );

  async function abortAfter(server, count, controller, reason) {
    await server.arrived(count);
    controller.abort(reason);
  }
});
