/** Which requests are retried, and after which wait. */
import assert from "node:assert/strict";
import {
  against,
  againstGateway,
  assertBetween,
  describe,
  inTurn,
  JOB,
  quillgate,
  rejectionOf,
  skipWaits,
  when,
} from "./fixtures.mjs";

describe("Retries", () => {
  when("a POST to Mintlify gets 503", "it is sent once and rejects with ServerError", () =>
    against({ status: 503, json: { error: "busy" } }, async ({ agentJobs }, { requests }) => {
      const calls = [
        () => agentJobs.create({ prompt: "p" }, { maxRetries: 5 }),
        () => agentJobs.sendMessage("j1", { prompt: "p" }, { maxRetries: 5 }),
      ];
      for (const [at, call] of calls.entries()) {
        await rejectionOf(call, "ServerError");
        assert.equal(requests.length, at + 1);
      }
    }),
  );

  when(
    "the connection of a POST to Mintlify breaks in the body of a 2xx response",
    "it is sent once and rejects with OutcomeUnknownError",
    () =>
      against({ text: '{"id":', cut: true }, async ({ agentJobs }, { requests }) => {
        const error = await rejectionOf(agentJobs.create({ prompt: "p" }), "OutcomeUnknownError");
        assert.ok(error.cause instanceof quillgate.ConnectionError);
        assert.equal(requests.length, 1);
      }),
  );

  when(
    "Mintlify has rejected the gateway's own key (502 `upstream-credential`)",
    "the call rejects with ServerError and is not retried",
    () => {
      const json = { type: "/problems/upstream-credential", status: 502, detail: "refused" };
      return againstGateway({ status: 502, json }, async ({ agentJobs }, { requests }) => {
        await rejectionOf(agentJobs.get("j1"), "ServerError");
        assert.equal(requests.length, 1);
      });
    },
  );

  when("a GET gets 503 twice", "it is retried after two growing waits and resolves", (context) =>
    against(
      inTurn({ status: 503 }, { status: 503 }, { json: JOB }),
      async ({ agentJobs }, { requests }) => {
        const waits = skipWaits(context);
        assert.equal((await agentJobs.get("j1")).id, "j1");
        assert.equal(requests.length, 3);
        assertBetween(waits[0], 375, 500);
        assertBetween(waits[1], 750, 1000);
      },
    ),
  );

  when("`Retry-After` is in seconds", "the client waits exactly that long", (context) =>
    against(
      inTurn({ status: 429, headers: { "retry-after": "7" } }, { json: JOB }),
      async ({ agentJobs }) => {
        const waits = skipWaits(context);
        await agentJobs.get("j1");
        assert.deepEqual(waits, [7000]);
      },
    ),
  );
});
