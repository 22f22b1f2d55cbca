/** A job's changes as they happen: streamed to any number of watchers, or waited for. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Client, NotFoundError } from "../../pkg/dist/node.js";
import { assertCommonHead, assertProblem, PROJECT } from "./gate.mjs";
import { OTHER_PROJECT, startJobs } from "./jobs.mjs";

const INTERVAL_MS = 1000;
const SLOW_INTERVAL_S = 3;
/** Two programs' clocks, both in whole milliseconds, and the way of a request between them. */
const CLOCK_TOLERANCE_MS = 50;
const WATCHERS = 200;
/** What nobody has to wait for in vain on a busy machine. */
const PATIENCE_MS = 30_000;

let jobs;
/** A gateway with a longer interval, and as much time for the upstream as is usual. */
let slow;
/** Nothing ever happens on it. */
let quietJob;
let quietStream;

before(async () => {
  const slowly = { JOB_POLL_SECONDS: String(SLOW_INTERVAL_S), UPSTREAM_TIMEOUT_SECONDS: "30" };
  [jobs, slow] = await Promise.all([
    startJobs("watching"),
    startJobs("watching-slow", { vars: slowly }),
  ]);
  quietJob = await jobs.create("be quiet", { project: OTHER_PROJECT });
  quietStream = jobs.watch(quietJob.id, { project: OTHER_PROJECT });
  const left = await manyWatching(30, quietJob.id, { project: OTHER_PROJECT });
  assert.equal((await jobs.health(OTHER_PROJECT)).watchers, 31);
  for (const stream of left) stream.leave();
});
after(() => Promise.all([jobs?.stop(), slow?.stop()]));

const told = (stream) => stream.events.map(({ lastEventId, data }) => [lastEventId, data]);
const states = (stream) => stream.events.map(({ data }) => JSON.parse(data).status);
const isNow = (status) => (event) => JSON.parse(event.data).status === status;

/** Moves a job into a state, and waits until all of these watchers were told. */
async function change(id, fields, streams) {
  await jobs.upstream.setJob(id, fields);
  await Promise.all(streams.map((stream) => stream.event(isNow(fields.status), PATIENCE_MS)));
}

/** Consecutive reads of a job were at least so far apart. */
function assertApart({ at }, interval = INTERVAL_MS) {
  const gaps = at.slice(1).map((moment, index) => moment - at[index]);
  for (const gap of gaps) assert.ok(gap >= interval - CLOCK_TOLERANCE_MS, `read after ${gap} ms`);
}

/** So many streams of a job, each of which has been told the job as it is. */
function manyWatching(count, id, options) {
  return Promise.all(Array.from({ length: count }, () => jobs.watching(id, options)));
}

function assertGrowing(stream) {
  const ids = stream.events.map(({ lastEventId }) => Number(lastEventId));
  const grow = ids.every((id, index) => index === 0 || id > ids[index - 1]);
  assert.ok(grow, `ids ${ids}`);
}

/** The job as the platform has it, without what the simulator's control adds. */
async function platformJob(id) {
  const { projectId, prompt, messages, origin, reads, ...job } = await jobs.upstream.job(id);
  return job;
}

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
    for (const stream of streams) assert.deepEqual(told(stream), told(streams[0]));
    for (const { type } of streams[0].events) assert.equal(type, "job");
    const last = JSON.parse(streams[0].events.at(-1).data);
    assert.deepEqual(last, await platformJob(watched.id));
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

  test("nothing is kept of them", () => jobs.calm());
});

