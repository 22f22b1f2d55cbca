/** A job's changes over a gateway's event stream. */
import assert from "node:assert/strict";
import { inspect } from "node:util";
import {
  against,
  describe,
  GATEWAY,
  hurry,
  inTurn,
  JOB,
  quillgate,
  rejected,
  TOKEN,
  when,
} from "./fixtures.mjs";

describe("when a gateway streams a job's changes", () => {
  const STREAM = { "content-type": "text/event-stream" };

  function event(id, status) {
    return `id: ${id}\nevent: job\ndata: ${JSON.stringify({ ...JOB, status })}\n\n`;
  }

  when("it streams to the job's end", "one request is all that is sent", () =>
    against(
      { headers: STREAM, text: `: hello\n\n${event(1, "active")}${event(2, "completed")}` },
      async ({ agentJobs }, { requests }) => {
        const seen = [];
        await agentJobs.wait("j1", { onUpdate: ({ status }) => seen.push(status) });
        assert.deepEqual(seen, ["active", "completed"]);
        assert.equal(requests.length, 1);
        assert.equal(requests[0].path, "/v2/agent/acme/job/j1/events");
        assert.equal(requests[0].headers.authorization, `Bearer ${TOKEN}`);
        assert.equal(requests[0].headers.accept, "text/event-stream");
      },
      GATEWAY,
    ),
  );

  when("it breaks in the middle of an event", "it goes on after the last whole one", (context) => {
    const broken = {
      headers: STREAM,
      text: `${event(7, "active")}event: job\ndata: {"id":`,
      cut: true,
    };
    const rest = { headers: STREAM, text: event(8, "failed") };
    return against(
      inTurn(broken, rest),
      async ({ agentJobs }, { requests }) => {
        hurry(context);
        const seen = [];
        for await (const { job } of agentJobs.watch("j1")) seen.push(job.status);
        assert.deepEqual(seen, ["active", "failed"]);
        assert.deepEqual(
          requests.map(({ headers }) => headers["last-event-id"]),
          [undefined, "7"],
        );
      },
      GATEWAY,
    );
  });

  when("a watch is left early", "the stream is closed", () =>
    against(
      { headers: STREAM, text: event(1, "active"), stall: "body" },
      async ({ agentJobs }, { requests }) => {
        for await (const { job } of agentJobs.watch("j1")) {
          assert.equal(job.status, "active");
          break;
        }
        assert.equal(await requests[0].ended, false);
        assert.equal(requests.length, 1);
      },
      GATEWAY,
    ),
  );

  when(
    "the time runs out",
    "JobWaitTimeoutError with the job as last seen; the stream is closed",
    () =>
      against(
        { headers: STREAM, text: event(1, "active"), stall: "body" },
        async ({ agentJobs }, { requests }) => {
          const error = await rejected(agentJobs.wait("j1", { timeout: 500 }));
          assert.ok(error instanceof quillgate.JobWaitTimeoutError, inspect(error));
          assert.equal(error.job.status, "active");
          assert.equal(await requests[0].ended, false);
        },
        GATEWAY,
      ),
  );

  when("it is aborted", "the signal's own reason; the stream is closed", () =>
    against(
      { headers: STREAM, text: event(1, "active"), stall: "body" },
      async ({ agentJobs }, { requests }) => {
        const reason = { kind: "timeout" };
        const controller = new AbortController();
        const onUpdate = () => setImmediate(() => controller.abort(reason));
        const wait = agentJobs.wait("j1", { onUpdate, signal: controller.signal });
        assert.equal(await rejected(wait), reason);
        assert.equal(await requests[0].ended, false);
      },
      GATEWAY,
    ),
  );

  when("what it streams is no job", "DecodeError that names the place", () =>
    against(
      { headers: STREAM, text: 'event: job\ndata: {"id":7}\n\n' },
      async ({ agentJobs }) => {
        const error = await rejected(agentJobs.wait("j1"));
        assert.ok(error instanceof quillgate.DecodeError, inspect(error));
        assert.equal(error.where, "id");
      },
      GATEWAY,
    ),
  );
});
