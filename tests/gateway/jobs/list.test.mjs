/** The job list. The list contains jobs that were created through the gateway, newest first. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { scanForCanary } from "../../harness/canary.mjs";
import { OTHER_PROJECT } from "../jobs_gateway.mjs";
import { assertCommonHead, before } from "../recorded_gateway.mjs";
import { createOneByOne, idsOf, jobs, LIST, page } from "./listed_jobs.mjs";

/** The second line of some prompts. The gateway must send this line only to Mintlify. */
const SECOND_LINE = "and-this-is-the-private-second-line-7f3a9c";
const FIELDS = ["id", "status", "prompt", "createdBy", "createdAt", "prLink", "checkedAt"];

/** Returns the jobs on all pages of the list for `query`. */
async function readPages(query, between = async () => {}) {
  const listed = [];
  for (let { jobs: shown, nextCursor } = await page(query); ; ) {
    listed.push(...shown);
    if (nextCursor === null) return listed;
    assert.equal(shown.length, Number(query.limit), "every page but the last is full");
    await between();
    ({ jobs: shown, nextCursor } = await page({ ...query, cursor: nextCursor }));
  }
}

describe("a listed job", () => {
  test("lists a job with its creator, creation time, prompt and status", async () => {
    const startedAt = jobs.gate.now();
    const bob = `Bearer ${jobs.gate.token({ sub: "bob" })}`;
    const { id } = await jobs.create(`Fix the docs\n${SECOND_LINE}`, { authorization: bob });
    const answer = await jobs.get(`${LIST}?limit=1`);
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
    const [listed] = (await page({ limit: 1 })).jobs;
    assert.deepEqual([listed.id, listed.prompt], [id, "the first"]);
  });
});

describe("the job list", () => {
  let ids;

  before(async () => {
    ids = await createOneByOne(30);
  });

  for (const limit of [1, 7, 100]) {
    test(`lists every job once in pages of ${limit}`, async () => {
      const listed = await readPages({ limit });
      assert.deepEqual(idsOf(listed).slice(0, ids.length), ids);
      assert.equal(new Set(idsOf(listed)).size, listed.length);
      const moments = listed.map(({ createdAt }) => createdAt);
      assert.deepEqual(moments, [...moments].sort().reverse());
    });
  }

  test("does not list a job that Mintlify refused to create", async () => {
    const [newest] = (await page({ limit: 1 })).jobs;
    for (const status of [400, 500, 429]) {
      await jobs.upstream.fault({ fault: { kind: "status", status, headers: RETRY_SOON } });
      const { authorization } = jobs;
      const answer = await jobs.gate.post(jobs.path(), { prompt: "not this" }, { authorization });
      assert.equal(answer.status, status);
    }
    assert.deepEqual(idsOf((await page({ limit: 1 })).jobs), [newest.id]);
    await untilOpen();
  });

  test("does not list a job created outside the gateway, even after it was watched here", async () => {
    const [newest] = (await page({ limit: 1 })).jobs;
    const { id } = await jobs.directly("from elsewhere");
    const stream = await jobs.watching(id);
    const polled = await jobs.get(jobs.path(id), [["Prefer", "wait=0"]]);
    assert.equal(polled.json.id, id);
    await jobs.followUp(id);
    assert.deepEqual(idsOf((await page({ limit: 1 })).jobs), [newest.id]);
    stream.leave();
  });

  test("does not list jobs of other projects", async () => {
    const project = OTHER_PROJECT;
    const { id } = await jobs.create("elsewhere", { project });
    const target = `/v2/agent/${project}/jobs`;
    const other = idsOf((await page({ limit: 100 }, { target })).jobs);
    assert.equal(other[0], id);
    const own = idsOf(await readPages({ limit: 100 }));
    assert.ok(!own.includes(id));
    for (const one of other) assert.ok(!own.includes(one));
    const { nextCursor } = await page({ limit: 1 });
    const crossed = await page({ limit: 100, cursor: nextCursor }, { target });
    for (const { id } of crossed.jobs) assert.ok(other.includes(id), "a cursor crosses projects");
  });
});

const RETRY_SOON = { "retry-after": "1" };

/** Creates jobs until the one-second block after an upstream 429 has ended. */
async function untilOpen() {
  const { authorization } = jobs;
  for (;;) {
    const answer = await jobs.gate.post(jobs.path(), { prompt: "open?" }, { authorization });
    if (answer.status === 201) return;
    assert.equal(answer.status, 429, answer.text);
  }
}

test("keeps all but a prompt's first line out of lists, the log and storage", async () => {
  assert.ok(
    (await jobs.upstream.jobs()).some(({ prompt }) => prompt.includes(SECOND_LINE)),
    "Mintlify receives the whole prompt",
  );
  const listed = JSON.stringify(await readPages({ limit: 100 }));
  assert.ok(!listed.includes(SECOND_LINE));
  assert.ok(!jobs.gate.gateway.log().includes(SECOND_LINE));
  await jobs.gate.gateway.stop();
  const stored = await scanForCanary("Fix the docs", [jobs.state]);
  assert.ok(stored.hits.length > 0, "the first line is in storage");
  assert.deepEqual((await scanForCanary(SECOND_LINE, [jobs.state])).hits, []);
  assert.deepEqual((await scanForCanary(jobs.gate.key, [jobs.state])).hits, []);
});
