/**
 * Long polling. With `Prefer: wait`, the gateway delays its response until the job changes or the
 * requested time ends. It caps this time at 25 seconds, and responds immediately if the job has
 * finished.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { assertCommonHead, assertProblem } from "../recorded_gateway.mjs";
import { assertApart, CLOCK_TOLERANCE_MS, change, jobs, startWatched } from "../watched_jobs.mjs";

// At the usual rate, a long poll of 25 s could end during a test on a busy machine.
before(() => startWatched("long-poll", { clockRate: 2 }));
after(() => jobs?.stop());

describe("a long poll", { concurrency: true }, () => {
  const prefer = (value) => ["Prefer", value];
  const poll = (id, headers) => jobs.get(jobs.path(id), headers);
  const status = (answer) => answer.json.status;

  function assertPolled(answer, { status: expected, seconds, seq }) {
    assert.deepEqual([answer.status, answer.complete], [200, true], answer.text);
    assert.match(answer.header("content-type"), /^application\/json/);
    assert.equal(status(answer), expected);
    assert.equal(answer.header("preference-applied"), `wait=${seconds}`);
    assert.equal(answer.header("etag"), `"${seq}"`);
    assert.equal(answer.header("cache-control"), "no-store");
    assert.equal(answer.header("vary"), "Origin, Prefer");
    assert.ok(answer.header("x-request-id"));
  }

  /**
   * Opens a long poll for another job, which does not change until `act` has finished. Asserts that
   * the long poll still waits then. Returns the result of `act`.
   */
  async function beforeIdlePoll(act) {
    const { id } = await jobs.create();
    const { authorization } = jobs;
    const headers = [prefer("wait=25")];
    const target = jobs.path(id);
    const idle = jobs.gate.open(jobs.gate.bytes({ target, headers, authorization }));
    const result = await act();
    assert.equal(idle.answer.hasHead, false, "the idle long poll still waits");
    await jobs.upstream.setJob(id, { status: "completed" });
    assertPolled(await idle.until(({ complete }) => complete), {
      status: "completed",
      seconds: 25,
      seq: 2,
    });
    return result;
  }

  test("responds to a long poll when the job changes", async () => {
    const { id } = await jobs.create();
    const answer = await beforeIdlePoll(async () => {
      const waiting = poll(id, [prefer("wait=24")]);
      // A read upstream shows that the gateway watches the job.
      await jobs.untilReads(id, 1);
      await jobs.upstream.setJob(id, { status: "planning" });
      return await waiting;
    });
    assertPolled(answer, { status: "planning", seconds: 24, seq: 2 });
  });

  test("responds to a long poll immediately when the job has finished", async () => {
    const { id } = await jobs.directly("from elsewhere");
    await jobs.upstream.setJob(id, { status: "failed" });
    const answer = await beforeIdlePoll(() => poll(id, [prefer("wait=20")]));
    assertPolled(answer, { status: "failed", seconds: 20, seq: 1 });
  });

  test("returns the current state when a long poll's time is up, and not earlier", async () => {
    const { id } = await jobs.create();
    const startedAt = jobs.gate.now();
    const answer = await poll(id, [prefer("wait=1")]);
    assert.ok(jobs.gate.now() - startedAt >= 1000 - CLOCK_TOLERANCE_MS);
    assertPolled(answer, { status: "active", seconds: 1, seq: 1 });
  });

  test("responds immediately to a long poll with an older entity tag", async () => {
    const { id } = await jobs.create();
    const stream = await jobs.watching(id);
    await change(id, { status: "planning" }, [stream]);
    for (const known of ['"1"', 'W/"1"']) {
      const headers = [prefer("wait=25"), ["If-None-Match", known]];
      const answer = await beforeIdlePoll(() => poll(id, headers));
      assertPolled(answer, { status: "planning", seconds: 25, seq: 2 });
    }
  });

  test("waits for the next change when a long poll has the current entity tag", async () => {
    const { id } = await jobs.create();
    const headers = [prefer("wait=1"), ["If-None-Match", '"1"']];
    const startedAt = jobs.gate.now();
    assertPolled(await poll(id, headers), { status: "active", seconds: 1, seq: 1 });
    assert.ok(jobs.gate.now() - startedAt >= 1000 - CLOCK_TOLERANCE_MS);
  });

  for (const [preference, seconds] of [
    ["wait=60", 25],
    ["respond-async, wait=3", 3],
  ]) {
    test(`waits as for wait=${seconds} when Prefer is ${preference}`, async () => {
      const { id } = await jobs.directly("from elsewhere");
      await jobs.upstream.setJob(id, { status: "completed" });
      const answer = await poll(id, [prefer(preference)]);
      assertPolled(answer, { status: "completed", seconds, seq: 1 });
    });
  }

  test("returns the current state to each of 20 long polls with wait=0", async () => {
    const { id } = await jobs.create();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => poll(id, [prefer("wait=0")])),
    );
    for (const answer of answers) assertPolled(answer, { status: "active", seconds: 0, seq: 1 });
  });

  for (const preference of [
    ...["wait", "wait=", "wait=abc", "wait=-1", "wait=1.5", "wait=1s", "wait=1 2", "wait=0x10"],
    ...["x-wait=1", "awaits=1", "return=minimal", "", '"wait=1"'],
  ]) {
    test(`reads a job without waiting for the invalid Prefer: ${preference}`, async () => {
      const { id } = await jobs.create();
      const { count } = await jobs.reads(id);
      const answer = await poll(id, [prefer(preference)]);
      assertCommonHead(answer);
      assert.deepEqual([answer.status, status(answer)], [200, "active"]);
      assert.equal(answer.header("preference-applied"), undefined);
      assert.equal((await jobs.reads(id)).count, count + 1);
    });
  }

  test("returns 404 to a long poll of an unknown job", async () => {
    const answer = await poll("unknown", [prefer("wait=25")]);
    assertProblem(answer, 404, "upstream-error");
  });

  test("reads a job once per interval for 60 long polls, and sends all of them the change", async () => {
    const { id } = await jobs.create();
    const waiting = Array.from({ length: 60 }, () => poll(id, [prefer("wait=25")]));
    await jobs.untilReads(id, 2);
    await jobs.upstream.setJob(id, { status: "completed" });
    for (const answer of await Promise.all(waiting)) {
      assertPolled(answer, { status: "completed", seconds: 25, seq: 2 });
    }
    assertApart(await jobs.reads(id));
  });
});
