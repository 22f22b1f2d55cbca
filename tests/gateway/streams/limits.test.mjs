/** Limits on event streams. A stream ends when its token expires. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { useJobs } from "../jobs_gateway.mjs";
import { assertProblem } from "../recorded_gateway.mjs";

const MAX_PER_CALLER = 5;
const MAX_PER_JOB = 8;
/** Much shorter than the longest long poll of 25 s. */
const SHORT_TOKEN_LIFETIME_S = 15;

/** Prevents the gateway from polling jobs, so that only the tested cause ends a stream. */
const VARS = { JOB_POLL_SECONDS: "300" };

const jobs = useJobs("streams", { vars: VARS });
const capped = useJobs("streams-capped", {
  vars: {
    ...VARS,
    STREAMS_PER_CALLER: String(MAX_PER_CALLER),
    STREAMS_PER_JOB: String(MAX_PER_JOB),
  },
});

/** Returns an `Authorization` value with a token that expires in `seconds` seconds. */
function bearerFor(seconds) {
  const exp = Math.ceil(jobs.gate.now() / 1000) + seconds;
  return `Bearer ${jobs.gate.token({ exp, projects: jobs.projects })}`;
}

test("ends a stream when its token expires, and no other", async () => {
  const { id } = await jobs.create("watch me");
  const other = await jobs.watching(id);
  const authorization = bearerFor(2 * SHORT_TOKEN_LIFETIME_S);
  const stream = await jobs.watching(id, { authorization });
  assert.equal(await stream.until(({ how }) => how), "clean");
  assert.equal(other.isOver, false);
  const target = jobs.path(id, { rest: "/events" });
  assertProblem(await jobs.gate.get(target, { authorization }), 401, "invalid-token");

  // With a new token, a stream can resume after the last event.
  const { lastEventId } = stream;
  const again = jobs.watch(id, { lastEventId, authorization: bearerFor(600) });
  await again.opened;
  assert.equal(again.status, 200);
  for (const open of [other, again]) open.leave();
});

describe("the number of streams", () => {
  const as = (sub) => `Bearer ${capped.gate.token({ sub })}`;
  const events = (id) => capped.path(id, { rest: "/events" });

  function assertTooMany(answer, owner) {
    const problem = assertProblem(answer, 429, "too-many-streams");
    assert.ok(problem.detail.startsWith(owner), problem.detail);
    assert.match(answer.header("retry-after"), /^[1-9]\d*$/);
  }

  test("limits a caller's concurrent streams without reading further jobs upstream", async () => {
    const ids = await Promise.all(
      Array.from({ length: 4 * MAX_PER_CALLER }, async () => (await capped.directly("watched")).id),
    );
    const authorization = as("mallory");
    const first = await capped.watching(ids.pop(), { authorization });
    const streams = ids.map((id) => capped.watch(id, { authorization }));
    await Promise.all(streams.map(({ opened }) => opened));
    const opened = streams.filter(({ status }) => status === 200);
    assert.equal(opened.length, MAX_PER_CALLER - 1);
    const others = streams.filter(({ status }) => status !== 200);
    assert.deepEqual(new Set(others.map(({ status }) => status)), new Set([429]));

    const { id } = await capped.directly("one more");
    assertTooMany(await capped.gate.get(events(id), { authorization }), "the caller");
    const poll = { headers: [["Prefer", "wait=5"]], authorization };
    assertTooMany(await capped.gate.get(capped.path(id), poll), "the caller");
    assert.equal((await capped.reads(id)).count, 0);

    // The limit does not affect other callers. When a stream ends, its caller can open another
    // stream.
    const bystander = await capped.watching(id, { authorization: as("bob") });
    // The next heartbeat shows the runtime that the client has left.
    first.leave();
    await capped.untilHealth(({ watchers }) => watchers === MAX_PER_CALLER);
    const next = await capped.watching(id, { authorization });
    for (const stream of [...opened, bystander, next]) stream.leave();
  });

  test("limits the streams of a job across all callers", async () => {
    const { id } = await capped.create();
    const streams = [];
    for (let number = 0; number < MAX_PER_JOB; number += 1) {
      streams.push(await capped.watching(id, { authorization: as(`caller-${number}`) }));
    }
    const authorization = as("one-more");
    assertTooMany(await capped.gate.get(events(id), { authorization }), "the job");
    const { id: other } = await capped.create();
    streams.push(await capped.watching(other, { authorization }));
    for (const stream of streams) stream.leave();
  });
});
