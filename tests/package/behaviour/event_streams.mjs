/** How a client follows the changes of a job in the event stream of a gateway. */
import assert from "node:assert/strict";
import {
  againstGateway,
  describe,
  inTurn,
  JOB,
  rejectionOf,
  skipWaits,
  TOKEN,
  when,
} from "./fixtures.mjs";

describe("Event streams of a gateway", () => {
  const STREAM = { "content-type": "text/event-stream" };
  const streaming = (text, ending) => ({ headers: STREAM, text, ...ending });

  function event(id, status) {
    return `id: ${id}\nevent: job\ndata: ${JSON.stringify({ ...JOB, status })}\n\n`;
  }

  const active = streaming(event(1, "active"), { stall: "body" });

  when("the stream lasts until the job ends", "one request is sent", () =>
    againstGateway(
      streaming(`: hello\n\n${event(1, "active")}${event(2, "completed")}`),
      async ({ agentJobs }, { requests }) => {
        const seen = [];
        await agentJobs.wait("j1", { onUpdate: ({ status }) => seen.push(status) });
        assert.deepEqual(seen, ["active", "completed"]);
        assert.equal(requests.length, 1);
        assert.equal(requests[0].path, "/v2/agent/acme/job/j1/events");
        assert.equal(requests[0].headers.authorization, `Bearer ${TOKEN}`);
        assert.equal(requests[0].headers.accept, "text/event-stream");
      },
    ),
  );

  when(
    "the stream breaks during an event",
    "the client reconnects after the last complete event",
    (context) => {
      const broken = streaming(`${event(7, "active")}event: job\ndata: {"id":`, { cut: true });
      const rest = streaming(event(8, "failed"));
      return againstGateway(inTurn(broken, rest), async ({ agentJobs }, { requests }) => {
        skipWaits(context);
        const seen = [];
        for await (const { job } of agentJobs.watch("j1")) seen.push(job.status);
        assert.deepEqual(seen, ["active", "failed"]);
        const ids = requests.map(({ headers }) => headers["last-event-id"]);
        assert.deepEqual(ids, [undefined, "7"]);
      });
    },
  );

  when("a loop over streamed changes ends early", "the stream is closed", () =>
    againstGateway(active, async ({ agentJobs }, { requests }) => {
      for await (const { job } of agentJobs.watch("j1")) {
        assert.equal(job.status, "active");
        break;
      }
      assert.equal(await requests[0].ended, false);
      assert.equal(requests.length, 1);
    }),
  );

  when(
    "the timeout of a wait passes during the stream",
    "it polls once more and rejects with JobWaitTimeoutError, which has the last known job",
    () =>
      againstGateway(inTurn(active, { json: JOB }), async ({ agentJobs }, { requests }) => {
        const wait = agentJobs.wait("j1", { timeout: 3_000 });
        const error = await rejectionOf(wait, "JobWaitTimeoutError");
        assert.equal(error.job.status, "active");
        assert.equal(error.timeout, 3_000);
        assert.equal(requests.length, 2);
        assert.equal(await requests[0].ended, false);
      }),
  );

  when(
    "a wait is aborted during the stream",
    "it rejects with the signal's reason and closes the stream",
    () =>
      againstGateway(active, async ({ agentJobs }, { requests }) => {
        const reason = { kind: "timeout" };
        const controller = new AbortController();
        const onUpdate = () => setImmediate(() => controller.abort(reason));
        const wait = agentJobs.wait("j1", { onUpdate, signal: controller.signal });
        assert.equal(await rejectionOf(wait), reason);
        assert.equal(await requests[0].ended, false);
      }),
  );

  when(
    "a streamed job has an unexpected shape",
    "the wait rejects with DecodeError, which names the path in the JSON",
    () =>
      againstGateway(streaming('event: job\ndata: {"id":7}\n\n'), async ({ agentJobs }) => {
        const error = await rejectionOf(agentJobs.wait("j1"), "DecodeError");
        assert.equal(error.path, "id");
      }),
  );

  when(
    "a streamed job is not valid JSON",
    "the wait rejects with DecodeError and sends no other request",
    () =>
      againstGateway(
        streaming('event: job\ndata: {"id":\n\n'),
        async ({ agentJobs }, { requests }) => {
          const error = await rejectionOf(agentJobs.wait("j1"), "DecodeError");
          assert.equal(error.message, "the body must be JSON");
          assert.equal(requests.length, 1);
        },
      ),
  );
});
