/** Writes through a gateway: their keys, and how often they are sent. */
import assert from "node:assert/strict";
import {
  against,
  between,
  describe,
  GATEWAY,
  hurry,
  inTurn,
  JOB,
  quillgate,
  rejected,
  when,
} from "./fixtures.mjs";

describe("when something is written through a gateway", () => {
  const RUNNING = { "retry-after": "1" };

  function problem(kind, headers = {}) {
    return { status: 409, headers, json: { type: `/problems/${kind}`, title: kind, status: 409 } };
  }

  function keysOf(requests) {
    return requests.map(({ headers }) => headers["idempotency-key"]);
  }

  when("it is sent", "it carries an `Idempotency-Key` of its own, once per call", () =>
    against(
      { json: JOB },
      async ({ agentJobs }, { requests }) => {
        await agentJobs.create({ prompt: "p" });
        await agentJobs.create({ prompt: "p" });
        await agentJobs.sendMessage("j1", { prompt: "p" }, { idempotencyKey: "mine" });
        const keys = keysOf(requests);
        assert.match(keys[0], /^[0-9a-f]{32}$/);
        assert.notEqual(keys[0], keys[1]);
        assert.equal(keys[2], "mine");
      },
      GATEWAY,
    ),
  );

  when(
    "a write fails in a way that may pass",
    "it is sent again with the same key, which the gateway does once",
    (context) =>
      against(
        inTurn({ status: 503 }, { text: "", cut: true }, { status: 201, json: JOB }),
        async ({ agentJobs }, { requests }) => {
          const waits = hurry(context);
          assert.equal((await agentJobs.create({ prompt: "p" })).id, "j1");
          assert.equal(keysOf(requests).length, 3);
          assert.equal(new Set(keysOf(requests)).size, 1);
          between(waits[0], 375, 500);
          between(waits[1], 750, 1000);
        },
        GATEWAY,
      ),
  );

  when("`retryWrites` is false", "a write is sent once, and a read still again", (context) =>
    against(
      { status: 503 },
      async ({ agentJobs }, { requests }) => {
        hurry(context);
        await rejected(agentJobs.create({ prompt: "p" }));
        assert.equal(requests.length, 1);
        await rejected(agentJobs.get("j1"));
        assert.equal(requests.length, 4);
      },
      { ...GATEWAY, retryWrites: false },
    ),
  );

  when("the platform itself is said to deduplicate", "a write is sent once: it does not", () =>
    against(
      { status: 503 },
      async ({ agentJobs }, { requests }) => {
        await rejected(agentJobs.create({ prompt: "p" }));
        assert.equal(requests.length, 1);
        assert.equal(requests[0].headers["idempotency-key"], undefined);
      },
      { retryWrites: true },
    ),
  );

  when(
    "the first attempt at a write still runs",
    "its result is asked for every second, which uses up no retry",
    (context) =>
      against(
        inTurn(
          { text: "", cut: true },
          ...Array.from({ length: 9 }, () => problem("idempotency-key-in-use", RUNNING)),
          { status: 201, json: JOB },
        ),
        async ({ agentJobs }, { requests }) => {
          const waits = hurry(context);
          assert.equal((await agentJobs.create({ prompt: "p" })).id, "j1");
          assert.deepEqual(waits.slice(1), new Array(9).fill(1000));
          assert.equal(requests.length, 11);
          assert.equal(new Set(keysOf(requests)).size, 1);
        },
        GATEWAY,
      ),
  );

  when(
    "it still runs after the time of an attempt",
    "ConflictError whose `code` says so",
    (context) =>
      against(
        problem("idempotency-key-in-use", RUNNING),
        async ({ agentJobs }, { requests }) => {
          hurry(context);
          const error = await rejected(agentJobs.create({ prompt: "p" }, { timeout: 32_000 }));
          assert.equal(error.constructor, quillgate.ConflictError);
          assert.equal(error.code, "/problems/idempotency-key-in-use");
          assert.equal(requests.length, 33);
        },
        GATEWAY,
      ),
  );

  when(
    "nobody knows whether a write was carried out",
    "OutcomeUnknownError of any status; nothing more is sent",
    async () => {
      const outcome = "unknown";
      for (const [status, kind] of [
        [409, "outcome-unknown"],
        [502, "upstream-unreachable"],
        [503, "upstream-error"],
        [504, "upstream-timeout"],
      ]) {
        const answer = { status, json: { type: `/problems/${kind}`, status, outcome } };
        await against(
          answer,
          async ({ agentJobs }, { requests }) => {
            const error = await rejected(agentJobs.create({ prompt: "p" }));
            assert.equal(error.constructor, quillgate.OutcomeUnknownError);
            assert.ok(error instanceof quillgate.ApiError);
            const { name, code, problem } = error;
            assert.deepEqual([name, error.status], ["OutcomeUnknownError", status]);
            assert.equal(code, `/problems/${kind}`);
            assert.equal(problem.type, code);
            assert.equal(requests.length, 1);
          },
          GATEWAY,
        );
      }
    },
  );

  when("a write is forced", "it says so by `Idempotency-Retry`, and is sent once", () =>
    against(
      { status: 503 },
      async ({ agentJobs }, { requests }) => {
        const options = { idempotencyKey: "mine", force: true };
        await rejected(agentJobs.create({ prompt: "p" }, options));
        await rejected(agentJobs.sendMessage("j1", { prompt: "p" }, options));
        assert.deepEqual(keysOf(requests), ["mine", "mine"]);
        const forced = requests.map(({ headers }) => headers["idempotency-retry"]);
        assert.deepEqual(forced, ["force", "force"]);
      },
      GATEWAY,
    ),
  );
});
