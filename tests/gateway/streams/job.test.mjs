import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Client } from "../../../pkg/dist/node.js";
import { isNow, OTHER_PROJECT, useJobs } from "../jobs_gateway.mjs";
import { assertCommonHead, assertProblem, before, PROJECT } from "../recorded_gateway.mjs";
import { assertApart, CLOCK_TOLERANCE_MS, INTERVAL_MS, states } from "../watched_jobs.mjs";

const WATCHERS = 200;

const jobs = useJobs("watching");

const idsAndData = (stream) => stream.events.map(({ lastEventId, data }) => [lastEventId, data]);

function assertGrowing(...streams) {
  const events = streams.flatMap((stream) => stream.events);
  const ids = events.map(({ lastEventId }) => Number(lastEventId));
  const grow = ids.every((id, index) => index === 0 || id > ids[index - 1]);
  assert.ok(grow, `ids ${ids}`);
}

describe("many watchers of one job", () => {
  const statuses = ["planning", "writing", "completed"];
  let watched;
  let alone;
  let streams;

  before(async () => {
    watched = await jobs.create();
    alone = await jobs.create();
    const control = await jobs.watching(alone.id);
    streams = await jobs.watchMany(WATCHERS, watched.id);
    for (const status of statuses) await jobs.change(watched.id, { status }, ...streams);
    await Promise.all(streams.map(({ ended }) => ended));
    control.leave();
  });

  test(`sends every change once and in order to ${WATCHERS} watchers of a job`, async () => {
    assert.deepEqual(states(streams[0]), ["active", ...statuses]);
    assertGrowing(streams[0]);
    for (const stream of streams) assert.deepEqual(idsAndData(stream), idsAndData(streams[0]));
    for (const { type } of streams[0].events) assert.equal(type, "job");
    const last = JSON.parse(streams[0].events.at(-1).data);
    assert.deepEqual(last, await jobs.upstreamJob(watched.id));
  });

  test("ends all streams of a finished job, and responds 204 to a reconnect without a read", async () => {
    assert.deepEqual(new Set(streams.map(({ how }) => how)), new Set(["clean"]));
    const { count } = await jobs.reads(watched.id);
    const { lastEventId } = streams[0];
    const again = jobs.watch(watched.id, { lastEventId });
    assert.equal(await again.ended, "clean");
    assert.deepEqual([again.status, again.text], [204, ""]);
    assert.equal((await jobs.reads(watched.id)).count, count);
  });

  test("reads a job once per interval for 200 watchers, like for one", async () => {
    const [many, one] = [await jobs.reads(watched.id), await jobs.reads(alone.id)];
    assertApart(many);
    assertApart(one);
    assert.ok(many.count >= statuses.length, "each change needed its own read");
    const intervals = (many.at.at(-1) - many.at[0] + CLOCK_TOLERANCE_MS) / INTERVAL_MS;
    assert.ok(many.count <= intervals + 1, `${many.count} reads in ${intervals} intervals`);
  });
});

test("sends a reconnecting watcher the changes that it missed", async () => {
  const { id } = await jobs.create();
  const first = await jobs.watching(id);
  first.leave();
  await jobs.upstream.setJob(id, { status: "planning" });
  const second = jobs.watch(id, { lastEventId: first.lastEventId });
  await second.event(isNow("planning"));
  await jobs.change(id, { status: "completed" }, second);
  assert.equal(await second.ended, "clean");
  assert.deepEqual([...states(first), ...states(second)], ["active", "planning", "completed"]);
  assertGrowing(first, second);
});

