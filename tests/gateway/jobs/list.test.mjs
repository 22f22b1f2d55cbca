/** The list of jobs that were created through the gateway, and the freshness of their status. */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { Client } from "../../../pkg/dist/node.js";
import { scanForCanary } from "../../harness/canary.mjs";
import { until } from "../analytics_requests.mjs";
import { OTHER_PROJECT, startJobs } from "../jobs_gateway.mjs";
import { assertCommonHead, assertInvalid, assertProblem, PROJECT } from "../recorded_gateway.mjs";

const LIST = `/v2/agent/${PROJECT}/jobs`;
/** Never in the first line of a prompt. Only Mintlify may receive it. */
const SECOND_LINE = "and-this-is-the-private-second-line-7f3a9c";
const FIELDS = ["id", "status", "prompt", "createdBy", "createdAt", "prLink", "checkedAt"];

let jobs;

before(async () => {
  jobs = await startJobs("ledger", { vars: { KEEP_PROMPTS: "first-line" } });
});
after(() => jobs?.stop());
// The simulator's jobs stay, because the tests count the reads of each.
beforeEach(() => jobs.upstream.clearFaults());

/** Reads one page of the list. */
async function page(query = {}, { target = LIST, authorization } = {}) {
  const search = new URLSearchParams(query);
  const answer = await jobs.gate.get(search.size > 0 ? `${target}?${search}` : target, {
    authorization: authorization ?? jobs.authorization,
  });
  assert.equal(answer.status, 200, answer.text);
  return answer.json;
}

/** Reads the list from the page of `query` to its end. Calls `between` between two pages. */
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

const idsOf = (listed) => listed.map(({ id }) => id);

/** Creates jobs one after another. Returns their ids, newest first. */
async function createOneByOne(count, options) {
  const ids = [];
  for (let number = 0; number < count; number += 1) {
    ids.unshift((await jobs.create(`number ${number}`, options)).id);
  }
  return ids;
}

/** Waits for one polling interval, measured by a watched job of another project. */
async function waitInterval() {
  const project = OTHER_PROJECT;
  const { id } = await jobs.create("tick", { project });
  const clock = await jobs.watching(id, { project });
  await jobs.untilReads(id, 2);
  clock.leave();
  await jobs.upstream.setJob(id, { status: "completed" });
}

