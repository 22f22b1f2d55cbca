/**
 * The job list. The list contains jobs that were created through the gateway, newest first. To read
 * the list, a caller needs access to the project and the scope `jobs:read`.
 */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { Client } from "../../../pkg/dist/node.js";
import { scanForCanary } from "../../harness/canary.mjs";
import { OTHER_PROJECT } from "../jobs_gateway.mjs";
import { assertCommonHead, PROJECT } from "../recorded_gateway.mjs";
import { createOneByOne, idsOf, jobs, LIST, page, useJobs } from "./listed_jobs.mjs";

/** The second line of some prompts. The gateway must send this line only to Mintlify. */
const SECOND_LINE = "and-this-is-the-private-second-line-7f3a9c";
const FIELDS = ["id", "status", "prompt", "createdBy", "createdAt", "prLink", "checkedAt"];

useJobs("ledger");

/**
 * Returns the jobs on all pages of the list for `query`. Calls `between` before every page except
 * the first.
 */
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

  test("lists jobs newest first, 25 per page by default", async () => {
    const { jobs: listed, nextCursor } = await page();
    assert.deepEqual(idsOf(listed), ids.slice(0, 25));
    const rest = await page({ cursor: nextCursor });
    assert.deepEqual(idsOf(rest.jobs).slice(0, 5), ids.slice(25));
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

  test("paginates without gaps or duplicates while jobs are being created", async () => {
    const earlier = idsOf(await readPages({ limit: 100 }));
    const created = [];
    const listed = await readPages({ limit: 10 }, async () => {
      created.push((await jobs.create("meanwhile")).id);
    });
    assert.deepEqual(idsOf(listed), earlier);
    const now = idsOf(await readPages({ limit: 100 }));
    assert.deepEqual(now, [...created.reverse(), ...earlier]);
  });

  test("lists each of 30 concurrently created jobs in pages of one", async () => {
    const created = await Promise.all(Array.from({ length: 30 }, () => jobs.create("together")));
    let cursor;
    const listed = [];
    while (listed.length < created.length) {
      const { jobs: shown, nextCursor } = await page(cursor ? { limit: 1, cursor } : { limit: 1 });
      listed.push(...idsOf(shown));
      cursor = nextCursor;
    }
    assert.deepEqual([...listed].sort(), created.map(({ id }) => id).sort());
  });

  test("lists a job once when its creation was repeated under one idempotency key", async () => {
    const headers = [["Idempotency-Key", "once-in-the-ledger"]];
    const first = await jobs.create(`once\n${SECOND_LINE}`, { headers });
    const second = await jobs.create(`once\n${SECOND_LINE}`, { headers });
    assert.equal(second.id, first.id);
    const listed = idsOf((await page()).jobs);
    assert.deepEqual([listed[0], listed.lastIndexOf(first.id)], [first.id, 0]);
  });

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

  test("returns an empty list without a next page for a project without jobs", async () => {
    const authorization = `Bearer ${jobs.gate.token({ projects: ["without-jobs"] })}`;
    const target = "/v2/agent/without-jobs/jobs";
    assert.deepEqual(await page({}, { target, authorization }), {
      jobs: [],
      nextCursor: null,
      revision: 0,
    });
  });

  test("lists the same jobs through the package's iterator", async () => {
    const client = new Client({
      baseUrl: jobs.gate.gateway.url,
      projectId: PROJECT,
      auth: { token: jobs.authorization.replace("Bearer ", "") },
      logLevel: "off",
    });
    const listed = [];
    for await (const { id } of client.agentJobs.list({ limit: 20 })) listed.push(id);
    assert.deepEqual(listed, idsOf(await readPages({ limit: 100 })));
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

describe("stored jobs", () => {
  test("lists the same jobs, with valid cursors, after the gateway was killed", async () => {
    const withoutCheckedAt = ({ checkedAt, ...job }) => job;
    const earlier = await readPages({ limit: 50 });
    const { nextCursor } = await page({ limit: 50 });
    await jobs.restart("kill");
    const later = await readPages({ limit: 50 });
    assert.deepEqual(later.map(withoutCheckedAt), earlier.map(withoutCheckedAt));
    const rest = await page({ limit: 50, cursor: nextCursor });
    assert.deepEqual(idsOf(rest.jobs), idsOf(earlier).slice(50, 100), "earlier cursors work");
    const { id } = await jobs.create("after the crash");
    assert.deepEqual(idsOf((await page({ limit: 1 })).jobs), [id]);
  });

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
});
