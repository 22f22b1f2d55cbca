import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Receiver } from "../../harness/receiver.mjs";
import { until } from "../analytics_requests.mjs";
import { hook, idsOf, OTHER_PROJECT, useJobs, webhookVars } from "../jobs_gateway.mjs";
import { PROJECT, useServer } from "../recorded_gateway.mjs";

const LIMIT_S = 15;
/** A project in which a `Retry-After` from the upstream delays polls. */
const DELAYED = "delayed-docs";

const receiver = useServer(new Receiver());
const jobs = useJobs("polls", { projects: [PROJECT, OTHER_PROJECT, DELAYED] });
/** A gateway that stops polling a job after a few seconds. */
const impatient = useJobs("polls-limited", () => ({
  vars: { JOB_POLL_LIMIT_SECONDS: String(LIMIT_S), ...webhookVars(receiver) },
}));

const states = (stream) =>
  stream.events.filter(({ type }) => type === "job").map(({ data }) => JSON.parse(data).status);

describe("Retry-After in response to a poll", () => {
  /** Makes the next poll of a job fail with a long `Retry-After`, and waits for that poll. */
  async function failNextPoll(id, status) {
    const countFailures = ({ byStatus }) => byStatus[status] ?? 0;
    const before = countFailures(await jobs.upstream.counters());
    const fault = { kind: "status", status, headers: { "retry-after": "3600" } };
    await jobs.upstream.fault({ target: id, times: 1, fault });
    await jobs.gate.untilCounters((counters) => countFailures(counters) > before);
  }

  test("honors the Retry-After of a 429 before every further poll of the job, also after a restart", async () => {
    const project = DELAYED;
    const { id } = await jobs.create(undefined, { project });
    const stream = await jobs.watching(id, { project });
    await failNextPoll(id, 429);
    const { count: settled } = await jobs.reads(id);
    await jobs.waitIntervals(5);
    assert.equal((await jobs.reads(id)).count, settled, "reads while the job is watched");

    // Lists and new watchers get the last known state without an additional poll.
    assert.ok(idsOf((await jobs.list({}, { project })).jobs).includes(id));
    const other = await jobs.watching(id, { project });
    assert.deepEqual(states(other), ["active"]);
    assert.equal((await jobs.reads(id)).count, settled, "reads after a list and a new watcher");

    await jobs.restart("kill", () => Promise.all([stream.ended, other.ended]));
    const again = await jobs.watching(id, { project });
    await jobs.waitIntervals(4);
    assert.equal((await jobs.reads(id)).count, settled, "reads after a restart");
    again.leave();
    await jobs.upstream.setJob(id, { status: "completed" });
  });

  test("delays the polls of all jobs after a 429, but no creation", async () => {
    const project = DELAYED;
    const { id } = await jobs.create(undefined, { project });
    const stream = await jobs.watching(id, { project });
    await jobs.waitIntervals(3);
    assert.equal((await jobs.reads(id)).count, 0);
    stream.leave();
  });
});

describe("a job that does not finish", () => {
  const isEnd = ({ type }) => type === "end";
  const limitMessage = (id) =>
    `job ${id} has not ended within ${LIMIT_S} s and is no longer polled`;

  async function untilLogged(id) {
    await until(() => impatient.gate.gateway.log().includes(limitMessage(id)));
    assert.equal(impatient.gate.gateway.log().split(limitMessage(id)).length, 2, "logged once");
  }

  test("stops polling a job at the limit, notifies its watchers and logs it", async () => {
    const { id } = await impatient.create();
    const streams = [await impatient.watching(id), await impatient.watching(id)];
    for (const stream of streams) {
      const { data } = await stream.event(isEnd);
      assert.equal(JSON.parse(data).reason, "poll-limit");
      assert.equal(await stream.ended, "clean");
      assert.deepEqual(states(stream), ["active"]);
    }
    await untilLogged(id);
    const { count } = await impatient.reads(id);
    await impatient.waitIntervals(3);
    assert.equal((await impatient.reads(id)).count, count);

    // A resumed stream gets 204. A new stream causes one read of the job upstream, and receives the
    // job's state and an `end` event.
    const resumed = impatient.watch(id, { lastEventId: streams[0].lastEventId });
    assert.equal(await resumed.ended, "clean");
    assert.equal(resumed.status, 204);
    const fresh = impatient.watch(id);
    assert.equal(await fresh.ended, "clean");
    const types = fresh.events.map(({ type }) => type);
    assert.deepEqual(types, ["job", "end"]);
    assert.equal((await impatient.reads(id)).count, count + 1);

    // After a follow-up, the gateway polls the job again.
    await impatient.followUp(id);
    const again = await impatient.watching(id);
    await impatient.untilReads(id, 1);
    await impatient.change(id, { status: "completed" }, again);
    assert.equal(await again.ended, "clean");
  });

  test("stops polling a job at the limit and sends its webhook as unfinished", async () => {
    const project = OTHER_PROJECT;
    const headers = hook(`${receiver.url}/never`);
    const { id } = await impatient.create("never ends", { project, headers });
    await untilLogged(id);
    const { count } = await impatient.reads(id);
    await impatient.waitIntervals(3);
    assert.equal((await impatient.reads(id)).count, count);
    const { json } = await receiver.next(({ path }) => path === "/never");
    assert.deepEqual([json.type, json.data.id], ["agent_job.unfinished", id]);
    assert.equal(json.data.status, "active", "the last known status");
  });
});
