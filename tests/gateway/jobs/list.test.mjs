/** The job list. The list contains jobs that were created through the gateway, newest first. */
import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { scanForCanary } from "../../harness/canary.mjs";
import { until } from "../analytics_requests.mjs";
import { idsOf, OTHER_PROJECT, useJobs } from "../jobs_gateway.mjs";
import { assertCommonHead, before, PROJECT } from "../recorded_gateway.mjs";

/** The second line of some prompts. The gateway must send this line only to Mintlify. */
const SECOND_LINE = "and-this-is-the-private-second-line-7f3a9c";
const FIELDS = ["id", "status", "prompt", "createdBy", "createdAt", "prLink", "checkedAt"];

const jobs = useJobs("listed-jobs", { vars: { KEEP_PROMPTS: "first-line" } });
// `reset()` would also delete the simulator's jobs, which the gateway still lists.
beforeEach(() => jobs.upstream.clearFaults());

const createNewestFirst = async (count) => (await jobs.createMany(count)).reverse();

/** Returns the jobs on all pages of the list. */
async function readPages(limit) {
  const listed = [];
  for (let { jobs: shown, nextCursor } = await jobs.list({ limit }); ; ) {
    listed.push(...shown);
    if (nextCursor === null) return listed;
    assert.equal(shown.length, limit, "every page but the last is full");
    ({ jobs: shown, nextCursor } = await jobs.list({ limit, cursor: nextCursor }));
  }
}