describe("a listed job", () => {
  test("lists a job with its creator, creation time, prompt and status", async () => {
    const startedAt = Date.now();
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
      assert.ok(Date.parse(moment) >= startedAt && Date.parse(moment) <= Date.now(), moment);
    }
  });

  for (const [what, prompt, line] of [
    ["its first line that is not blank", `\n \t\r\n  Fix it  \r\n${SECOND_LINE}`, "Fix it"],
    ["a line of 120 characters", "a".repeat(120), "a".repeat(120)],
    ["the first 120 characters", `${"b".repeat(120)}${SECOND_LINE}`, `${"b".repeat(120)}…`],
    ["120 characters beyond the BMP", `${"😀".repeat(121)}`, `${"😀".repeat(120)}…`],
    ["no control characters", "a\u0000b\u001b[31mc\u0085d\te", "ab[31mcde"],
    ["quotes and markup unchanged", "<b>\"'\\ ü \u202e'; DROP TABLE job;--", undefined],
  ]) {
    test(`summarizes a prompt in the list: ${what}`, async () => {
      const { id } = await jobs.create(prompt);
      const [listed] = (await page({ limit: 1 })).jobs;
      assert.deepEqual([listed.id, listed.prompt], [id, line ?? prompt]);
    });
  }

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

  test("returns a created job whose id cannot be a path segment, but does not list it", async () => {
    const [newest] = (await page({ limit: 1 })).jobs;
    const body = { id: "..", status: "active" };
    await jobs.upstream.fault({ fault: { kind: "json", status: 201, body } });
    const { authorization } = jobs;
    const headers = [["Idempotency-Key", "not-listed"]];
    const create = () =>
      jobs.gate.post(jobs.path(), { prompt: "not listed" }, { authorization, headers });
    const first = await create();
    assert.deepEqual([first.status, first.json], [201, body]);
    const again = await create();
    assert.deepEqual([again.status, again.text], [201, first.text]);
    assert.equal(again.header("idempotent-replayed"), "true");
    assert.deepEqual(idsOf((await page({ limit: 1 })).jobs), [newest.id]);
    await until(() =>
      jobs.gate.gateway.log().includes("the job could not be stored: a job whose id"),
    );
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
    assert.deepEqual(await page({}, { target, authorization }), { jobs: [], nextCursor: null });
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

describe("an invalid list query", () => {
  const encoded = (text) => Buffer.from(text).toString("base64url");

  for (const limit of ["0", "101", "-1", "1.5", "1e1", "abc", "", " 5", "+5", "٣", "0x5"]) {
    test(`rejects a job list with limit=${limit}`, async () => {
      const target = `${LIST}?${new URLSearchParams({ limit })}`;
      assertInvalid(await jobs.get(target), "limit", "job-page-size");
    });
  }

  for (const limit of ["9".repeat(30), "18446744073709551616", "256", "281"]) {
    test(`rejects a job list with limit=${limit}`, async () => {
      const { errors } = assertProblem(
        await jobs.get(`${LIST}?limit=${limit}`),
        400,
        "invalid-request",
      );
      assert.equal(errors[0].field, "limit");
    });
  }

  for (const cursor of [
    ...["abc", "🙂", `${encoded("1.2")}=`, encoded("1.2.3")],
    ...["1.18446744073709551616", "1.2'; DROP TABLE job;--"].map(encoded),
  ]) {
    test(`rejects a job list with the cursor ${JSON.stringify(cursor)}`, async () => {
      const target = `${LIST}?${new URLSearchParams({ cursor })}`;
      assertInvalid(await jobs.get(target), "cursor", "cursor");
    });
  }

  test("rejects a job list with an empty cursor", async () => {
    const { errors } = assertProblem(await jobs.get(`${LIST}?cursor=`), 400, "invalid-request");
    assert.equal(errors[0].field, "cursor");
  });

  test("accepts a cursor beyond Number.MAX_SAFE_INTEGER", async () => {
    const first = idsOf((await page({ limit: 5 })).jobs);
    const far = encoded("18446744073709551615.18446744073709551615");
    assert.deepEqual(idsOf((await page({ limit: 5, cursor: far })).jobs), first);
    const nothing = await page({ cursor: encoded("0.0") });
    assert.deepEqual(nothing, { jobs: [], nextCursor: null });
  });

  for (const [query, field, rule] of [
    ["limit=1&limit=2", "limit", "once"],
    ["cursor=a&cursor=b", "cursor", "once"],
    ["status=active", "status", "unknown"],
    ["Limit=1", "Limit", "unknown"],
  ]) {
    test(`rejects a job list with ?${query}`, async () => {
      assertInvalid(await jobs.get(`${LIST}?${query}`), field, rule);
    });
  }
});

describe("access to the job list", () => {
  const as = (changes) => `Bearer ${jobs.gate.token(changes)}`;

  test("requires the project and jobs:read to list jobs", async () => {
    for (const [authorization, status, kind] of [
      [null, 401, "missing-token"],
      ["Bearer no-token", 401, "invalid-token"],
      [as({ scope: "jobs:create analytics:read gateway:operate" }), 403, "insufficient-scope"],
      [as({ projects: [OTHER_PROJECT] }), 403, "project-not-allowed"],
    ]) {
      assertProblem(await jobs.gate.get(LIST, { authorization }), status, kind);
    }
    await page({ limit: 1 }, { authorization: as({ scope: "jobs:read", sub: "carol" }) });
  });

  test("rejects POST, PUT and DELETE for the job list", async () => {
    for (const method of ["POST", "PUT", "DELETE"]) {
      const { authorization } = jobs;
      const answer = await jobs.gate.send({ method, target: LIST, authorization });
      assertProblem(answer, 405, "method-not-allowed");
    }
  });
});

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
    await waitInterval();

    const listedAt = Date.now();
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

    await waitInterval();
    const { jobs: second } = await page({ limit: 6 });
    assert.deepEqual(Object.values(await countsOf(ids)), [1, 1, 1, 2, 2, 2]);
    const finishedOf = (listed) => listed.slice(0, 3);
    assert.deepEqual(finishedOf(second), finishedOf(first), "finished jobs are unchanged");
  });

  test("reads only the jobs of the listed page upstream", async () => {
    const ids = await createOneByOne(10);
    await waitInterval();
    const { jobs: listed } = await page({ limit: 4 });
    assert.deepEqual(idsOf(listed), ids.slice(0, 4));
    assert.deepEqual(Object.values(await countsOf(ids)), [1, 1, 1, 1, 0, 0, 0, 0, 0, 0]);
  });

  test("reads each job upstream once for 25 concurrent lists", async () => {
    const ids = await createOneByOne(8);
    await waitInterval();
    const pages = await Promise.all(Array.from({ length: 25 }, () => page({ limit: 8 })));
    for (const { jobs: listed } of pages) assert.deepEqual(idsOf(listed), ids);
    assert.equal(total(await countsOf(ids)), ids.length);
  });

  test("reads at most eight jobs upstream for the largest page, stalest first", async () => {
    for (let batch = 0; batch < 10; batch += 1) {
      await Promise.all(Array.from({ length: 10 }, () => jobs.create("one of a hundred")));
    }
    await waitInterval();
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
    // These jobs were created one after another, so the last 16 are the stalest.
    const { jobs: listed } = await page({ limit: 100 });
    const oldest = idsOf(listed).slice(-16);
    assert.ok(
      oldest.every((id) => read.has(id)),
      "the stalest jobs are read first",
    );
  });

  test("does not read a listed job again within the polling interval", async () => {
    const ids = await createOneByOne(3);
    const { at } = (await page({ limit: 3 })) && (await jobs.reads(ids[0]));
    assert.ok(at.length <= 1);
    for (let round = 0; round < 10; round += 1) await page({ limit: 3 });
    for (const id of ids) {
      const reads = await jobs.reads(id);
      const gaps = reads.at.slice(1).map((moment, index) => moment - reads.at[index]);
      // 50 ms tolerance for two clocks and for latency.
      for (const gap of gaps) assert.ok(gap >= 950, `${gap}`);
    }
  });

  test("lists a finished job as active after a follow-up", async () => {
    const { id } = await jobs.create();
    const stream = await jobs.watching(id);
    await jobs.upstream.setJob(id, { status: "completed" });
    await stream.ended;
    const status = async () => (await page({ limit: 1 })).jobs[0].status;
    assert.equal(await status(), "completed");
    await jobs.followUp(id);
    assert.equal(await status(), "active");
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
    await waitInterval();
    const listed = async () => {
      const { jobs: shown } = await page({ limit: ids.length });
      return shown.map(({ id, status }) => [id, status]);
    };
    const all = (status) => ids.map((id) => [id, status]);
    assert.deepEqual(await listed(), all("active"));
    for (const id of ids) assert.ok((await jobs.reads(id)).count > 0, "the gateway read the job");
    await jobs.upstream.clearFaults();
    await waitInterval();
    assert.deepEqual(await listed(), all("completed"));
  });
});

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

  test("keeps secrets out of responses, streams and the log", () => jobs.assertDiscreet());
});
