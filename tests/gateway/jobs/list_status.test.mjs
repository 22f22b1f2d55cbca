import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { until } from "../analytics_requests.mjs";
import { createOneByOne, idsOf, jobs, page } from "./listed_jobs.mjs";

describe("the status of a listed job", () => {
  const countsOf = async (ids) =>
    Object.fromEntries(
      await Promise.all(ids.map(async (id) => [id, (await jobs.reads(id)).count])),
    );
  const total = (counts) => Object.values(counts).reduce((sum, count) => sum + count, 0);

  test("reads each unfinished job upstream once when listing, and no finished jobs", async () => {
    const ids = await createOneByOne(6);
    const link = "https://example.com/pull/9";
    const ends = ["completed", "failed", "archived"];
    for (const [index, status] of ends.entries()) {
      await jobs.upstream.setJob(ids[index], { status, prLink: link });
    }
    await jobs.upstream.setJob(ids[3], { status: "planning" });
    await jobs.waitIntervals();

    const listedAt = jobs.gate.now();
    const { jobs: first } = await page({ limit: 6 });
    assert.deepEqual(
      first.map(({ status, prLink }) => [status, prLink]),
      [
        ["completed", link],
        ["failed", link],
        ["archived", link],
        ["planning", null],
        ["active", null],
        ["active", null],
      ],
    );
    for (const { checkedAt } of first) assert.ok(Date.parse(checkedAt) >= listedAt, checkedAt);
    const counts = await countsOf(ids);
    assert.deepEqual(Object.values(counts), [1, 1, 1, 1, 1, 1]);

    await jobs.waitIntervals();
    const { jobs: second } = await page({ limit: 6 });
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
      const { jobs: listed } = await page({ limit: 100 });
      assert.equal(listed.length, 100);
      const counts = await countsOf(idsOf(listed));
      assert.equal(total(counts), round * 8);
      const news = idsOf(listed).filter((id) => counts[id] > 0 && !read.has(id));
      assert.equal(news.length, 8, "no job is read again while others wait");
      for (const id of news) read.add(id);
    }
    // Each batch created its ten jobs concurrently, so the order within a batch is undefined. The
    // gateway has read 24 jobs. They include the two oldest batches, and thus the 16 oldest jobs.
    const { jobs: listed } = await page({ limit: 100 });
    const oldest = idsOf(listed).slice(-16);
    assert.ok(
      oldest.every((id) => read.has(id)),
      "the stalest jobs are read first",
    );
  });

  test("lists the last known status while Mintlify fails", async () => {
    const faults = [
      { kind: "status", status: 500 },
      { kind: "status", status: 404 },
      { kind: "status", status: 401 },
      { kind: "reset" },
      { kind: "hang" },
      { kind: "malformedJson" },
      { kind: "cutBody" },
    ];
    const ids = await createOneByOne(faults.length);
    for (const [index, fault] of faults.entries()) {
      await jobs.upstream.setJob(ids[index], { status: "completed" });
      await jobs.upstream.fault({ target: ids[index], times: 0, fault });
    }
    await jobs.waitIntervals();
    const listed = async () => {
      const { jobs: shown } = await page({ limit: ids.length });
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
