/** A job's changes as they happen, streamed to any number of watchers. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Client, NotFoundError } from "../../pkg/dist/node.js";
import { assertCommonHead, assertProblem, PROJECT } from "./gate.mjs";
import { OTHER_PROJECT, startJobs } from "./jobs.mjs";
import {
  assertApart,
  assertGrowing,
  CLOCK_TOLERANCE_MS,
  change,
  INTERVAL_MS,
  idsAndData,
  isNow,
  jobs,
  manyWatching,
  PATIENCE_MS,
  startWatched,
  states,
  upstreamJob,
} from "./watchers.mjs";

const SLOW_INTERVAL_S = 3;
const WATCHERS = 200;

/** A gateway with a longer interval, and as much time for the upstream as is usual. */
let slow;
/** Nothing ever happens on it. */
let quietJob;
let quietStream;

before(async () => {
  const slowly = { JOB_POLL_SECONDS: String(SLOW_INTERVAL_S), UPSTREAM_TIMEOUT_SECONDS: "30" };
  [, slow] = await Promise.all([
    startWatched("watching"),
    startJobs("watching-slow", { vars: slowly }),
  ]);
  quietJob = await jobs.create("be quiet", { project: OTHER_PROJECT });
  quietStream = jobs.watch(quietJob.id, { project: OTHER_PROJECT });
  const left = await manyWatching(30, quietJob.id, { project: OTHER_PROJECT });
  assert.equal((await jobs.health(OTHER_PROJECT)).watchers, 31);
  for (const stream of left) stream.leave();
});
after(() => Promise.all([jobs?.stop(), slow?.stop()]));

describe("many watchers of one job", () => {
  const lives = ["planning", "writing", "completed"];
  let watched;
  let alone;
  let streams;

  before(async () => {
    watched = await jobs.create();
    alone = await jobs.create();
    const control = await jobs.watching(alone.id);
    streams = await manyWatching(WATCHERS, watched.id);
    for (const status of lives) await change(watched.id, { status }, streams);
    await Promise.all(streams.map(({ ended }) => ended));
    control.leave();
  });

  test(`all ${WATCHERS} get every change once, in order, with growing ids`, async () => {
    assert.deepEqual(states(streams[0]), ["active", ...lives]);
    assertGrowing(streams[0]);
    for (const stream of streams) assert.deepEqual(idsAndData(stream), idsAndData(streams[0]));
    for (const { type } of streams[0].events) assert.equal(type, "job");
    const last = JSON.parse(streams[0].events.at(-1).data);
    assert.deepEqual(last, await upstreamJob(watched.id));
  });

  test("all streams end cleanly after the end of the job", () => {
    assert.deepEqual(new Set(streams.map(({ how }) => how)), new Set(["clean"]));
  });

  test("they cost one read an interval, as one watcher does", async () => {
    const [many, one] = [await jobs.reads(watched.id), await jobs.reads(alone.id)];
    assertApart(many);
    assertApart(one);
    assert.ok(many.count >= lives.length, "each change was seen by a read of its own");
    const intervals = (many.at.at(-1) - many.at[0] + CLOCK_TOLERANCE_MS) / INTERVAL_MS;
    assert.ok(many.count <= intervals + 1, `${many.count} reads in ${intervals} intervals`);
  });

  test("who comes back after the end is told so, and nobody is asked for it", async () => {
    const { count } = await jobs.reads(watched.id);
    const again = streams.map(({ lastEventId }) => jobs.watch(watched.id, { lastEventId }));
    for (const stream of again) {
      assert.equal(await stream.ended, "clean");
      assert.deepEqual([stream.status, stream.text], [204, ""]);
    }
    assert.equal((await jobs.reads(watched.id)).count, count);
  });

  test("nothing is kept of them", () => jobs.finishAllJobs());
});