describe("a listed job", () => {
  test("lists a job with its creator, creation time, prompt and status", async () => {
    const startedAt = jobs.gate.now();
    const bob = `Bearer ${jobs.gate.token({ sub: "bob" })}`;
    const { id } = await jobs.create(`Fix the docs\n${SECOND_LINE}`, { authorization: bob });
    const answer = await jobs.get(`/v2/agent/${PROJECT}/jobs?limit=1`);
    assertCommonHead(answer);
    assert.equal(answer.header("content-type"), "application/json");
    const [listed] = answer.json.jobs;
    assert.deepEqual(Object.keys(listed), FIELDS);
    const { createdAt, checkedAt, ...rest } = listed;
    assert.deepEqual(rest, {
      id,
      status: "active",
      prompt: "Fix the docs",
      createdBy: "bob",
      prLink: null,
    });
    for (const moment of [createdAt, checkedAt]) {
      assert.match(moment, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      assert.ok(Date.parse(moment) >= startedAt && Date.parse(moment) <= jobs.gate.now(), moment);
    }
  });

  test("lists a job with its original prompt after a follow-up", async () => {
    const { id } = await jobs.create("the first");
    await jobs.followUp(id, "the second");
    const [listed] = (await jobs.list({ limit: 1 })).jobs;
    assert.deepEqual([listed.id, listed.prompt], [id, "the first"]);
  });
});

describe("the job list", () => {
  let ids;

  before(async () => {
    ids = await createNewestFirst(30);
  });

  for (const limit of [1, 7, 100]) {
    test(`lists every job once in pages of ${limit}`, async () => {
      const listed = await readPages(limit);
      assert.deepEqual(idsOf(listed).slice(0, ids.length), ids);
      assert.equal(new Set(idsOf(listed)).size, listed.length);
      const moments = listed.map(({ createdAt }) => createdAt);
      assert.deepEqual(moments, [...moments].sort().reverse());
    });
  }

  test("does not list a job that Mintlify refused to create", async () => {
    const [newest] = (await jobs.list({ limit: 1 })).jobs;
    for (const status of [400, 500, 429]) {
      await jobs.upstream.fault({ fault: { kind: "status", status, headers: RETRY_SOON } });
      assert.equal((await jobs.send("not this")).status, status);
    }
    assert.deepEqual(idsOf((await jobs.list({ limit: 1 })).jobs), [newest.id]);
    await untilOpen();
  });

  test("does not list a job created outside the gateway, even after it was watched here", async () => {
    const [newest] = (await jobs.list({ limit: 1 })).jobs;
    const { id } = await jobs.directly("from elsewhere");
    const stream = await jobs.watching(id);
    const polled = await jobs.get(jobs.path(id), [["Prefer", "wait=0"]]);
    assert.equal(polled.json.id, id);
    await jobs.followUp(id);
    assert.deepEqual(idsOf((await jobs.list({ limit: 1 })).jobs), [newest.id]);
    stream.leave();
  });

  test("does not list jobs of other projects", async () => {
    const project = OTHER_PROJECT;
    const { id } = await jobs.create("elsewhere", { project });
    const other = idsOf((await jobs.list({ limit: 100 }, { project })).jobs);
    assert.equal(other[0], id);
    const own = idsOf(await readPages(100));
    assert.ok(!own.includes(id));
    for (const one of other) assert.ok(!own.includes(one));
    const { nextCursor } = await jobs.list({ limit: 1 });
    const crossed = await jobs.list({ limit: 100, cursor: nextCursor }, { project });
    for (const { id } of crossed.jobs) assert.ok(other.includes(id), "a cursor crosses projects");
  });
});

const RETRY_SOON = { "retry-after": "1" };

/** Creates jobs until the one-second block after an upstream 429 has ended. */
async function untilOpen() {
  for (;;) {
    const answer = await jobs.send("open?");
    if (answer.status === 201) return;
    assert.equal(answer.status, 429, answer.text);
  }
}

describe("the status of a listed job", () => {
  async function countsOf(ids) {
    const entries = ids.map(async (id) => [id, (await jobs.reads(id)).count]);
    return Object.fromEntries(await Promise.all(entries));
  }
  const total = (counts) => Object.values(counts).reduce((sum, count) => sum + count, 0);

  test("reads each unfinished job upstream once when listing, and no finished jobs", async () => {
    const ids = await createNewestFirst(6);
    const link = "https://example.com/pull/9";
    const ends = ["completed", "failed", "archived"];
    for (const [index, status] of ends.entries()) {
      await jobs.upstream.setJob(ids[index], { status, prLink: link });
    }
    await jobs.upstream.setJob(ids[3], { status: "planning" });
    await jobs.waitIntervals();

    const listedAt = jobs.gate.now();
    const { jobs: first } = await jobs.list({ limit: 6 });
    const states = first.map(({ status, prLink }) => [status, prLink]);
    const unfinished = ["planning", "active", "active"].map((status) => [status, null]);
    assert.deepEqual(states, [...ends.map((status) => [status, link]), ...unfinished]);
    for (const { checkedAt } of first) assert.ok(Date.parse(checkedAt) >= listedAt, checkedAt);
    const counts = await countsOf(ids);
    assert.deepEqual(Object.values(counts), [1, 1, 1, 1, 1, 1]);

    await jobs.waitIntervals();
    const { jobs: second } = await jobs.list({ limit: 6 });
    assert.deepEqual(Object.values(await countsOf(ids)), [1, 1, 1, 2, 2, 2]);
    const finishedOf = (listed) => listed.slice(0, 3);
    assert.deepEqual(finishedOf(second), finishedOf(first), "finished jobs are unchanged");
  });

  test("reads at most eight jobs upstream for the largest page, stalest first", async () => {
    for (let batch = 0; batch < 10; batch += 1) {
      await Promise.all(Array.from({ length: 10 }, () => jobs.create("one of a hundred")));
    }
    await jobs.waitIntervals();
    const read = new Set();
    for (let round = 1; round <= 3; round += 1) {
      const { jobs: listed } = await jobs.list({ limit: 100 });
      assert.equal(listed.length, 100);
      const counts = await countsOf(idsOf(listed));
      assert.equal(total(counts), round * 8);
      const news = idsOf(listed).filter((id) => counts[id] > 0 && !read.has(id));
      assert.equal(news.length, 8, "no job is read again while others wait");
      for (const id of news) read.add(id);
    }
    // Each batch created its ten jobs concurrently, so the order within a batch is undefined. The
    // gateway has read 24 jobs. They include the two oldest batches, and thus the 16 oldest jobs.
    const { jobs: listed } = await jobs.list({ limit: 100 });
    const oldest = idsOf(listed).slice(-16);
    for (const id of oldest) assert.ok(read.has(id), "the stalest jobs are read first");
  });

  test("lists the last known status while Mintlify fails", async () => {
    const faults = [
      ...[500, 404, 401].map((status) => ({ kind: "status", status })),
      ...["reset", "hang", "malformedJson", "cutBody"].map((kind) => ({ kind })),
    ];
    const ids = await createNewestFirst(faults.length);
    for (const [index, fault] of faults.entries()) {
      await jobs.upstream.setJob(ids[index], { status: "completed" });
      await jobs.upstream.fault({ target: ids[index], times: 0, fault });
    }
    await jobs.waitIntervals();
    const listed = async () => {
      const { jobs: shown } = await jobs.list({ limit: ids.length });
      return shown.map(({ id, status }) => [id, status]);
    };
    const all = (status) => ids.map((id) => [id, status]);
    assert.deepEqual(await listed(), all("active"));
    for (const id of ids) assert.ok((await jobs.reads(id)).count > 0, "the gateway read the job");
    await jobs.upstream.clearFaults();
    // A poll that hangs continues until its timeout.
    await until(async () => (await listed()).every(([, status]) => status !== "active"));
    assert.deepEqual(await listed(), all("completed"));
  });
});

test("keeps all but a prompt's first line out of lists, the log and storage", async () => {
  const sent = (await jobs.upstream.jobs()).map(({ prompt }) => prompt);
  assert.ok(sent.join().includes(SECOND_LINE), "Mintlify receives the whole prompt");
  const listed = JSON.stringify(await readPages(100));
  assert.ok(!listed.includes(SECOND_LINE));
  assert.ok(!jobs.gate.gateway.log().includes(SECOND_LINE));
  await jobs.gate.gateway.stop();
  const stored = await scanForCanary("Fix the docs", [jobs.state]);
  assert.ok(stored.hits.length > 0, "the first line is in storage");
  assert.deepEqual((await scanForCanary(SECOND_LINE, [jobs.state])).hits, []);
  assert.deepEqual((await scanForCanary(jobs.gate.key, [jobs.state])).hits, []);
});
