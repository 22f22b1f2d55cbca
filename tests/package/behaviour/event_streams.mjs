/** How a client follows the changes of a job in the event stream of a gateway. */
import assert from "node:assert/strict";
import { inspect } from "node:util";
import {
  against,
  describe,
  GATEWAY,
  inTurn,
  JOB,
  quillgate,
  rejectionOf,
  skipWaits,
  TOKEN,
  when,
} from "./fixtures.mjs";

describe("Event streams of a gateway", () => {
  const STREAM = { "content-type": "text/event-stream" };

  function event(id, status) {
    return `id: ${id}\nevent: job\ndata: ${JSON.stringify({ ...JOB, status })}\n\n`;
  }

  when("the stream lasts until the job ends", "one request is sent", () =>
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

  when(
    "the stream breaks during an event",
    "the client reconnects after the last complete event",
    (context) => {
      const broken = {
        headers: STREAM,
        text: `${event(7, "active")}event: job\ndata: {"id":`,
        cut: true,
      };
      const rest = { headers: STREAM, text: event(8, "failed") };
      return against(
        inTurn(broken, rest),
        async ({ agentJobs }, { requests }) => {
          skipWaits(context);
          const seen = [];
          for await (const { job } of agentJobs.watch("j1")) seen.push(job.status);
          assert.deepEqual(seen, ["active", "failed"]);
          const ids = requests.map(({ headers }) => headers["last-event-id"]);
          assert.deepEqual(ids, [undefined, "7"]);
        },
        GATEWAY,
      );
    },
  );

  when("a loop over streamed changes ends early", "the stream is closed", () =>
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
    "the timeout of a wait passes during the stream",
    "it polls once more and rejects with JobWaitTimeoutError, which has the last known job",
    () =>
      against(
        inTurn({ headers: STREAM, text: event(1, "active"), stall: "body" }, { json: JOB }),
        async ({ agentJobs }, { requests }) => {
          const error = await rejectionOf(agentJobs.wait("j1", { timeout: 3_000 }));
          assert.ok(error instanceof quillgate.JobWaitTimeoutError, inspect(error));
          assert.equal(error.job.status, "active");
          assert.equal(error.timeout, 3_000);
          assert.equal(requests.length, 2);
          assert.equal(await requests[0].ended, false);
        },
        GATEWAY,
      ),
  );

  when(
    "a wait is aborted during the stream",
    "it rejects with the signal's reason and closes the stream",
    () =>
      against(
        { headers: STREAM, text: event(1, "active"), stall: "body" },
        async ({ agentJobs }, { requests }) => {
          const reason = { kind: "timeout" };
          const controller = new AbortController();
          const onUpdate = () => setImmediate(() => controller.abort(reason));
          const wait = agentJobs.wait("j1", { onUpdate, signal: controller.signal });
          assert.equal(await rejectionOf(wait), reason);
          assert.equal(await requests[0].ended, false);
        },
        GATEWAY,
      ),
  );

  when(
    "a streamed job has an unexpected shape",
    "the wait rejects with DecodeError, which names the path in the JSON",
    () =>
      against(
        { headers: STREAM, text: 'event: job\ndata: {"id":7}\n\n' },
        async ({ agentJobs }) => {
          const error = await rejectionOf(agentJobs.wait("j1"));
          assert.ok(error instanceof quillgate.DecodeError, inspect(error));
          assert.equal(error.path, "id");
        },
        GATEWAY,
      ),
  );

  when(
    "a streamed job is not valid JSON",
    "the wait rejects with DecodeError and sends no other request",
    () =>
      against(
        { headers: STREAM, text: 'event: job\ndata: {"id":\n\n' },
        async ({ agentJobs }, { requests }) => {
          const error = await rejectionOf(agentJobs.wait("j1"));
          assert.ok(error instanceof quillgate.DecodeError, inspect(error));
          assert.equal(error.message, "the body must be JSON");
          assert.equal(requests.length, 1);
        },
        GATEWAY,
      ),
  );
});
