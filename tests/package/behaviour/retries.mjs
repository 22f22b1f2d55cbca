/** Which requests are sent again, and after which wait. */
import assert from "node:assert/strict";
import {
  against,
  between,
  describe,
  hurry,
  inTurn,
  JOB,
  quillgate,
  rejected,
  when,
} from "./fixtures.mjs";

describe("when a request could be sent again", () => {
  when("a POST is answered by 503", "one request, then ServerError", () =>
    against({ status: 503, json: { error: "busy" } }, async ({ agentJobs }, { requests }) => {
      const calls = [
        () => agentJobs.create({ prompt: "p" }, { maxRetries: 5 }),
        () => agentJobs.sendMessage("j1", { prompt: "p" }, { maxRetries: 5 }),
      ];
      for (const [at, call] of calls.entries()) {
        assert.ok((await rejected(call)) instanceof quillgate.ServerError);
        assert.equal(requests.length, at + 1);
      }
    }),
  );

  when("a POST's connection breaks", "one request, then ConnectionError", () =>
    against({ text: '{"id":', cut: true }, async ({ agentJobs }, { requests }) => {
      const error = await rejected(agentJobs.create({ prompt: "p" }));
      assert.ok(error instanceof quillgate.ConnectionError);
      assert.equal(requests.length, 1);
    }),
  );

  when("a GET is answered by 503 twice", "two growing waits, then the result", (context) =>
    against(
      inTurn({ status: 503 }, { status: 503 }, { json: JOB }),
      async ({ agentJobs }, { requests }) => {
        const waits = hurry(context);
        assert.equal((await agentJobs.get("j1")).id, "j1");
        assert.equal(requests.length, 3);
        between(waits[0], 375, 500);
        between(waits[1], 750, 1000);
      },
    ),
  );

  when("`Retry-After` is in seconds", "it takes the place of the usual wait", (context) =>
    against(
      inTurn({ status: 429, headers: { "retry-after": "7" } }, { json: JOB }),
      async ({ agentJobs }) => {
        const waits = hurry(context);
        await agentJobs.get("j1");
        assert.deepEqual(waits, [7000]);
      },
    ),
  );

  when("`Retry-After` is a date", "it is waited until that date", async (context) => {
    const date = new Date(Date.now() + 20_000).toUTCString();
    await against(
      inTurn({ status: 503, headers: { "retry-after": date } }, { json: JOB }),
      async ({ agentJobs }) => {
        const waits = hurry(context);
        await agentJobs.get("j1");
        assert.equal(waits.length, 1);
        between(waits[0], 10_000, 20_000);
      },
    );
  });

  when(
    "`Retry-After` is over a minute",
    "RateLimitError at once, with `retryAfter` in seconds",
    (context) =>
      against(
        { status: 429, headers: { "retry-after": "1800" } },
        async ({ pageViews }, { requests }) => {
          const waits = hurry(context);
          const error = await rejected(pageViews.list());
          assert.ok(error instanceof quillgate.RateLimitError);
          assert.equal(error.retryAfter, 1800);
          assert.deepEqual([requests.length, waits], [1, []]);
        },
      ),
  );

  when("`maxRetries` is 0", "one request", () =>
    against(
      { status: 503 },
      async ({ agentJobs }, { requests }) => {
        await rejected(agentJobs.get("j1"));
        assert.equal(requests.length, 1);
      },
      { maxRetries: 0 },
    ),
  );
});
