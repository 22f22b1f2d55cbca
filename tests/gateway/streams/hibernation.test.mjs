import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { until } from "../analytics_requests.mjs";
import { CLOCK_RATE, isNow, useJobs } from "../jobs_gateway.mjs";
import { PROJECT } from "../recorded_gateway.mjs";
import { BUILT_SCRIPT, configWith } from "../wrangler_config.mjs";

const WATCHERS = 100;
/** workerd evicts an object 10 s of real time after its last request or alarm. */
const EVICTION_MS = 10_000;
/** After this time without requests and alarms, an object has certainly been evicted. */
const QUIET_MS = EVICTION_MS + 2500;
/** How long a slow machine may take to open the streams. */
const OPENING_MS = 14_000;
/** The polling interval is long enough that the runtime evicts the object between two alarms. */
const POLL_SECONDS = Math.ceil((CLOCK_RATE * (QUIET_MS + OPENING_MS)) / 1000);
/** With the maximum polling interval, no alarm fires during the test. */
const MAX_POLL_SECONDS = 300;
/** Projects whose objects are evicted at the same time. */
const FOLLOWED = "followed-docs";
const LEFT = "left-docs";
const LISTED = "listed-docs";
const EXPIRING = "expiring-docs";
/** How late the alarm of an evicted object may end a stream, in seconds of the gateway's clock. */
const EXPIRY_PATIENCE_S = 60;

/** The gateway's script. It also logs a line whenever the runtime constructs a Durable Object. */
const config = configWith({
  source: `
    import * as built from ${JSON.stringify(BUILT_SCRIPT)};

    function logConstruction(Class, name) {
      return new Proxy(Class, {
        construct(target, args, newTarget) {
          console.log("constructed " + name + " " + args[0].id.name + ";");
          return Reflect.construct(target, args, newTarget);
        },
      });
    }

    export const OrgGate = logConstruction(built.OrgGate, "OrgGate");
    export const ProjectGate = logConstruction(built.ProjectGate, "ProjectGate");
    export const { Session } = built;
    export default built.default;
  `,
});
const pollEvery = (seconds) => ({
  config,
  projects: [PROJECT, FOLLOWED, LEFT, LISTED, EXPIRING],
  vars: { JOB_POLL_SECONDS: String(seconds), UPSTREAM_TIMEOUT_SECONDS: "100" },
});
/** A gateway whose alarms poll the watched jobs. */
const polling = useJobs("hibernation", pollEvery(POLL_SECONDS));
/** A gateway without alarms. */
const quiet = useJobs("hibernation-quiet", pollEvery(MAX_POLL_SECONDS));

function untilAllHave(streams, status) {
  return Promise.all(streams.map((stream) => stream.event(isNow(status))));
}

function assertEachOnce(streams, statuses) {
  const eventsOf = ({ events }) => events.map(({ lastEventId, data }) => [lastEventId, data]);
  const expected = statuses.map((status, index) => [String(index + 1), status]);
  const [first] = streams;
  const seen = eventsOf(first).map(([id, data]) => [id, JSON.parse(data).status]);
  assert.deepEqual(seen, expected);
  for (const stream of streams) assert.deepEqual(eventsOf(stream), eventsOf(first));
}

/** Returns the number of times that the runtime has constructed the object of a project. */
function constructions(jobs, project = PROJECT) {
  return jobs.gate.gateway.log().split(`constructed ProjectGate ${project};`).length - 1;
}

async function assertConstructedOnce(jobs, earlier, project) {
  const count = () => constructions(jobs, project);
  await until(() => count() > earlier);
  assert.equal(count(), earlier + 1, "the object is evicted and constructed once");
}

