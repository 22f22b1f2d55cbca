/** How often a job is polled, and for how long: less and less, not against the upstream's will, and
 * not for ever. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { startReceiver } from "../harness/receiver.mjs";
import { PROJECT } from "./gate.mjs";
import { OTHER_PROJECT, startJobs } from "./jobs.mjs";

const LIMIT_S = 5;
const HALF_A_DAY_MS = 12 * 3600 * 1000;
const WEBHOOK_SECRET = `whsec_${Buffer.alloc(32, 5).toString("base64")}`;
/** What nobody has to wait for in vain on a busy machine. */
const PATIENCE_MS = 60_000;

let jobs;
/** A gateway that gives a job up after a few seconds. */
let impatient;
let receiver;

before(async () => {
  receiver = await startReceiver();
  const vars = {
    JOB_POLL_LIMIT_SECONDS: String(LIMIT_S),
    WEBHOOK_SECRET,
    WEBHOOK_HOSTS: receiver.host,
  };
  [jobs, impatient] = await Promise.all([startJobs("polls"), startJobs("polls-limited", { vars })]);
});
after(async () => {
  await Promise.all([jobs?.stop(), impatient?.stop()]);
  await receiver?.stop();
});

const states = (stream) =>
  stream.events.filter(({ type }) => type === "job").map(({ data }) => JSON.parse(data).status);

/** Lets so many intervals pass: polls of a new job. */
async function intervals(gateway, count) {
  const { id } = await gateway.create("tick");
  const clock = await gateway.watching(id);
  await gateway.untilReads(id, count);
  clock.leave();
}

describe("Retry-After of a poll", () => {
  for (const status of [429, 503]) {
    test(`that was answered ${status} is honoured by every further poll`, async () => {
      const { id } = await jobs.create();
      const stream = await jobs.watching(id);
      const fault = { kind: "status", status, headers: { "retry-after": "30" } };
      await jobs.upstream.fault({ target: id, times: 1, fault });
      const { count } = await jobs.untilReads(id, 1);
      const settled = (await jobs.reads(id)).count;
      assert.ok(settled - count <= 1, "the poll under way");
      await intervals(jobs, 5);
      assert.equal((await jobs.reads(id)).count, settled, "watched");

      // Neither a list nor who begins to watch makes it earlier, and both say what is known.
      const { json } = await jobs.get(`/v2/agent/${PROJECT}/jobs`);
      assert.ok(json.jobs.some((job) => job.id === id));
      const other = await jobs.watching(id);
      assert.deepEqual(states(other), ["active"]);
      assert.equal((await jobs.reads(id)).count, settled, "listed, and watched again");
      for (const open of [stream, other]) open.leave();
      await jobs.upstream.setJob(id, { status: "completed" });
    });
  }

  test("outlives a restart", async () => {
    const { id } = await jobs.create();
    const stream = await jobs.watching(id);
    const fault = { kind: "status", status: 429, headers: { "retry-after": "60" } };
    await jobs.upstream.fault({ target: id, times: 1, fault });
    await jobs.untilReads(id, 1);
    await intervals(jobs, 2);
    const { count } = await jobs.reads(id);
    await jobs.restart("kill", () => stream.ended);
    const again = await jobs.watching(id);
    await intervals(jobs, 4);
    assert.equal((await jobs.reads(id)).count, count);
    again.leave();
  });
});

test("a job of half a day is polled far less often than a new one", async () => {
  const { id } = await jobs.create();
  const update = "UPDATE job SET began = began - ? WHERE id = ?";
  await jobs.restartWithSql([[update, HALF_A_DAY_MS, id]]);
  const stream = await jobs.watching(id);
  const { count } = await jobs.reads(id);
  await intervals(jobs, 5);
  assert.equal((await jobs.reads(id)).count, count, "its next poll is in minutes");

  // A follow-up sets it to work again.
  await jobs.followUp(id);
  await jobs.untilReads(id, 2);
  stream.leave();
});

describe("a job that does not end", () => {
  const isEnd = ({ type }) => type === "end";
  const givenUp = (id) => `job ${id} has not ended within ${LIMIT_S} s and is no longer polled`;

  /** Waits for the operator's line about a job. */
  async function untilLogged(id) {
    const deadline = performance.now() + PATIENCE_MS;
    while (!impatient.gate.gateway.log().includes(givenUp(id))) {
      assert.ok(performance.now() < deadline, `the log says nothing of ${id}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    assert.equal(impatient.gate.gateway.log().split(givenUp(id)).length, 2, "once");
  }

  test("is given up: its watchers are told, the log says so, and it is not polled", async () => {
    const { id } = await impatient.create();
    const streams = [await impatient.watching(id), await impatient.watching(id)];
    for (const stream of streams) {
      const { data } = await stream.event(isEnd, PATIENCE_MS);
      assert.equal(JSON.parse(data).reason, "poll-limit");
      assert.equal(await stream.ended, "clean");
      assert.deepEqual(states(stream), ["active"]);
    }
    await untilLogged(id);
    const { count } = await impatient.reads(id);
    await intervals(impatient, 3);
    assert.equal((await impatient.reads(id)).count, count);

    // Who comes back is told so: with the state, which is asked for once, and at once.
    const back = impatient.watch(id, { lastEventId: streams[0].lastEventId });
    assert.equal(await back.ended, "clean");
    assert.equal(back.status, 204);
    const fresh = impatient.watch(id);
    assert.equal(await fresh.ended, "clean");
    assert.deepEqual(
      fresh.events.map(({ type }) => type),
      ["job", "end"],
    );
    assert.equal((await impatient.reads(id)).count, count + 1);

    // A follow-up sets it to work again.
    await impatient.followUp(id);
    const again = await impatient.watching(id);
    await impatient.untilReads(id, 1);
    await impatient.upstream.setJob(id, { status: "completed" });
    await again.event(({ data }) => JSON.parse(data).status === "completed", PATIENCE_MS);
    assert.equal(await again.ended, "clean");
  });

  test("is given up when only a webhook waits for it, which is told", async () => {
    const project = OTHER_PROJECT;
    const headers = [["Webhook-Url", `${receiver.url}/never`]];
    const { id } = await impatient.create("never ends", { project, headers });
    await untilLogged(id);
    const { count } = await impatient.reads(id);
    await intervals(impatient, 3);
    assert.equal((await impatient.reads(id)).count, count);
    const { json } = await receiver.next(({ path }) => path === "/never", PATIENCE_MS);
    assert.equal(json.type, "agent_job.unfinished");
    assert.equal(json.data.id, id);
    assert.equal(json.data.status, "active", "as it was last seen");
  });
});

test("nothing secret is said", () =>
  Promise.all([jobs.assertDiscreet(), impatient.assertDiscreet()]));