describe("a watcher that is cut off", { concurrency: true }, () => {
  /** Goes on where a stream has stopped. */
  const resumed = (id, { lastEventId }) => jobs.watch(id, { lastEventId });
  const joined = (...streams) => streams.flatMap(idsAndData);

  test("loses no change and gets none twice, whatever happened meanwhile", async () => {
    const { id } = await jobs.create();
    const [reference, ...others] = await manyWatching(41, id);
    await change(id, { status: "planning" }, [reference, ...others]);
    for (const stream of others) stream.leave();
    await change(id, { status: "writing" }, [reference]);
    await change(id, { status: "reviewing" }, [reference]);
    const again = others.map((stream) => resumed(id, stream));
    await Promise.all(again.map((stream) => stream.event(isNow("reviewing"))));
    await change(id, { status: "failed" }, [reference, ...again]);
    assert.deepEqual(states(reference), ["active", "planning", "writing", "reviewing", "failed"]);
    for (const [index, stream] of again.entries()) {
      assert.deepEqual(joined(others[index], stream), idsAndData(reference));
      assert.equal(await stream.ended, "clean");
    }
    assertApart(await jobs.reads(id));
  });

  test("is told what happened while it was away", async () => {
    const { id } = await jobs.create();
    const first = await jobs.watching(id);
    first.leave();
    await jobs.upstream.setJob(id, { status: "planning" });
    const second = resumed(id, first);
    await second.event(isNow("planning"));
    await change(id, { status: "completed" }, [second]);
    assert.equal(await second.ended, "clean");
    assert.deepEqual([...states(first), ...states(second)], ["active", "planning", "completed"]);
    assertGrowing({ events: [...first.events, ...second.events] });
  });

  test("gets nothing again when nothing has happened", async () => {
    const { id } = await jobs.create();
    const first = await jobs.watching(id);
    first.leave();
    const second = resumed(id, first);
    await second.opened;
    await change(id, { status: "completed" }, [second]);
    assert.deepEqual(states(second), ["completed"]);
  });
});

describe("Last-Event-ID", () => {
  let job;

  before(async () => {
    job = await jobs.create();
    const stream = await jobs.watching(job.id);
    await change(job.id, { status: "planning" }, [stream]);
    stream.leave();
  });

  for (const lastEventId of [
    ...["", " ", "abc", "-1", "+1", "1.5", "1e3", "0x1", "1,2", '"1"', "NaN"],
    ...["9".repeat(16), "9".repeat(400), "١", "1;2", "null"],
  ]) {
    test(`that no stream has given, ${lastEventId.slice(0, 20)}, is as none`, async () => {
      const value = Buffer.from(lastEventId).toString("latin1");
      const stream = await jobs.watching(job.id, { lastEventId: value });
      assert.deepEqual([stream.status, states(stream)], [200, ["planning"]]);
      stream.leave();
    });
  }

  for (const lastEventId of ["3", "999", "999999999999999"]) {
    test(`from the future, ${lastEventId}, hides nothing`, async () => {
      const stream = await jobs.watching(job.id, { lastEventId });
      assert.deepEqual([states(stream), stream.lastEventId], [["planning"], "2"]);
      stream.leave();
    });
  }

  test("from before the first change gives every change", async () => {
    const stream = jobs.watch(job.id, { lastEventId: "0" });
    await stream.event(isNow("planning"));
    assert.deepEqual(states(stream), ["active", "planning"]);
    stream.leave();
  });

  test("from the future of a finished job gives its end", async () => {
    const { id } = await jobs.create();
    const first = await jobs.watching(id);
    await change(id, { status: "completed" }, [first]);
    const stream = jobs.watch(id, { lastEventId: "999" });
    assert.equal(await stream.ended, "clean");
    assert.deepEqual(idsAndData(stream), [idsAndData(first).at(-1)]);
  });
});

