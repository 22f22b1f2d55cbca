/** How a client waits for a job by polling it. */
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

describe("Waiting for a job", () => {
  when(
    "a job has an unknown status",
    "`onUpdate` receives it and polling continues, with at least 5 s between polls",
    (context) =>
      against(
        inTurn(
          { json: { ...JOB, status: "paused" } },
          { json: { ...JOB, status: null } },
          { json: { ...JOB, status: "completed" } },
        ),
        async ({ agentJobs }, { requests }) => {
          const waits = skipWaits(context);
          const seen = [];
          const job = await agentJobs.wait("j1", { onUpdate: ({ status }) => seen.push(status) });
          assert.equal(job.status, "completed");
          assert.deepEqual(seen, ["paused", null, "completed"]);
          assert.equal(requests.length, 3);
          for (const wait of waits) assertBetween(wait, 5000, 6250);
        },
      ),
  );

  when(
    "a job is active",
    "it is polled after 2 s, then at growing intervals of up to 30 s",
    (context) => {
      const active = Array.from({ length: 12 }, () => ({ json: JOB }));
      return against(
        inTurn(...active, { json: { ...JOB, status: "failed" } }),
        async ({ agentJobs }) => {
          const waits = skipWaits(context);
          assert.equal((await agentJobs.wait("j1")).status, "failed");
          assert.equal(waits.length, 12);
          assertBetween(waits[0], 2000, 2500);
          assertBetween(waits[1], 3000, 3750);
          for (const wait of waits) assertBetween(wait, 2000, 30_000);
          assertBetween(waits[11], 22_500, 30_000);
        },
      );
    },
  );

  when(
    "the timeout of a wait passes",
    "it rejects with JobWaitTimeoutError, which has the last known job",
    () =>
      against({ json: JOB }, async ({ agentJobs }) => {
        const wait = agentJobs.wait("j1", { timeout: 3_000 });
        const error = await rejectionOf(wait, "JobWaitTimeoutError");
        assert.ok(error instanceof quillgate.TimeoutError);
        assert.equal(error.timeout, 3_000);
        assert.equal(error.job.id, "j1");
        assert.equal(error.job.status, "active");
      }),
  );

  when("a poll fails temporarily", "polling continues", (context) =>
    against(
      inTurn(
        { json: JOB },
        { status: 503 },
        { text: "", cut: true },
        { json: { ...JOB, status: "archived" } },
      ),
      async ({ agentJobs }, { requests }) => {
        skipWaits(context);
        assert.equal((await agentJobs.wait("j1")).status, "archived");
        assert.equal(requests.length, 4);
      },
    ),
  );

  when("a job does not exist", "the wait rejects immediately with NotFoundError", () =>
    against(
      { status: 404, json: { error: "no such job" } },
      async ({ agentJobs }, { requests }) => {
        await rejectionOf(agentJobs.wait("j1"), "NotFoundError");
        assert.equal(requests.length, 1);
      },
    ),
  );

  when("`onUpdate` or `onProgress` throws or rejects", "the call rejects with the same error", () =>
    against({ json: { ...JOB, jobs: [] } }, async ({ agentJobs }) => {
      const own = new Error("own");
      const fail = () => {
        throw own;
      };
      for (const callback of [fail, async () => fail()]) {
        const wait = agentJobs.wait("j1", { onUpdate: callback });
        assert.equal(await rejectionOf(wait), own);
        const all = agentJobs.list().all({ onProgress: callback });
        assert.equal(await rejectionOf(all), own);
      }
    }),
  );

  when("a loop over the changes of a polled job ends early", "no other request is sent", () =>
    against({ json: JOB }, async ({ agentJobs }, { requests }) => {
      for await (const { job, done } of agentJobs.watch("j1")) {
        assert.deepEqual([job.id, done], ["j1", false]);
        break;
      }
      const controller = new AbortController();
      const watch = agentJobs.watch("j1", { signal: controller.signal });
      await watch.next();
      await watch.return();
      assert.equal(requests.length, 2);
    }),
  );

  when("the gateway has no event streams", "the client polls instead", (context) => {
    const respond = ({ path }) =>
      path.endsWith("/events")
        ? { status: 403, json: { title: "no such route" } }
        : { json: { ...JOB, status: "completed" } };
    return againstGateway(respond, async (client, { requests }) => {
      skipWaits(context);
      assert.equal((await client.agentJobs.wait("j1")).status, "completed");
      assert.equal((await client.agentJobs.wait("j1")).status, "completed");
      const paths = requests.map(({ path }) => path.replace("/v2/agent/acme/job/", ""));
      assert.deepEqual(paths, ["j1/events", "j1", "j1"]);
    });
  });
});
