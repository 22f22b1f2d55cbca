import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { useJobs } from "../jobs_gateway.mjs";
import { assertApart, CLOCK_TOLERANCE_MS } from "../watched_jobs.mjs";

// At the usual rate, a long poll of 25 s could end during a test on a busy machine.
const jobs = useJobs("long-poll", { clockRate: 2 });

describe("a long poll", { concurrency: true }, () => {
  const prefer = (seconds) => [["Prefer", `wait=${seconds}`]];
  const poll = (id, seconds) => jobs.get(jobs.path(id), prefer(seconds));

  function assertPolled(answer, { status, seconds, seq }) {
    assert.deepEqual([answer.status, answer.complete], [200, true], answer.text);
    assert.match(answer.header("content-type"), /^application\/json/);
    assert.equal(answer.json.status, status);
    assert.equal(answer.header("preference-applied"), `wait=${seconds}`);
    assert.equal(answer.header("etag"), `"${seq}"`);
    assert.equal(answer.header("cache-control"), "no-store");
    assert.equal(answer.header("vary"), "Origin, Prefer");
    assert.ok(answer.header("x-request-id"));
  }

  /** Opens a long poll for another job, which does not change until `act` has finished. */
  async function beforeIdlePoll(act) {
    const { id } = await jobs.create();
    const { authorization } = jobs;
    const request = { target: jobs.path(id), headers: prefer(25), authorization };
    const idle = jobs.gate.open(jobs.gate.bytes(request));
    const result = await act();
    assert.equal(idle.answer.hasHead, false, "the idle long poll still waits");
    await jobs.upstream.setJob(id, { status: "completed" });
    const late = await idle.until(({ complete }) => complete);
    assertPolled(late, { status: "completed", seconds: 25, seq: 2 });
    return result;
  }

  test("responds to a long poll when the job changes", async () => {
    const { id } = await jobs.create();
    const answer = await beforeIdlePoll(async () => {
      const waiting = poll(id, 24);
      // A read upstream shows that the gateway watches the job.
      await jobs.untilReads(id, 1);
      await jobs.upstream.setJob(id, { status: "planning" });
      return await waiting;
    });
    assertPolled(answer, { status: "planning", seconds: 24, seq: 2 });
  });

  test("returns the current state when a long poll's time is up, and not earlier", async () => {
    const { id } = await jobs.create();
    const startedAt = jobs.gate.now();
    const answer = await poll(id, 1);
    assert.ok(jobs.gate.now() - startedAt >= 1000 - CLOCK_TOLERANCE_MS);
    assertPolled(answer, { status: "active", seconds: 1, seq: 1 });
  });

  test("reads a job once per interval for 60 long polls, and sends all of them the change", async () => {
    const { id } = await jobs.create();
    const waiting = Array.from({ length: 60 }, () => poll(id, 25));
    await jobs.untilReads(id, 2);
    await jobs.upstream.setJob(id, { status: "completed" });
    for (const answer of await Promise.all(waiting)) {
      assertPolled(answer, { status: "completed", seconds: 25, seq: 2 });
    }
    assertApart(await jobs.reads(id));
  });
});
