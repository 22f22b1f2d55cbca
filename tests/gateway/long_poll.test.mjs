/** A job's next change, waited for by a single request: `Prefer: wait`. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { assertCommonHead, assertProblem } from "./gate.mjs";
import { assertApart, CLOCK_TOLERANCE_MS, change, jobs, startWatched } from "./watchers.mjs";

before(() => startWatched("long-poll"));
after(async () => {
  await jobs?.stop();
  await jobs?.assertDiscreet();
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
      await jobs.untilReads(id, 1);
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
    await jobs.untilReads(id, 2);
    await jobs.upstream.setJob(id, { status: "completed" });
    for (const answer of await Promise.all(waiting)) {
      assertTold(answer, { status: "completed", seconds: 25, seq: 2 });
    }
    assertApart(await jobs.reads(id));
  });
});
