import assert from "node:assert/strict";
import { test } from "node:test";
import { importSource } from "./source.mjs";

const { isOutdated, readTodayJobs } = await importSource("today/today_jobs.ts");
const { usedUpUntil } = await importSource("shell/rate_limit.ts");

const NOW = Date.parse("2026-11-28T12:00:00Z");
const ended = new AbortController().signal;

function finishedJobs(count, changes = {}) {
  return Array.from({ length: count }, (_, at) => ({
    id: `${at}`,
    status: "completed",
    prLink: `https://github.com/acme/docs/pull/${at + 1}`,
    createdAt: new Date(NOW - at * 60_000).toISOString(),
    ...changes,
  }));
}

function read(jobs, { state = "merged", nextCursor = null } = {}) {
  const client = {
    agentJobs: { list: async () => ({ jobs, nextCursor }) },
    request: async () => ({ state }),
  };
  return readTodayJobs({ client, projectId: "acme" }, NOW, ended);
}

test("with more pull requests than were looked up, the number is known", async () => {
  const all = await read(finishedJobs(10));
  assert.deepEqual(all.toReview, { jobs: [], among: null });
  const { toReview, failed } = await read(finishedJobs(11));
  assert.deepEqual(toReview, { jobs: [], among: { count: 10, what: "pull request" } });
  assert.equal(failed.among, null);
});

test("with older jobs of the same weeks, the number of jobs is known", async () => {
  const { toReview, failed } = await read(finishedJobs(3), { nextCursor: "next" });
  assert.deepEqual([toReview.among, failed.among], Array(2).fill({ count: 3, what: "job" }));
  const old = finishedJobs(3, { createdAt: "2026-01-01T00:00:00Z" });
  assert.equal((await read(old, { nextCursor: "next" })).failed.among, null);
});

test("a new job, a deletion or another state of a job outdates what was read", () => {
  const jobs = finishedJobs(3);
  const [job] = jobs;
  const isOutdatedBy = (...news) =>
    isOutdated(
      jobs,
      news.map((job) => [job.id, job]),
    );
  assert.equal(isOutdatedBy(), false);
  assert.equal(isOutdatedBy(...jobs), false);
  assert.equal(isOutdatedBy({ ...job, status: "failed" }), true);
  assert.equal(isOutdatedBy({ ...job, prLink: null }), true);
  const other = { ...job, id: "other" };
  assert.equal(isOutdatedBy({ ...other, createdAt: "2026-12-01T00:00:00Z" }), true);
  assert.equal(isOutdatedBy({ ...other, createdAt: "2025-12-01T00:00:00Z" }), false);
  assert.equal(isOutdated(jobs, [[job.id, null]]), true);
  assert.equal(isOutdated(jobs, [["other", null]]), false);
});

test("a used-up limit ends when its next request becomes free", () => {
  const limit = { policy: "analytics", quota: 100, window: 3_600_000, left: 0, at: NOW };
  assert.equal(usedUpUntil({ ...limit, freesAt: NOW + 60_000 }, NOW), NOW + 60_000);
  assert.equal(usedUpUntil({ ...limit, freesAt: NOW + 60_000 }, NOW + 60_000), null);
  assert.equal(usedUpUntil({ ...limit, freesAt: null }, NOW), NOW + 3_600_000);
  assert.equal(usedUpUntil({ ...limit, left: 1, freesAt: null }, NOW), null);
  assert.equal(usedUpUntil(null, NOW), null);
});