describe(`an evicted object with ${WATCHERS} watchers`, { concurrency: true }, () => {
  test("sends a change once to every watcher when an alarm wakes an evicted object", async () => {
    const jobs = polling;
    const { id } = await jobs.create();
    const streams = await jobs.watchMany(WATCHERS, id);
    const earlier = constructions(jobs);
    const { count } = await jobs.reads(id);
    await jobs.upstream.setJob(id, { status: "completed" });
    await untilAllHave(streams, "completed");
    await assertConstructedOnce(jobs, earlier);
    assert.equal((await jobs.reads(id)).count, count + 1, "the job is polled once");
    for (const stream of streams) assert.equal(await stream.ended, "clean");
    assertEachOnce(streams, ["active", "completed"]);
    for (const { comments } of streams) {
      assert.ok(comments.length >= 1, "the stream has heartbeats while the object is evicted");
    }
  });

  test("sends a change once to every watcher when a follow-up wakes an evicted object", async () => {
    const [jobs, project] = [quiet, FOLLOWED];
    const job = await jobs.create("be evicted", { project });
    const streams = await jobs.watchMany(WATCHERS, job.id, { project });
    const earlier = constructions(jobs, project);
    await sleep(QUIET_MS);
    assert.equal(constructions(jobs, project), earlier, "the object stays evicted");

    const fault = { kind: "json", status: 200, body: { ...job, status: "planning" } };
    await jobs.upstream.fault({ operation: "agentJobs.sendMessage", fault });
    await jobs.followUp(job.id, "and more", { project });
    await untilAllHave(streams, "planning");
    await assertConstructedOnce(jobs, earlier, project);
    assert.equal((await jobs.health(project)).watchers, WATCHERS);
    assert.equal((await jobs.reads(job.id)).count, 0, "the job is not polled");
    assertEachOnce(streams, ["active", "planning"]);
    for (const stream of streams) stream.leave();
  });

  test("removes every watcher that has left while the object was evicted", async () => {
    const [jobs, project] = [quiet, LEFT];
    const { id } = await jobs.create("be left", { project });
    const streams = await jobs.watchMany(WATCHERS, id, { project });
    const earlier = constructions(jobs, project);
    await sleep(QUIET_MS);
    for (const stream of streams) stream.leave();
    await jobs.untilHealth(({ watchers }) => watchers === 0, project);
    await assertConstructedOnce(jobs, earlier, project);
  });

  test("ends a stream when its token expires while the object is evicted, and no other", async () => {
    const [jobs, project] = [quiet, EXPIRING];
    const { id } = await jobs.create("watch me", { project });
    const other = await jobs.watching(id, { project });
    const exp = Math.ceil((jobs.gate.now() + CLOCK_RATE * (QUIET_MS + OPENING_MS)) / 1000);
    const authorization = `Bearer ${jobs.gate.token({ exp, projects: [project] })}`;
    const stream = await jobs.watching(id, { project, authorization });
    const earlier = constructions(jobs, project);
    assert.equal(await stream.ended, "clean");
    assert.ok(jobs.gate.now() < (exp + EXPIRY_PATIENCE_S) * 1000, "it ends when the token expires");
    await assertConstructedOnce(jobs, earlier, project);
    assert.equal(other.isOver, false);
    other.leave();
  });

  test("sends a new job once to every watcher of the list when it wakes an evicted object", async () => {
    const [jobs, project] = [quiet, LISTED];
    const watch = () => jobs.watchingAll({ project });
    const streams = await Promise.all(Array.from({ length: WATCHERS }, watch));
    const earlier = constructions(jobs, project);
    await sleep(QUIET_MS);
    assert.equal(constructions(jobs, project), earlier, "the object stays evicted");

    const { id } = await jobs.create("wake up", { project });
    await untilAllHave(streams, "active");
    await assertConstructedOnce(jobs, earlier, project);
    for (const { events, isOver } of streams) {
      const received = events.map(({ lastEventId, data }) => [lastEventId, JSON.parse(data).id]);
      assert.deepEqual(received, [["1", id]]);
      assert.equal(isOver, false);
    }
    assert.equal((await jobs.reads(id)).count, 0, "the job is not polled");
    for (const stream of streams) stream.leave();
  });
});
