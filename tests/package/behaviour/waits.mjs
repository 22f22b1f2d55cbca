/** Waiting for a job by polling. */
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

describe("when a job is waited for", () => {
  when(
    "its status is unknown",
    "it is told and waited on, with at least 5 s between looks",
    (context) =>
      against(
        inTurn(
          { json: { ...JOB, status: "paused" } },
          { json: { ...JOB, status: null } },
          { json: { ...JOB, status: "completed" } },
        ),
        async ({ agentJobs }, { requests }) => {
          const waits = hurry(context);
          const seen = [];
          const job = await agentJobs.wait("j1", { onUpdate: ({ status }) => seen.push(status) });
          assert.equal(job.status, "completed");
          assert.deepEqual(seen, ["paused", null, "completed"]);
          assert.equal(requests.length, 3);
          for (const wait of waits) between(wait, 5000, 6250);
        },
      ),
  );

  when(
    "it is active",
    "it is looked at after 2 s, then at growing intervals of up to 30 s",
    (context) => {
      const active = Array.from({ length: 12 }, () => ({ json: JOB }));
      return against(
        inTurn(...active, { json: { ...JOB, status: "failed" } }),
        async ({ agentJobs }) => {
          const waits = hurry(context);
          assert.equal((await agentJobs.wait("j1")).status, "failed");
          assert.equal(waits.length, 12);
          between(waits[0], 2000, 2500);
          between(waits[1], 3000, 3750);
          for (const wait of waits) between(wait, 2000, 30_000);
          between(waits[11], 22_500, 30_000);
        },
      );
    },
  );

  when("the time runs out", "JobWaitTimeoutError with the job as last seen", () =>
    against({ json: JOB }, async ({ agentJobs }) => {
      const error = await rejected(agentJobs.wait("j1", { timeout: 100 }));
      assert.ok(error instanceof quillgate.JobWaitTimeoutError);
      assert.equal(error.job.id, "j1");
      assert.equal(error.job.status, "active");
    }),
  );

  when("a look fails in a way that may pass", "it is waited on", (context) =>
    against(
      inTurn(
        { json: JOB },
        { status: 503 },
        { text: "", cut: true },
        { json: { ...JOB, status: "archived" } },
      ),
      async ({ agentJobs }, { requests }) => {
        hurry(context);
        assert.equal((await agentJobs.wait("j1")).status, "archived");
        assert.equal(requests.length, 4);
      },
    ),
  );

  when("there is no such job", "NotFoundError at once", () =>
    against(
      { status: 404, json: { error: "no such job" } },
      async ({ agentJobs }, { requests }) => {
        assert.ok((await rejected(agentJobs.wait("j1"))) instanceof quillgate.NotFoundError);
        assert.equal(requests.length, 1);
      },
    ),
  );

  when("`onUpdate` throws", "the wait ends with what it threw", () =>
    against({ json: JOB }, async ({ agentJobs }) => {
      const own = new Error("own");
      const onUpdate = () => {
        throw own;
      };
      assert.equal(await rejected(agentJobs.wait("j1", { onUpdate })), own);
    }),
  );

  when("a watch is left early", "nothing more is sent, and nothing keeps the process alive", () =>
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

  when("the other side is a gateway without event streams", "it is polled instead", (context) => {
    const answer = ({ path }) =>
      path.endsWith("/events")
        ? { status: 404, json: { title: "no such route" } }
        : { json: { ...JOB, status: "completed" } };
    return against(
      answer,
      async (client, { requests }) => {
        hurry(context);
        assert.equal((await client.agentJobs.wait("j1")).status, "completed");
        assert.equal((await client.agentJobs.wait("j1")).status, "completed");
        assert.deepEqual(
          requests.map(({ path }) => path.replace("/v2/agent/acme/job/", "")),
          ["j1/events", "j1", "j1"],
        );
      },
      GATEWAY,
    );
  });
});
