/** Writes through a gateway: the idempotency keys that a client sends, and its retries. */
import assert from "node:assert/strict";
import { inspect } from "node:util";
import {
  against,
  againstGateway,
  assertBetween,
  assertInvalid,
  describe,
  inTurn,
  JOB,
  quillgate,
  rejectionOf,
  skipWaits,
  when,
} from "./fixtures.mjs";

describe("Writes through a gateway", () => {
  const RUNNING = { "retry-after": "1" };

  function problem(kind, headers = {}) {
    return { status: 409, headers, json: { type: `/problems/${kind}`, title: kind, status: 409 } };
  }

  function keysOf(requests) {
    return requests.map(({ headers }) => headers["idempotency-key"]);
  }

  when("a write has no `idempotencyKey`", "the call sends a new random `Idempotency-Key`", () =>
    againstGateway({ json: JOB }, async ({ agentJobs }, { requests }) => {
      await agentJobs.create({ prompt: "p" });
      await agentJobs.create({ prompt: "p" });
      await agentJobs.sendMessage("j1", { prompt: "p" }, { idempotencyKey: "mine" });
      const keys = keysOf(requests);
      assert.match(keys[0], /^[0-9a-f]{32}$/);
      assert.notEqual(keys[0], keys[1]);
      assert.equal(keys[2], "mine");
    }),
  );

  when(
    "a write fails temporarily",
    "it is retried with the same key, so that the gateway performs it once",
    (context) =>
      againstGateway(
        inTurn({ status: 503 }, { text: "", cut: true }, { status: 201, json: JOB }),
        async ({ agentJobs }, { requests }) => {
          const waits = skipWaits(context);
          assert.equal((await agentJobs.create({ prompt: "p" })).id, "j1");
          assert.equal(keysOf(requests).length, 3);
          assert.equal(new Set(keysOf(requests)).size, 1);
          assertBetween(waits[0], 375, 500);
          assertBetween(waits[1], 750, 1000);
        },
      ),
  );

  when("`retryWrites` is false", "only reads are retried", (context) =>
    againstGateway(
      { status: 503 },
      async ({ agentJobs }, { requests }) => {
        skipWaits(context);
        await rejectionOf(agentJobs.create({ prompt: "p" }));
        assert.equal(requests.length, 1);
        await rejectionOf(agentJobs.get("j1"));
        assert.equal(requests.length, 4);
      },
      { retryWrites: false },
    ),
  );

  when("a job is created with a `webhookUrl`", "the call sends it to a gateway", () =>
    againstGateway({ json: JOB }, async ({ agentJobs }, { requests }) => {
      const webhookUrl = "https://hooks.example/done";
      await agentJobs.create({ prompt: "p" }, { webhookUrl });
      assert.equal(requests[0].headers["webhook-url"], webhookUrl);
      const invalid = agentJobs.create({ prompt: "p" }, { webhookUrl: "x" });
      await assertInvalid(invalid, "webhookUrl", "webhook-url");
      assert.equal(requests.length, 1);
    }),
  );

  when(
    "a job is created with a `webhookUrl` and an admin key",
    "the call rejects, because Mintlify sends no webhooks",
    () =>
      against({ json: JOB }, async ({ agentJobs }, { requests }) => {
        const webhookUrl = "https://hooks.example/done";
        const call = agentJobs.create({ prompt: "p" }, { webhookUrl });
        await assertInvalid(call, "webhookUrl", "gateway-only");
        assert.equal(requests.length, 0);
      }),
  );

  when(
    "`retryWrites` is true without a gateway",
    "a write is sent once, since Mintlify has no idempotency keys",
    () =>
      against(
        { status: 503 },
        async ({ agentJobs }, { requests }) => {
          await rejectionOf(agentJobs.create({ prompt: "p" }));
          assert.equal(requests.length, 1);
          assert.equal(requests[0].headers["idempotency-key"], undefined);
        },
        { retryWrites: true },
      ),
  );

  when(
    "the first attempt at a write is still running",
    "the client requests its result every second, which uses no retries",
    (context) =>
      againstGateway(
        inTurn(
          { text: "", cut: true },
          ...Array.from({ length: 9 }, () => problem("idempotency-key-in-use", RUNNING)),
          { status: 201, json: JOB },
        ),
        async ({ agentJobs }, { requests }) => {
          const waits = skipWaits(context);
          assert.equal((await agentJobs.create({ prompt: "p" })).id, "j1");
          assert.deepEqual(waits.slice(1), new Array(9).fill(1000));
          assert.equal(requests.length, 11);
          assert.equal(new Set(keysOf(requests)).size, 1);
        },
      ),
  );

  when(
    "the first attempt at a write is still running after `timeout`",
    "the call rejects with ConflictError, and `code` names the problem",
    (context) =>
      againstGateway(
        problem("idempotency-key-in-use", RUNNING),
        async ({ agentJobs }, { requests }) => {
          skipWaits(context);
          const error = await rejectionOf(agentJobs.create({ prompt: "p" }, { timeout: 32_000 }));
          assert.equal(error.constructor, quillgate.ConflictError);
          assert.equal(error.code, "/problems/idempotency-key-in-use");
          assert.equal(requests.length, 33);
        },
      ),
  );

  when(
    "the outcome of a write is unknown",
    "the call rejects with OutcomeUnknownError, whatever the status, and is not retried",
    async () => {
      const outcome = "unknown";
      for (const [status, kind] of [
        [409, "outcome-unknown"],
        [502, "upstream-unreachable"],
        [503, "upstream-error"],
        [504, "upstream-timeout"],
      ]) {
        const response = { status, json: { type: `/problems/${kind}`, status, outcome } };
        await againstGateway(response, async ({ agentJobs }, { requests }) => {
          const error = await rejectionOf(agentJobs.create({ prompt: "p" }));
          assert.equal(error.constructor, quillgate.OutcomeUnknownError);
          assert.ok(error instanceof quillgate.ApiError);
          const { name, code, problem } = error;
          assert.deepEqual([name, error.status], ["OutcomeUnknownError", status]);
          assert.equal(code, `/problems/${kind}`);
          assert.equal(problem.type, code);
          assert.equal(requests.length, 1);
        });
      }
    },
  );

  when(
    "the 2xx response of a write cannot be read",
    "the call rejects with OutcomeUnknownError, also for `request`",
    async (context) => {
      skipWaits(context);
      for (const response of [{ text: "<html>" }, { text: "{", cut: true }]) {
        await against({ status: 201, ...response }, async (client) => {
          for (const call of [
            () => client.agentJobs.create({ prompt: "p" }),
            () => client.agentJobs.sendMessage("j1", { prompt: "p" }),
            () => client.request("PUT", "/v1/x", { body: {} }),
          ]) {
            const error = await rejectionOf(call);
            assert.equal(error.constructor, quillgate.OutcomeUnknownError, inspect(error));
            assert.equal(error.status, 201);
          }
          const error = await rejectionOf(client.request("GET", "/v1/x"));
          const expected = response.cut ? quillgate.ConnectionError : quillgate.DecodeError;
          assert.equal(error.constructor, expected);
        });
      }
    },
  );

  when(
    "`force` is set without a key",
    "the call rejects with ValidationError; nothing is sent",
    () =>
      againstGateway({}, async ({ agentJobs }, { requests }) => {
        for (const options of [{ force: true }, { force: true, idempotencyKey: undefined }]) {
          const call = agentJobs.create({ prompt: "p" }, options);
          await assertInvalid(call, "idempotencyKey", "required");
        }
        assert.equal(requests.length, 0);
      }),
  );

  when("`force` is set", "the write sends `Idempotency-Retry: force` and is sent once", () =>
    againstGateway({ status: 503 }, async ({ agentJobs }, { requests }) => {
      const options = { idempotencyKey: "mine", force: true };
      await rejectionOf(agentJobs.create({ prompt: "p" }, options));
      await rejectionOf(agentJobs.sendMessage("j1", { prompt: "p" }, options));
      assert.deepEqual(keysOf(requests), ["mine", "mine"]);
      const forced = requests.map(({ headers }) => headers["idempotency-retry"]);
      assert.deepEqual(forced, ["force", "force"]);
    }),
  );
});