describe("a watcher that is cut off", { concurrency: true }, () => {
  /** Goes on where a stream has stopped. */
  const resumed = (id, { lastEventId }) => jobs.watch(id, { lastEventId });
  const joined = (...streams) => streams.flatMap(told);

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
      assert.deepEqual(joined(others[index], stream), told(reference));
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
    assert.deepEqual(told(stream), [told(first).at(-1)]);
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
      assert.deepEqual(told(stream), told(streams[0]));
      stream.leave();
    }
  });

  test("of an unknown job is 404, and nothing is kept of it", async () => {
    await jobs.calm();
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
    await jobs.calm();
    const [left, clock] = [await jobs.create(), await jobs.create()];
    const streams = await manyWatching(5, left.id);
    const ticking = await jobs.watching(clock.id);
    for (const stream of streams) stream.leave();
    // What is written to them tells the runtime that they have left.
    await jobs.upstream.setJob(left.id, { status: "planning" });
    await jobs.untilHealth(({ watchers }) => watchers === 1);
    // One look may be under way; it has ended when the other job was asked for twice.
    await jobs.polls(clock.id, 2);
    const { count } = await jobs.reads(left.id);
    await jobs.polls(clock.id, 3);
    assert.equal((await jobs.reads(left.id)).count, count);
    ticking.leave();
  });

  test("is free of state: long polls that were left are none", async () => {
    await jobs.calm();
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
    await jobs.polls(clock.id, 3);
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
      const { at, count } = await slow.polls(id, 2);
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
    await jobs.polls(clock.id, 2);
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

describe("a long poll", { concurrency: true }, () => {
  const prefer = (value) => ["Prefer", value];
  const poll = (id, headers) => jobs.get(jobs.path(id), headers);
  const status = (answer) => answer.json.status;

  function assertTold(answer, { status: expected, seconds, seq }) {
    assert.deepEqual([answer.status, answer.complete], [200, true], answer.text);
    assert.match(answer.header("content-type"), /^application\/json/);
    assert.equal(status(answer), expected);
    assert.equal(answer.header("preference-applied"), `wait=${seconds}`);
    assert.equal(answer.header("etag"), `"${seq}"`);
    assert.equal(answer.header("cache-control"), "no-store");
    assert.equal(answer.header("vary"), "Origin, Prefer");
    assert.ok(answer.header("x-request-id"));
  }

  /** Checks that `act` is done before a long poll that began earlier, and has no news, ends. */
  async function soonerThanQuiet(act) {
    const { id } = await jobs.create();
    const { authorization } = jobs;
    const headers = [prefer("wait=25")];
    const target = jobs.path(id);
    const quiet = jobs.gate.open(jobs.gate.bytes({ target, headers, authorization }));
    const result = await act();
    assert.equal(quiet.answer.hasHead, false, "the one without news still waits");
    await jobs.upstream.setJob(id, { status: "completed" });
    assertTold(await quiet.until(({ complete }) => complete), {
      status: "completed",
      seconds: 25,
      seq: 2,
    });
    return result;
  }

  test("is answered when the job changes", async () => {
    const { id } = await jobs.create();
    const answer = await soonerThanQuiet(async () => {
      const waiting = poll(id, [prefer("wait=24")]);
      // Whoever is asked for is watched.
      await jobs.polls(id, 1);
      await jobs.upstream.setJob(id, { status: "planning" });
      return await waiting;
    });
    assertTold(answer, { status: "planning", seconds: 24, seq: 2 });
  });

  test("is answered at once when the job is finished", async () => {
    const { id } = await jobs.directly("from elsewhere");
    await jobs.upstream.setJob(id, { status: "failed" });
    const answer = await soonerThanQuiet(() => poll(id, [prefer("wait=20")]));
    assertTold(answer, { status: "failed", seconds: 20, seq: 1 });
  });

  test("is answered with the present state when the time is over, and not before", async () => {
    const { id } = await jobs.create();
    const began = performance.now();
    const answer = await poll(id, [prefer("wait=1")]);
    assert.ok(performance.now() - began >= 1000 - CLOCK_TOLERANCE_MS);
    assertTold(answer, { status: "active", seconds: 1, seq: 1 });
  });

  test("that knows an older state is answered at once with the news", async () => {
    const { id } = await jobs.create();
    const stream = await jobs.watching(id);
    await change(id, { status: "planning" }, [stream]);
    for (const known of ['"1"', 'W/"1"']) {
      const headers = [prefer("wait=25"), ["If-None-Match", known]];
      const answer = await soonerThanQuiet(() => poll(id, headers));
      assertTold(answer, { status: "planning", seconds: 25, seq: 2 });
    }
  });

  test("that knows the present state waits for the next", async () => {
    const { id } = await jobs.create();
    const headers = [prefer("wait=1"), ["If-None-Match", '"1"']];
    const began = performance.now();
    assertTold(await poll(id, headers), { status: "active", seconds: 1, seq: 1 });
    assert.ok(performance.now() - began >= 1000 - CLOCK_TOLERANCE_MS);
  });

  for (const [asked, seconds] of [
    ["wait=26", 25],
    ["wait=60", 25],
    ["wait=999999", 25],
    ["wait=25", 25],
    ["respond-async, wait=3", 3],
    ['WAIT="7"', 7],
    ["wait = 4; foo", 4],
  ]) {
    test(`asked for by ${asked} waits ${seconds} s at most`, async () => {
      const { id } = await jobs.directly("from elsewhere");
      await jobs.upstream.setJob(id, { status: "completed" });
      const answer = await poll(id, [prefer(asked)]);
      assertTold(answer, { status: "completed", seconds, seq: 1 });
    });
  }

  test("of no time is answered with the present state, every time", async () => {
    const { id } = await jobs.create();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => poll(id, [prefer("wait=0")])),
    );
    for (const answer of answers) assertTold(answer, { status: "active", seconds: 0, seq: 1 });
  });

  for (const asked of [
    ...["wait", "wait=", "wait=abc", "wait=-1", "wait=1.5", "wait=1s", "wait=1 2", "wait=0x10"],
    ...["x-wait=1", "awaits=1", "return=minimal", "", '"wait=1"'],
  ]) {
    test(`that nobody can understand, ${asked}, is a plain look`, async () => {
      const { id } = await jobs.create();
      const { count } = await jobs.reads(id);
      const answer = await poll(id, [prefer(asked)]);
      assertCommonHead(answer);
      assert.deepEqual([answer.status, status(answer)], [200, "active"]);
      assert.equal(answer.header("preference-applied"), undefined);
      assert.equal((await jobs.reads(id)).count, count + 1);
    });
  }

  test("of an unknown job is 404", async () => {
    const answer = await poll("unknown", [prefer("wait=25")]);
    assertProblem(answer, 404, "upstream-error");
  });

  test("of many costs one read an interval, and all get the change", async () => {
    const { id } = await jobs.create();
    const waiting = Array.from({ length: 60 }, () => poll(id, [prefer("wait=25")]));
    await jobs.polls(id, 2);
    await jobs.upstream.setJob(id, { status: "completed" });
    for (const answer of await Promise.all(waiting)) {
      assertTold(answer, { status: "completed", seconds: 25, seq: 2 });
    }
    assertApart(await jobs.reads(id));
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
    await jobs.polls(id, 1);
    for (const status of ["planning", "completed"]) await change(id, { status }, [beside]);
    assert.deepEqual(await waiting, await platformJob(id));
    assert.deepEqual(updates, ["active", "planning", "completed"]);
    assertApart(await jobs.reads(id));
  });

  test("watches a job, and leaves it", async () => {
    await jobs.calm();
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
    await jobs.polls(quietJob.id, 1);
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