describe("a job's stream", () => {
  test("sends one event for a finished job and ends the stream", async () => {
    const { id } = await jobs.create();
    await jobs.upstream.setJob(id, { status: "completed", prLink: "https://example.com/pull/1" });
    const first = await jobs.watching(id);
    await first.event(isNow("completed"));
    await first.ended;
    const fresh = jobs.watch(id);
    assert.equal(await fresh.ended, "clean");
    assert.deepEqual(states(fresh), ["completed"]);
    assert.equal(JSON.parse(fresh.events[0].data).prLink, "https://example.com/pull/1");
  });

  for (const status of ["completed", "failed"]) {
    test(`streams a job created outside the gateway until it is ${status}`, async () => {
      const { id } = await jobs.directly("from elsewhere");
      const stream = await jobs.watching(id);
      assert.deepEqual(states(stream), ["active"]);
      await jobs.change(id, { status }, stream);
      assert.equal(await stream.ended, "clean");
      assertApart(await jobs.reads(id));
    });
  }

  test("reads an unknown job once for 50 concurrent streams", async () => {
    const { id } = await jobs.directly("from elsewhere");
    const streams = await jobs.watchMany(50, id);
    assertApart(await jobs.reads(id));
    for (const stream of streams) {
      assert.deepEqual(idsAndData(stream), idsAndData(streams[0]));
      stream.leave();
    }
  });

  test("responds 404 to a stream of another project's job", async () => {
    const { id } = await jobs.create("elsewhere", { project: OTHER_PROJECT });
    const answer = await jobs.get(jobs.path(id, { rest: "/events" }));
    assertProblem(answer, 404, "upstream-error");
  });

  test("sends an event stream's head and a retry interval", async () => {
    const { id } = await jobs.create();
    const target = jobs.path(id, { rest: "/events" });
    const exchange = jobs.gate.open(jobs.gate.bytes({ target }));
    const answer = await exchange.until(({ hasHead, text }) => hasHead && text.includes("}\n\n"));
    assert.equal(answer.status, 200);
    assert.match(answer.header("content-type"), /^text\/event-stream(; charset=utf-8)?$/);
    assertCommonHead(answer, { cacheControl: /^no-store, no-transform$/ });
    assert.equal(answer.header("x-accel-buffering"), "no");
    assert.match(answer.text, /^retry: 3000\n\nid: 1\nevent: job\ndata: \{.*\}\n\n$/);
    exchange.leave();
  });
});

describe("a follow-up to a watched job", () => {
  test("streams a finished job again after a follow-up", async () => {
    const { id } = await jobs.create();
    const first = await jobs.finish(id);
    await jobs.followUp(id);
    const again = jobs.watch(id, { lastEventId: first.lastEventId });
    const fresh = jobs.watch(id);
    for (const stream of [again, fresh]) await stream.event(isNow("active"));
    await jobs.change(id, { status: "failed" }, again, fresh);
    for (const stream of [again, fresh]) {
      assert.equal(await stream.ended, "clean");
      assert.deepEqual(states(stream), ["active", "failed"]);
    }
    assertGrowing(first, again);
  });

  test("does not revert a follow-up with a poll that started before it", async () => {
    const { id } = await jobs.create();
    const stream = await jobs.watching(id);
    await jobs.upstream.setJob(id, { status: "completed" });
    const order = { operation: "agentJobs.get", target: id, times: 1, process: true };
    await jobs.upstream.hold(order);
    await jobs.upstream.untilHeld(1);
    await jobs.followUp(id);
    await jobs.upstream.release();
    // The job is active again, so its stream continues until the job really finishes.
    await jobs.change(id, { status: "failed" }, stream);
    assert.equal(await stream.ended, "clean");
  });
});

test("resumes raw and package streams after the gateway was killed", async () => {
  const [changing, finishing] = [await jobs.create(), await jobs.create()];
  const first = await jobs.watching(changing.id);
  const other = await jobs.watching(finishing.id);
  await jobs.change(changing.id, { status: "planning" }, first);
  const auth = { token: jobs.authorization.replace("Bearer ", "") };
  const baseUrl = jobs.gate.gateway.url;
  const client = new Client({ baseUrl, projectId: PROJECT, auth, logLevel: "off" });
  const iterator = client.agentJobs.watch(changing.id);
  const updates = [(await iterator.next()).value.job.status];

  await jobs.restart("kill", async () => {
    assert.deepEqual([await first.ended, await other.ended], ["cut", "cut"]);
    await jobs.upstream.setJob(changing.id, { status: "writing" });
    await jobs.upstream.setJob(finishing.id, { status: "failed" });
  });
  const second = jobs.watch(changing.id, { lastEventId: first.lastEventId });
  const end = jobs.watch(finishing.id, { lastEventId: other.lastEventId });
  assert.equal(await end.ended, "clean");
  assert.deepEqual([...states(other), ...states(end)], ["active", "failed"]);
  await second.event(isNow("writing"));
  await jobs.change(changing.id, { status: "completed" }, second);
  const all = [...states(first), ...states(second)];
  assert.deepEqual(all, ["active", "planning", "writing", "completed"]);
  assertGrowing(first, second);
  for await (const { job } of iterator) updates.push(job.status);
  assert.deepEqual(updates, ["planning", "writing", "completed"]);
});