describe("a watch", () => {
  test("of a finished job is one event and the end", async () => {
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

  for (const status of ["completed", "failed", "archived"]) {
    test(`of a job that was created elsewhere, until it is ${status}`, async () => {
      const { id } = await jobs.directly("from elsewhere");
      const stream = await jobs.watching(id);
      assert.deepEqual(states(stream), ["active"]);
      await change(id, { status }, [stream]);
      assert.equal(await stream.ended, "clean");
      assertApart(await jobs.reads(id));
    });
  }

  test("of a job that was created and finished elsewhere", async () => {
    const { id } = await jobs.directly("from elsewhere");
    await jobs.upstream.setJob(id, { status: "failed" });
    const stream = jobs.watch(id);
    assert.equal(await stream.ended, "clean");
    assert.deepEqual(states(stream), ["failed"]);
    assert.equal((await jobs.reads(id)).count, 1);
  });

  test("begun by many at once, of a job nobody knew, asks once", async () => {
    const { id } = await jobs.directly("from elsewhere");
    const streams = await manyWatching(50, id);
    assertApart(await jobs.reads(id));
    for (const stream of streams) {
      assert.deepEqual(idsAndData(stream), idsAndData(streams[0]));
      stream.leave();
    }
  });

  test("of an unknown job is 404, and nothing is kept of it", async () => {
    await jobs.finishAllJobs();
    const answer = await jobs.get(jobs.path("unknown", { rest: "/events" }));
    const problem = assertProblem(answer, 404, "upstream-error");
    assert.equal(problem.upstream.status, 404);
    assert.equal((await jobs.health()).watchers, 0);
  });

  test("of an unknown job is answered to each of many with its own request id", async () => {
    await jobs.upstream.hold({ operation: "agentJobs.get", target: "unknown-to-many" });
    const target = jobs.path("unknown-to-many", { rest: "/events" });
    const asked = ["one", "two", "three"].map((id) => jobs.get(target, [["X-Request-Id", id]]));
    await jobs.upstream.untilHeld(1);
    // What comes after them has been answered: by now they share what is held.
    await jobs.health();
    await jobs.upstream.release();
    const instances = (await Promise.all(asked)).map(({ json }) => json.instance);
    assert.deepEqual(instances, ["one", "two", "three"]);
  });

  test("of another project's job is 404", async () => {
    const { id } = await jobs.create("elsewhere", { project: OTHER_PROJECT });
    const answer = await jobs.get(jobs.path(id, { rest: "/events" }));
    assertProblem(answer, 404, "upstream-error");
  });

  test("whose job's state cannot be had is a problem, and no stream", async () => {
    const { id } = await jobs.directly("from elsewhere");
    await jobs.upstream.fault({ target: id, fault: { kind: "status", status: 500 } });
    const answer = await jobs.get(jobs.path(id, { rest: "/events" }));
    assertProblem(answer, 500, "upstream-error");
    const stream = await jobs.watching(id);
    stream.leave();
  });

  test("has the head of an event stream, and says when to come back", async () => {
    const { id } = await jobs.create();
    const exchange = jobs.gate.open(
      jobs.gate.bytes({ target: jobs.path(id, { rest: "/events" }) }),
    );
    const answer = await exchange.until(({ hasHead, text }) => hasHead && text.includes("}\n\n"));
    assert.equal(answer.status, 200);
    assert.match(answer.header("content-type"), /^text\/event-stream(; charset=utf-8)?$/);
    assertCommonHead(answer);
    assert.match(answer.text, /^retry: 3000\n\nid: 1\nevent: job\ndata: \{.*\}\n\n$/);
    exchange.leave();
  });

  test("is noted in the log by its pattern", async () => {
    const { id } = await jobs.create();
    const stream = await jobs.watching(id, { headers: { "x-request-id": "a-watch-in-the-log" } });
    const line = await jobs.gate.logged("a-watch-in-the-log");
    assert.deepEqual(
      [line.route, line.status, line.subject],
      ["/v2/agent/{projectId}/job/{id}/events", 200, "alice"],
    );
    stream.leave();
  });

  test("needs a token with the project and jobs:read", async () => {
    const { id } = await jobs.create();
    const { count } = await jobs.reads(id);
    const target = jobs.path(id, { rest: "/events" });
    const as = (changes) => `Bearer ${jobs.gate.token(changes)}`;
    for (const [authorization, status, kind] of [
      [null, 401, "missing-token"],
      ["Bearer no-token", 401, "invalid-token"],
      [as({ scope: "jobs:create analytics:read gateway:operate" }), 403, "insufficient-scope"],
      [as({ projects: [OTHER_PROJECT] }), 403, "project-not-allowed"],
      [as({ projects: [] }), 403, "project-not-allowed"],
    ]) {
      assertProblem(await jobs.gate.get(target, { authorization }), status, kind);
    }
    for (const method of ["POST", "PUT", "DELETE"]) {
      const { authorization } = jobs;
      const answer = await jobs.gate.send({ method, target, authorization });
      assertProblem(answer, 405, "method-not-allowed");
    }
    assert.equal((await jobs.reads(id)).count, count);
  });
});

describe("what nobody watches", () => {
  test("is not asked for", async () => {
    await jobs.finishAllJobs();
    const [left, clock] = [await jobs.create(), await jobs.create()];
    const streams = await manyWatching(5, left.id);
    const ticking = await jobs.watching(clock.id);
    for (const stream of streams) stream.leave();
    // What is written to them tells the runtime that they have left.
    await jobs.upstream.setJob(left.id, { status: "planning" });
    await jobs.untilHealth(({ watchers }) => watchers === 1);
    // One look may be under way; it has ended when the other job was asked for twice.
    await jobs.untilReads(clock.id, 2);
    const { count } = await jobs.reads(left.id);
    await jobs.untilReads(clock.id, 3);
    assert.equal((await jobs.reads(left.id)).count, count);
    ticking.leave();
  });

  test("is free of state: long polls that were left are none", async () => {
    await jobs.finishAllJobs();
    const { id } = await jobs.create();
    const { authorization } = jobs;
    const headers = [["Prefer", "wait=3"]];
    const bytes = jobs.gate.bytes({ target: jobs.path(id), headers, authorization });
    const left = Array.from({ length: 20 }, () => jobs.gate.open(bytes));
    await jobs.untilHealth(({ watchers }) => watchers === 20);
    for (const exchange of left) exchange.leave();
    await jobs.untilHealth(({ watchers }) => watchers === 0);
  });

  test("is not asked for after its end", async () => {
    const [ended, clock] = [await jobs.create(), await jobs.create()];
    const [stream, ticking] = [await jobs.watching(ended.id), await jobs.watching(clock.id)];
    await change(ended.id, { status: "completed" }, [stream]);
    const { count } = await jobs.reads(ended.id);
    await jobs.untilReads(clock.id, 3);
    assert.equal((await jobs.reads(ended.id)).count, count);
    ticking.leave();
  });
});

describe("side by side", { concurrency: true }, () => {
  describe("an upstream that fails during a watch", { concurrency: true }, () => {
    const TIMES = 2;

    for (const [what, fault, readsEach] of [
      ["500", { kind: "status", status: 500 }, 1],
      ["a body that is cut off", { kind: "cutBody" }, 1],
      // A GET that got no answer is sent once more at once.
      ["a reset", { kind: "reset" }, 2],
      ["no answer", { kind: "hang" }, 1],
    ]) {
      test(`${what}: the stream stays, it is asked less and less, and then goes on`, async () => {
        const { id } = await jobs.create();
        const stream = await jobs.watching(id);
        await jobs.upstream.fault({ target: id, times: TIMES * readsEach, fault });
        await jobs.upstream.setJob(id, { status: "planning" });
        const { count } = await jobs.reads(id);
        await stream.event(isNow("planning"), PATIENCE_MS);
        assert.deepEqual(states(stream), ["active", "planning"]);
        const { at } = await jobs.reads(id);
        // Reads in turn: each a failure, one or two attempts long, and the last a success.
        const turns = at.slice(count).filter((_, index) => index % readsEach === 0);
        assert.equal(turns.length, TIMES + 1);
        const least = (gap, expected) => assert.ok(gap >= expected - CLOCK_TOLERANCE_MS, `${gap}`);
        least(turns[1] - turns[0], 2 * INTERVAL_MS);
        least(turns[2] - turns[1], 4 * INTERVAL_MS);
        // And at the usual pace again.
        await change(id, { status: "completed" }, [stream]);
        assert.equal(await stream.ended, "clean");
      });
    }
  });

  describe("a longer interval", { concurrency: 1 }, () => {
    test("is kept, however many come and go within it", async () => {
      const { id } = await slow.create();
      const clock = await slow.watching(id);
      for (let round = 0; round < 5; round += 1) {
        const streams = await Promise.all(Array.from({ length: 10 }, () => slow.watching(id)));
        for (const stream of streams) stream.leave();
      }
      const { at, count } = await slow.untilReads(id, 2);
      assert.ok(count >= 2);
      assertApart({ at }, SLOW_INTERVAL_S * 1000);
      clock.leave();
    });

    test("of one job is not held up by another's that gets no answer", async () => {
      const [stuck, lively] = [await slow.create(), await slow.create()];
      const streams = [await slow.watching(stuck.id), await slow.watching(lively.id)];
      await slow.upstream.hold({ operation: "agentJobs.get", target: stuck.id });
      await slow.upstream.untilHeld(1);
      await slow.upstream.setJob(lively.id, { status: "planning" });
      // The one that is held is given up after 30 s: the other's turn comes long before.
      await streams[1]
        .event(isNow("planning"), PATIENCE_MS / 3)
        .finally(() => slow.upstream.release());
      for (const stream of streams) stream.leave();
    });

    test("says nothing secret", () => slow.assertDiscreet());
  });
});

describe("a follow-up", () => {
  const ended = async (id) => {
    const stream = await jobs.watching(id);
    await change(id, { status: "completed" }, [stream]);
    await stream.ended;
    return stream;
  };

  test("sets a finished job to work again, and its watchers see it", async () => {
    const { id } = await jobs.create();
    const first = await ended(id);
    await jobs.followUp(id);
    const back = jobs.watch(id, { lastEventId: first.lastEventId });
    const fresh = jobs.watch(id);
    for (const stream of [back, fresh]) await stream.event(isNow("active"));
    await change(id, { status: "failed" }, [back, fresh]);
    for (const stream of [back, fresh]) {
      assert.equal(await stream.ended, "clean");
      assert.deepEqual(states(stream), ["active", "failed"]);
    }
    assertGrowing({ events: [...first.events, ...back.events] });
  });

  test("that was sent elsewhere is seen by who begins to watch", async () => {
    const [job, clock] = [await jobs.create(), await jobs.create()];
    await ended(job.id);
    await jobs.directly("and more", { id: job.id });
    const ticking = await jobs.watching(clock.id);
    await jobs.untilReads(clock.id, 2);
    const fresh = await jobs.watching(job.id);
    assert.deepEqual(states(fresh), ["active"]);
    await change(job.id, { status: "completed" }, [fresh]);
    ticking.leave();
  });

  test("is not undone by a look that began before it", async () => {
    const { id } = await jobs.create();
    const stream = await jobs.watching(id);
    await jobs.upstream.setJob(id, { status: "completed" });
    const order = { operation: "agentJobs.get", target: id, times: 1, process: true };
    await jobs.upstream.hold(order);
    await jobs.upstream.untilHeld(1);
    await jobs.followUp(id);
    await jobs.upstream.release();
    // The job is at work again: its stream goes on, to its true end.
    await change(id, { status: "failed" }, [stream]);
    assert.equal(await stream.ended, "clean");
  });
});

/** The package over the gateway. */
function client() {
  const { url } = jobs.gate.gateway;
  const token = jobs.authorization.replace("Bearer ", "");
  return new Client({ baseUrl: url, projectId: PROJECT, token, logLevel: "off" });
}

describe("the package", () => {
  test("waits for a job by the stream", async () => {
    const { id } = await jobs.create();
    const updates = [];
    const waiting = client().agentJobs.wait(id, { onUpdate: ({ status }) => updates.push(status) });
    const beside = await jobs.watching(id);
    await jobs.untilReads(id, 1);
    for (const status of ["planning", "completed"]) await change(id, { status }, [beside]);
    assert.deepEqual(await waiting, await upstreamJob(id));
    assert.deepEqual(updates, ["active", "planning", "completed"]);
    assertApart(await jobs.reads(id));
  });

  test("watches a job, and leaves it", async () => {
    await jobs.finishAllJobs();
    const { id } = await jobs.create();
    for await (const { job, done } of client().agentJobs.watch(id)) {
      assert.deepEqual([job.status, done], ["active", false]);
      break;
    }
    await jobs.upstream.setJob(id, { status: "planning" });
    await jobs.untilHealth(({ watchers }) => watchers === 0);
  });

  test("says that a job is unknown", async () => {
    await assert.rejects(client().agentJobs.wait("unknown"), NotFoundError);
  });
});

describe("a quiet stream", () => {
  const project = OTHER_PROJECT;

  test("is kept open by a line every 15 s, and told nothing else", async () => {
    await quietStream.until(({ comments }) => comments.length > 0, PATIENCE_MS);
    assert.deepEqual([quietStream.retry, states(quietStream)], [3000, ["active"]]);
    assert.equal(quietStream.comments[0].text.trim(), "hb");
    assertApart(await jobs.reads(quietJob.id));
  });

  test("that was left is free of state by then, and costs the others nothing", async () => {
    await jobs.untilHealth(({ watchers }) => watchers === 1, project);
    assert.equal(quietStream.isOver, false);
    await jobs.untilReads(quietJob.id, 1);
  });
});

test("who is cut off by the gateway's crash goes on, and so does the package", async () => {
  const [changing, finishing] = [await jobs.create(), await jobs.create()];
  const first = await jobs.watching(changing.id);
  const other = await jobs.watching(finishing.id);
  await change(changing.id, { status: "planning" }, [first]);
  const package_ = client().agentJobs.watch(changing.id);
  const updates = [(await package_.next()).value.job.status];

  await jobs.restart("kill", async () => {
    assert.deepEqual([await first.ended, await other.ended], ["cut", "cut"]);
    await jobs.upstream.setJob(changing.id, { status: "writing" });
    await jobs.upstream.setJob(finishing.id, { status: "failed" });
  });
  const second = jobs.watch(changing.id, first);
  const end = jobs.watch(finishing.id, other);
  assert.equal(await end.ended, "clean");
  assert.deepEqual([...states(other), ...states(end)], ["active", "failed"]);
  await second.event(isNow("writing"));
  await change(changing.id, { status: "completed" }, [second]);
  assert.deepEqual(
    [...states(first), ...states(second)],
    ["active", "planning", "writing", "completed"],
  );
  assertGrowing({ events: [...first.events, ...second.events] });
  for await (const { job } of package_) updates.push(job.status);
  assert.deepEqual(updates, ["planning", "writing", "completed"]);
});

test("nothing secret is said", () => jobs.assertDiscreet());
