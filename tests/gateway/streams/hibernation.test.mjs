/**
 * Hibernation. While watchers are idle, the runtime evicts the Durable Object that they watch but
 * keeps their WebSockets open. For the next change, the runtime constructs the object again, and
 * each watcher receives the change once.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { startJobs } from "../jobs_gateway.mjs";
import { BUILT_SCRIPT, configWith } from "../wrangler_config.mjs";

const WATCHERS = 100;
/** workerd evicts an object 10 s after its last request or alarm. */
const EVICTION_MS = 10_000;
/** After this time without requests and alarms, an object has certainly been evicted. */
const QUIET_MS = EVICTION_MS + 3000;
/** The polling interval is long enough that the runtime evicts the object between two alarms. */
const POLL_SECONDS = 20;
/** With the maximum polling interval, no alarm fires during the test. */
const MAX_POLL_SECONDS = 300;
/**
 * The maximum wait for an event. It exceeds the time between two alarms, even on a busy machine.
 */
const PATIENCE_MS = 60_000;

/** The gateway's script. It also logs a line whenever the runtime constructs a Durable Object. */
const script = {
  source: `
    import * as built from ${JSON.stringify(BUILT_SCRIPT)};

    function logConstruction(Class, name) {
      return new Proxy(Class, {
        construct(target, args, newTarget) {
          console.log("constructed " + name);
          return Reflect.construct(target, args, newTarget);
        },
      });
    }

    export const OrgGate = logConstruction(built.OrgGate, "OrgGate");
    export const ProjectGate = logConstruction(built.ProjectGate, "ProjectGate");
    export const { Session } = built;
    export default built.default;
  `,
};

let derived;
/** A gateway whose alarms poll the watched jobs. */
let polling;
/** A gateway without alarms. */
let quiet;
/** A gateway without alarms, whose list of jobs is watched. */
let listed;

before(async () => {
  derived = configWith(script);
  const { config } = derived;
  const pollEvery = (seconds) => ({ config, vars: { JOB_POLL_SECONDS: String(seconds) } });
  [polling, quiet, listed] = await Promise.all([
    startJobs("hibernation", pollEvery(POLL_SECONDS)),
    startJobs("hibernation-quiet", pollEvery(MAX_POLL_SECONDS)),
    startJobs("hibernation-listed", pollEvery(MAX_POLL_SECONDS)),
  ]);
});
after(async () => {
  await Promise.all([polling?.stop(), quiet?.stop(), listed?.stop()]);
  derived?.dispose();
});

/**
 * Opens {@link WATCHERS} streams of a job. Returns the streams once each has received the job's
 * current state.
 */
function watchMany(jobs, id) {
  return Promise.all(Array.from({ length: WATCHERS }, () => jobs.watching(id)));
}

/** Waits until every stream has received an event with this status. */
function untilAllHave(streams, status) {
  const hasStatus = ({ data }) => JSON.parse(data).status === status;
  return Promise.all(streams.map((stream) => stream.event(hasStatus, PATIENCE_MS)));
}

/** Asserts that every stream received exactly these statuses, in this order. */
function assertEachOnce(streams, statuses) {
  const eventsOf = ({ events }) => events.map(({ lastEventId, data }) => [lastEventId, data]);
  const expected = statuses.map((status, index) => [String(index + 1), status]);
  const [first] = streams;
  const seen = eventsOf(first).map(([id, data]) => [id, JSON.parse(data).status]);
  assert.deepEqual(seen, expected);
  for (const stream of streams) assert.deepEqual(eventsOf(stream), eventsOf(first));
}

/** Returns the number of times that the runtime has constructed the project object. */
function constructions(jobs) {
  return jobs.gate.gateway.log().split("constructed ProjectGate").length - 1;
}

/**
 * Waits until the runtime has constructed the object more than `earlier` times. Asserts that the
 * number of constructions has grown by one.
 */
async function assertConstructedOnce(jobs, earlier) {
  const deadline = performance.now() + PATIENCE_MS;
  while (constructions(jobs) === earlier && performance.now() < deadline) await sleep(20);
  assert.equal(constructions(jobs), earlier + 1, "the object is evicted and constructed once");
}

describe(`an evicted object with ${WATCHERS} watchers`, { concurrency: true }, () => {
  test("sends a change once to every watcher when an alarm wakes an evicted object", async () => {
    const jobs = polling;
    const { id } = await jobs.create();
    const streams = await watchMany(jobs, id);
    const changes = ["planning", "completed"];
    for (const status of changes) {
      const earlier = constructions(jobs);
      const { count } = await jobs.reads(id);
      await jobs.upstream.setJob(id, { status });
      await untilAllHave(streams, status);
      await assertConstructedOnce(jobs, earlier);
      assert.equal((await jobs.reads(id)).count, count + 1, "the job is polled once");
    }
    for (const stream of streams) assert.equal(await stream.ended, "clean");
    assertEachOnce(streams, ["active", ...changes]);
    for (const { comments } of streams) {
      assert.ok(comments.length >= 1, "the stream has heartbeats while the object is evicted");
    }
  });

  test("sends a change once to every watcher when a follow-up wakes an evicted object", async () => {
    const jobs = quiet;
    const job = await jobs.create();
    const streams = await watchMany(jobs, job.id);
    const earlier = constructions(jobs);
    await sleep(QUIET_MS);
    assert.equal(constructions(jobs), earlier, "the object stays evicted");

    const fault = { kind: "json", status: 200, body: { ...job, status: "planning" } };
    await jobs.upstream.fault({ operation: "agentJobs.sendMessage", fault });
    await jobs.followUp(job.id);
    await untilAllHave(streams, "planning");
    await assertConstructedOnce(jobs, earlier);
    assert.equal((await jobs.health()).watchers, WATCHERS);
    assert.equal((await jobs.reads(job.id)).count, 0, "the job is not polled");
    assertEachOnce(streams, ["active", "planning"]);

    await sleep(QUIET_MS);
    for (const stream of streams) stream.leave();
    await jobs.untilHealth(({ watchers }) => watchers === 0);
    await assertConstructedOnce(jobs, earlier + 1);
  });

  test("sends a new job once to every watcher of the list when it wakes an evicted object", async () => {
    const jobs = listed;
    const streams = await Promise.all(Array.from({ length: WATCHERS }, () => jobs.watchingAll()));
    const earlier = constructions(jobs);
    await sleep(QUIET_MS);
    assert.equal(constructions(jobs), earlier, "the object stays evicted");

    const { id } = await jobs.create("wake up");
    await untilAllHave(streams, "active");
    await assertConstructedOnce(jobs, earlier);
    for (const { events, isOver } of streams) {
      assert.deepEqual(
        events.map(({ lastEventId, data }) => [lastEventId, JSON.parse(data).id]),
        [["1", id]],
      );
      assert.equal(isOver, false);
    }
    assert.equal((await jobs.reads(id)).count, 0, "the job is not polled");
    for (const stream of streams) stream.leave();
  });
});

test("keeps the admin key, the secret and tokens out of responses and the logs", () =>
  Promise.all([polling, quiet, listed].map((jobs) => jobs.assertDiscreet())));
