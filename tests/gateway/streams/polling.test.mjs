import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isNow, OTHER_PROJECT, useJobs } from "../jobs_gateway.mjs";
import { before, PROJECT } from "../recorded_gateway.mjs";
import { assertApart, CLOCK_TOLERANCE_MS, INTERVAL_MS, states } from "../watched_jobs.mjs";

const SLOW_INTERVAL_S = 3;
/** Only one test uses this project, because the test counts the project's watchers. */
const OWN_PROJECT = "own-docs";

const jobs = useJobs("polling", { projects: [PROJECT, OTHER_PROJECT, OWN_PROJECT] });
/** This gateway has a longer polling interval, and an upstream timeout that no test reaches. */
const slow = useJobs("polling-slow", {
  vars: { JOB_POLL_SECONDS: String(SLOW_INTERVAL_S), UPSTREAM_TIMEOUT_SECONDS: "300" },
});
let quietJob;
let quietStream;

before(async () => {
  quietJob = await jobs.create("be quiet", { project: OTHER_PROJECT });
  quietStream = jobs.watch(quietJob.id, { project: OTHER_PROJECT });
  const left = await jobs.watchMany(30, quietJob.id, { project: OTHER_PROJECT });
  assert.equal((await jobs.health(OTHER_PROJECT)).watchers, 31);
  for (const stream of left) stream.leave();
});

test("stops polling a job when all its watchers have disconnected", async () => {
  const [left, clock] = [await jobs.create(), await jobs.create()];
  const streams = await jobs.watchMany(5, left.id);
  const ticking = await jobs.watching(clock.id);
  for (const stream of streams) stream.leave();
  // The runtime notices disconnected clients only when it writes to their streams, so the test
  // changes the job.
  await jobs.upstream.setJob(left.id, { status: "planning" });
  await jobs.untilHealth(({ watchers }) => watchers === 1);
  // A poll of the first job may be in flight. After two more reads of the other job, that poll
  // has finished.
  await jobs.untilReads(clock.id, 2);
  const { count } = await jobs.reads(left.id);
  await jobs.untilReads(clock.id, 3);
  assert.equal((await jobs.reads(left.id)).count, count);
  ticking.leave();
});

describe("slow tests, run concurrently", { concurrency: true }, () => {
  test("removes streams whose clients disconnected before the first event", async () => {
    const project = OWN_PROJECT;
    const { id } = await jobs.directly("read slowly", { project });
    await jobs.upstream.hold({ operation: "agentJobs.get", target: id });
    const left = Array.from({ length: 5 }, () => jobs.watch(id, { project }));
    await jobs.upstream.untilHeld(1);
    for (const stream of left) stream.leave();
    await jobs.upstream.release();
    const remaining = await jobs.watching(id, { project });
    await jobs.untilHealth(({ watchers }) => watchers === 1, project);
    remaining.leave();
  });

  describe("an upstream that fails while a job is watched", { concurrency: true }, () => {
    const FAILURES = 2;

    for (const [what, fault, readsEach] of [
      ["500", { kind: "status", status: 500 }, 1],
      ["a truncated body", { kind: "cutBody" }, 1],
      // The gateway immediately retries a GET once after a reset, but not after a timeout.
      ["a reset", { kind: "reset" }, 2],
      ["no response", { kind: "hang" }, 1],
    ]) {
      test(`keeps a stream open and backs off its polls while the upstream fails: ${what}`, async () => {
        const { id } = await jobs.create();
        await jobs.upstream.fault({ target: id, times: FAILURES * readsEach, fault });
        await jobs.upstream.setJob(id, { status: "planning" });
        const stream = await jobs.watching(id);
        await stream.event(isNow("planning"));
        assert.deepEqual(states(stream), ["active", "planning"]);
        const { at } = await jobs.reads(id);
        // Each failed poll has `readsEach` attempts. The next poll succeeds with its first attempt.
        const polls = at.filter((_, index) => index % readsEach === 0);
        const assertAtLeast = (gap, expected) =>
          assert.ok(gap >= expected - CLOCK_TOLERANCE_MS, `${gap} ms`);
        assertAtLeast(polls[1] - polls[0], 2 * INTERVAL_MS);
        assertAtLeast(polls[2] - polls[1], 4 * INTERVAL_MS);
        // Polling continues at the normal interval.
        await jobs.change(id, { status: "completed" }, stream);
        assert.equal(await stream.ended, "clean");
      });
    }
  });

  test("polls a job on time while the poll of another job hangs", async () => {
    const [stuck, lively] = [await slow.create(), await slow.create()];
    const streams = [await slow.watching(stuck.id), await slow.watching(lively.id)];
    await slow.upstream.hold({ operation: "agentJobs.get", target: stuck.id });
    await slow.upstream.untilHeld(1);
    await slow.upstream.setJob(lively.id, { status: "planning" });
    // The poll of the other job must not wait for the timeout of the held poll.
    await streams[1].event(isNow("planning"), 30_000).finally(() => slow.upstream.release());
    for (const stream of streams) stream.leave();
  });
});

test("sends a quiet stream only a heartbeat comment every 15 s", async () => {
  await quietStream.until(({ comments }) => comments.length > 0);
  assert.deepEqual([quietStream.retry, states(quietStream)], [3000, ["active"]]);
  assert.equal(quietStream.comments[0].text.trim(), "hb");
  assertApart(await jobs.reads(quietJob.id));
});
