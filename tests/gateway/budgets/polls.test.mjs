/** Budgets for polls. Polls of jobs that the gateway created use the project's poll budget. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { CLOCK_RATE, isNow, startJobs, useJobs } from "../jobs_gateway.mjs";
import { assertProblem } from "../recorded_gateway.mjs";

const JOBS = 20;
/** The window is short, so that the test takes seconds instead of hours. */
const WINDOW_S = 20;
const LIMIT = 100;
/** The default of JOB_POLLS_PER_HOUR: a fifth of the limit. */
const POLLS = LIMIT / 5;
/** Tolerance for the latency of a poll. */
const LATENCY_TOLERANCE_MS = 5_000;
const PATIENCE_MS = 120_000;

/** Returns the maximum number of instants within any window of `windowMs` milliseconds. */
function countInWindow(instants, windowMs) {
  const sorted = instants.toSorted((a, b) => a - b);
  const count = (from) => sorted.filter((at) => at >= from && at < from + windowMs).length;
  return Math.max(0, ...sorted.map(count));
}

describe("a Mintlify that counts reads as creations", () => {
  const jobs = useJobs("poll-budget", {
    upstream: { createLimit: LIMIT, readsShareJobLimit: true },
    vars: {
      CREATE_LIMIT_PER_HOUR: String(LIMIT),
      LIMIT_WINDOW_SECONDS: String(WINDOW_S),
      // A blank value counts as unset, so that the default applies.
      JOB_POLLS_PER_HOUR: "",
    },
    prepare: (upstream) => upstream.setLimits({ create: LIMIT, windowMs: WINDOW_S * 1000 }),
  });

  /** Creates jobs continuously, at a rate of almost 80 % of the limit. */
  function keepCreating() {
    let isStopped = false;
    let count = 0;
    // Leave two of the allowed creations per window unused, so that the order of requests at a
    // window's edge does not matter.
    const interval = (WINDOW_S * 1000) / CLOCK_RATE / (LIMIT - POLLS - 2);
    const running = (async () => {
      while (!isStopped || count <= LIMIT - POLLS) {
        await Promise.all([jobs.create("another job"), sleep(interval)]);
        count += 1;
      }
      return count;
    })();
    running.catch(() => {});
    return async () => {
      isStopped = true;
      return await running;
    };
  }

  test("delivers every change of 20 watched jobs and leaves 80 % of the limit to creations", async (context) => {
    const own = await jobs.createMany(JOBS, "watched");
    const streams = await Promise.all(own.map((id) => jobs.watching(id)));
    await jobs.untilHealth(({ budgets }) => budgets["create-job"].left === LIMIT);
    const stop = keepCreating();
    const started = jobs.gate.now();
    for (const status of ["planning", "completed"]) {
      for (const id of own) await jobs.upstream.setJob(id, { status });
      await Promise.all(streams.map((stream) => stream.event(isNow(status), PATIENCE_MS)));
    }
    const seconds = (jobs.gate.now() - started) / 1000;
    const created = await stop();

    const polls = [];
    for (const id of own) polls.push(...(await jobs.reads(id)).at);
    const largest = countInWindow(polls, WINDOW_S * 1000 - LATENCY_TOLERANCE_MS);
    context.diagnostic(
      `${JOBS} jobs, 2 changes each, in ${seconds.toFixed(0)} s (${(seconds / WINDOW_S).toFixed(1)} windows): ` +
        `${polls.length} polls, at most ${largest} per window; ${created} creations, none refused`,
    );
    assert.ok(largest <= POLLS, `${largest} polls in a window`);
  });
});

test("sends no more reads than the poll budget allows, including retries after a 502", async (context) => {
  const [seconds, maxReads] = [8, 3];
  const jobs = await startJobs("poll-retries", {
    vars: { JOB_POLLS_PER_HOUR: String(maxReads), LIMIT_WINDOW_SECONDS: String(seconds) },
  });
  context.after(() => jobs.stop());
  const { id } = await jobs.create("watched");
  const fault = { kind: "status", status: 502 };
  await jobs.upstream.fault({ operation: "agentJobs.get", fault, times: 0 });
  await jobs.watching(id);
  const { at } = await jobs.untilReads(id, maxReads + 1);
  const largest = countInWindow(at, seconds * 1000 - LATENCY_TOLERANCE_MS);
  assert.ok(largest <= maxReads, `${largest} reads in a window`);
});

describe("a job that the gateway did not create", () => {
  const QUOTA = 20;
  const WATCHED = 10;
  const jobs = useJobs("foreign-polls");

  const totalReads = async (ids) => {
    const reads = await Promise.all(ids.map((id) => jobs.reads(id)));
    return reads.reduce((sum, { count }) => sum + count, 0);
  };

  test("counts polls as reads of the watcher and ends its streams when they are used up", async (context) => {
    const grant = { sub: "limited", scope: "jobs:read", quota: { "read-jobs": QUOTA } };
    const authorization = `Bearer ${jobs.gate.token(grant)}`;
    const ids = [];
    for (let index = 0; index < WATCHED; index += 1) {
      ids.push((await jobs.directly("made elsewhere")).id);
    }
    const streams = await Promise.all(ids.map((id) => jobs.watching(id, { authorization })));
    for (const stream of streams) assert.equal(await stream.ended, "clean");
    const reads = await totalReads(ids);
    context.diagnostic(`${reads} upstream reads under a quota of ${QUOTA}`);
    assert.equal(reads, QUOTA);

    const answer = await jobs.gate.get(jobs.path(ids[0]), { authorization });
    assertProblem(answer, 429, "quota-exceeded");
    const again = jobs.watch(ids[0], { authorization });
    await again.ended;
    assert.equal(again.status, 429);
    assert.equal(await totalReads(ids), QUOTA);
  });
});
