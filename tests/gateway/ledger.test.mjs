/** The ledger: the jobs that were created through the gateway, and how they are. */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { Client } from "../../pkg/dist/node.js";
import { scanForCanary } from "../harness/canary.mjs";
import { assertCommonHead, assertInvalid, assertProblem, PROJECT } from "./gate.mjs";
import { OTHER_PROJECT, startJobs } from "./jobs.mjs";
import { until } from "./matrix.mjs";

const LIST = `/v2/agent/${PROJECT}/jobs`;
/** In no prompt's first line: it must get no further than to the platform. */
const SECOND_LINE = "and-this-is-the-private-second-line-7f3a9c";
const MEMBERS = ["id", "status", "prompt", "createdBy", "createdAt", "prLink", "checkedAt"];

let jobs;

before(async () => {
  jobs = await startJobs("ledger");
});
after(() => jobs?.stop());
// The platform's jobs stay: their reads are counted one by one.
beforeEach(() => jobs.upstream.clearFaults());

/** A page of the list. */
async function page(query = {}, { target = LIST, authorization } = {}) {
  const search = new URLSearchParams(query);
  const answer = await jobs.gate.get(search.size > 0 ? `${target}?${search}` : target, {
    authorization: authorization ?? jobs.authorization,
  });
  assert.equal(answer.status, 200, answer.text);
  return answer.json;
}

/** Every page from the one of `cursor` on. */
async function pagesFrom(query, between = async () => {}) {
  const listed = [];
  for (let { jobs: shown, nextCursor } = await page(query); ; ) {
    listed.push(...shown);
    if (nextCursor === null) return listed;
    assert.equal(shown.length, Number(query.limit), "a page that is not the last is full");
    await between();
    ({ jobs: shown, nextCursor } = await page({ ...query, cursor: nextCursor }));
  }
}

const idsOf = (listed) => listed.map(({ id }) => id);

/** Creates jobs one after another; their ids, newest first. */
async function createOneByOne(count, options) {
  const ids = [];
  for (let number = 0; number < count; number += 1) {
    ids.unshift((await jobs.create(`number ${number}`, options)).id);
  }
  return ids;
}

/** Lets the interval after which a job is looked at again pass: by another project's watched job. */
async function interval() {
  const project = OTHER_PROJECT;
  const { id } = await jobs.create("tick", { project });
  const clock = await jobs.watching(id, { project });
  await jobs.untilReads(id, 2);
  clock.leave();
  await jobs.upstream.setJob(id, { status: "completed" });
}

describe("what is listed of a job", () => {
  test("is who created it, when, what for, and how it is", async () => {
    const began = Date.now();
    const bob = `Bearer ${jobs.gate.token({ sub: "bob" })}`;
    const { id } = await jobs.create(`Fix the docs\n${SECOND_LINE}`, { authorization: bob });
    const answer = await jobs.get(`${LIST}?limit=1`);
    assertCommonHead(answer);
    assert.equal(answer.header("content-type"), "application/json");
    const [listed] = answer.json.jobs;
    assert.deepEqual(Object.keys(listed), MEMBERS);
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
      assert.ok(Date.parse(moment) >= began && Date.parse(moment) <= Date.now(), moment);
    }
  });

  for (const [what, prompt, line] of [
    ["its first line that says something", `\n \t\r\n  Fix it  \r\n${SECOND_LINE}`, "Fix it"],
    ["up to 120 characters", "a".repeat(120), "a".repeat(120)],
    ["shortened when longer", `${"b".repeat(120)}${SECOND_LINE}`, `${"b".repeat(120)}…`],
    ["counted in characters", `${"😀".repeat(121)}`, `${"😀".repeat(120)}…`],
    ["without control characters", "a\u0000b\u001b[31mc\u0085d\te", "ab[31mcde"],
    ["as it was otherwise", "<b>\"'\\ ü \u202e'; DROP TABLE job;--", undefined],
  ]) {
    test(`of its prompt, ${what}`, async () => {
      const { id } = await jobs.create(prompt);
      const [listed] = (await page({ limit: 1 })).jobs;
      assert.deepEqual([listed.id, listed.prompt], [id, line ?? prompt]);
    });
  }

  test("is its creation's prompt, also after a follow-up", async () => {
    const { id } = await jobs.create("the first");
    await jobs.followUp(id, "the second");
    const [listed] = (await page({ limit: 1 })).jobs;
    assert.deepEqual([listed.id, listed.prompt], [id, "the first"]);
  });
});

describe("the list", () => {
  let ids;

  before(async () => {
    ids = await createOneByOne(30);
  });

  test("is newest first, 25 a page unless told", async () => {
    const { jobs: listed, nextCursor } = await page();
    assert.deepEqual(idsOf(listed), ids.slice(0, 25));
    const rest = await page({ cursor: nextCursor });
    assert.deepEqual(idsOf(rest.jobs).slice(0, 5), ids.slice(25));
  });

  for (const limit of [1, 7, 100]) {
    test(`in pages of ${limit} has every job once`, async () => {
      const listed = await pagesFrom({ limit });
      assert.deepEqual(idsOf(listed).slice(0, ids.length), ids);
      assert.equal(new Set(idsOf(listed)).size, listed.length);
      const moments = listed.map(({ createdAt }) => createdAt);
      assert.deepEqual(moments, [...moments].sort().reverse());
    });
  }

  test("loses and repeats nothing while jobs are being created", async () => {
    const before_ = idsOf(await pagesFrom({ limit: 100 }));
    const created = [];
    const listed = await pagesFrom({ limit: 10 }, async () => {
      created.push((await jobs.create("meanwhile")).id);
    });
    assert.deepEqual(idsOf(listed), before_);
    const now = idsOf(await pagesFrom({ limit: 100 }));
    assert.deepEqual(now, [...created.reverse(), ...before_]);
  });

  test("has each of those that were created at once, in pages of one", async () => {
    const created = await Promise.all(Array.from({ length: 30 }, () => jobs.create("at once")));
    let cursor;
    const listed = [];
    while (listed.length < created.length) {
      const { jobs: shown, nextCursor } = await page(cursor ? { limit: 1, cursor } : { limit: 1 });
      listed.push(...idsOf(shown));
      cursor = nextCursor;
    }
    assert.deepEqual([...listed].sort(), created.map(({ id }) => id).sort());
  });

  test("has a job once that was created with a repeated idempotency key", async () => {
    const headers = [["Idempotency-Key", "once-in-the-ledger"]];
    const first = await jobs.create(`once\n${SECOND_LINE}`, { headers });
    const second = await jobs.create(`once\n${SECOND_LINE}`, { headers });
    assert.equal(second.id, first.id);
    const listed = idsOf((await page()).jobs);
    assert.deepEqual([listed[0], listed.lastIndexOf(first.id)], [first.id, 0]);
  });

  test("has no job that the platform refused to create", async () => {
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

  test("has no job whose id cannot be part of a path; its creation is answered all the same", async () => {
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
    await until(() => jobs.gate.gateway.log().includes("the ledger failed: a job whose id"));
  });

  test("has no job that was created elsewhere, also when it was watched here", async () => {
    const [newest] = (await page({ limit: 1 })).jobs;
    const { id } = await jobs.directly("from elsewhere");
    const stream = await jobs.watching(id);
    const polled = await jobs.get(jobs.path(id), [["Prefer", "wait=0"]]);
    assert.equal(polled.json.id, id);
    await jobs.followUp(id);
    assert.deepEqual(idsOf((await page({ limit: 1 })).jobs), [newest.id]);
    stream.leave();
  });

  test("has no other project's jobs", async () => {
    const project = OTHER_PROJECT;
    const { id } = await jobs.create("elsewhere", { project });
    const target = `/v2/agent/${project}/jobs`;
    const other = idsOf((await page({ limit: 100 }, { target })).jobs);
    assert.equal(other[0], id);
    const own = idsOf(await pagesFrom({ limit: 100 }));
    assert.ok(!own.includes(id));
    for (const one of other) assert.ok(!own.includes(one));
    const { nextCursor } = await page({ limit: 1 });
    const crossed = await page({ limit: 100, cursor: nextCursor }, { target });
    for (const { id } of crossed.jobs) assert.ok(other.includes(id), "a cursor opens nothing");
  });

  test("is empty for a project without jobs, and has no next page", async () => {
    const authorization = `Bearer ${jobs.gate.token({ projects: ["without-jobs"] })}`;
    const target = "/v2/agent/without-jobs/jobs";
    assert.deepEqual(await page({}, { target, authorization }), { jobs: [], nextCursor: null });
  });

  test("is what the package iterates over", async () => {
    const client = new Client({
      baseUrl: jobs.gate.gateway.url,
      projectId: PROJECT,
      token: jobs.authorization.replace("Bearer ", ""),
      logLevel: "off",
    });
    const listed = [];
    for await (const { id } of client.agentJobs.list({ limit: 20 })) listed.push(id);
    assert.deepEqual(listed, idsOf(await pagesFrom({ limit: 100 })));
  });
});

const RETRY_SOON = { "retry-after": "1" };

/** Creates until the budget, which a 429 of the platform has closed for a second, is open. */
async function untilOpen() {
  const { authorization } = jobs;
  for (;;) {
    const answer = await jobs.gate.post(jobs.path(), { prompt: "open?" }, { authorization });
    if (answer.status === 201) return;
    assert.equal(answer.status, 429, answer.text);
  }
}

describe("a question that makes no sense", () => {
  const encoded = (text) => Buffer.from(text).toString("base64url");

  for (const limit of ["0", "101", "-1", "1.5", "1e1", "abc", "", " 5", "+5", "٣", "0x5"]) {
    test(`limit=${limit} is refused`, async () => {
      const target = `${LIST}?${new URLSearchParams({ limit })}`;
      assertInvalid(await jobs.get(target), "limit", "job-page-size");
    });
  }

  for (const limit of ["9".repeat(30), "18446744073709551616", "256", "281"]) {
    test(`limit=${limit} is refused`, async () => {
      const { errors } = assertProblem(
        await jobs.get(`${LIST}?limit=${limit}`),
        400,
        "invalid-request",
      );
      assert.equal(errors[0].field, "limit");
    });
  }

  for (const cursor of [
    ...["abc", "!!!", "🙂", "1.2", "null", "0", "=", `${encoded("1.2")}=`, `${encoded("1.2")}\n`],
    ...["", ".", "1", "1.", ".2", "1.2.3", "-1.2", "1.-2", "+1.2", "1e3.2", "a.b", " 1.2"].map(
      encoded,
    ),
    ...["1.18446744073709551616", "18446744073709551616.1", "1.2'; DROP TABLE job;--"].map(encoded),
  ].filter((cursor) => cursor !== "")) {
    test(`the cursor ${JSON.stringify(cursor)} is refused`, async () => {
      const target = `${LIST}?${new URLSearchParams({ cursor })}`;
      assertInvalid(await jobs.get(target), "cursor", "cursor");
    });
  }

  test("an empty cursor is refused", async () => {
    const { errors } = assertProblem(await jobs.get(`${LIST}?cursor=`), 400, "invalid-request");
    assert.equal(errors[0].field, "cursor");
  });

  test("a cursor from beyond all numbers of JavaScript is a page like another", async () => {
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
    test(`?${query} is refused`, async () => {
      assertInvalid(await jobs.get(`${LIST}?${query}`), field, rule);
    });
  }
});

describe("who asks", () => {
  const as = (changes) => `Bearer ${jobs.gate.token(changes)}`;

  test("needs a token with the project and jobs:read", async () => {
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

  test("uses no other method", async () => {
    for (const method of ["POST", "PUT", "DELETE"]) {
      const { authorization } = jobs;
      const answer = await jobs.gate.send({ method, target: LIST, authorization });
      assertProblem(answer, 405, "method-not-allowed");
    }
  });
});

describe("how a listed job is", () => {
  const countsOf = async (ids) =>
    Object.fromEntries(
      await Promise.all(ids.map(async (id) => [id, (await jobs.reads(id)).count])),
    );
  const total = (counts) => Object.values(counts).reduce((sum, count) => sum + count, 0);

  test("is brought up to date when it is listed: one read each, none for finished ones", async () => {
    const ids = await createOneByOne(6);
    const link = "https://example.com/pull/9";
    const ends = ["completed", "failed", "archived"];
    for (const [index, status] of ends.entries()) {
      await jobs.upstream.setJob(ids[index], { status, prLink: link });
    }
    await jobs.upstream.setJob(ids[3], { status: "planning" });
    await interval();

    const before_ = Date.now();
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
    for (const { checkedAt } of first) assert.ok(Date.parse(checkedAt) >= before_, checkedAt);
    const counts = await countsOf(ids);
    assert.deepEqual(Object.values(counts), [1, 1, 1, 1, 1, 1]);

    await interval();
    const { jobs: second } = await page({ limit: 6 });
    assert.deepEqual(Object.values(await countsOf(ids)), [1, 1, 1, 2, 2, 2]);
    const endsOf = (listed) => listed.slice(0, 3);
    assert.deepEqual(endsOf(second), endsOf(first), "what has ended is as it was");
  });

  test("is asked for the listed page only", async () => {
    const ids = await createOneByOne(10);
    await interval();
    const { jobs: listed } = await page({ limit: 4 });
    assert.deepEqual(idsOf(listed), ids.slice(0, 4));
    assert.deepEqual(Object.values(await countsOf(ids)), [1, 1, 1, 1, 0, 0, 0, 0, 0, 0]);
  });

  test("is asked for once by many who list at once", async () => {
    const ids = await createOneByOne(8);
    await interval();
    const pages = await Promise.all(Array.from({ length: 25 }, () => page({ limit: 8 })));
    for (const { jobs: listed } of pages) assert.deepEqual(idsOf(listed), ids);
    assert.equal(total(await countsOf(ids)), ids.length);
  });

  test("is asked for at most eight times by the largest page, the stalest first", async () => {
    for (let batch = 0; batch < 10; batch += 1) {
      await Promise.all(Array.from({ length: 10 }, () => jobs.create("one of a hundred")));
    }
    await interval();
    const read = new Set();
    for (let round = 1; round <= 3; round += 1) {
      const { jobs: before_ } = await page({ limit: 100 });
      assert.equal(before_.length, 100);
      const counts = await countsOf(idsOf(before_));
      assert.equal(total(counts), round * 8);
      const news = idsOf(before_).filter((id) => counts[id] > 0 && !read.has(id));
      assert.equal(news.length, 8, "none is asked for again while others wait");
      for (const id of news) read.add(id);
    }
    // Created one after another, they are as old as their place in the list says.
    const { jobs: listed } = await page({ limit: 100 });
    const oldest = idsOf(listed).slice(-16);
    assert.ok(
      oldest.every((id) => read.has(id)),
      "the stalest",
    );
  });

  test("is not asked for again within the interval", async () => {
    const ids = await createOneByOne(3);
    const { at } = (await page({ limit: 3 })) && (await jobs.reads(ids[0]));
    assert.ok(at.length <= 1);
    for (let round = 0; round < 10; round += 1) await page({ limit: 3 });
    for (const id of ids) {
      const reads = await jobs.reads(id);
      const gaps = reads.at.slice(1).map((moment, index) => moment - reads.at[index]);
      // 50 ms for two programs' clocks and the way between them.
      for (const gap of gaps) assert.ok(gap >= 950, `${gap}`);
    }
  });

  test("is active again after a follow-up", async () => {
    const { id } = await jobs.create();
    const stream = await jobs.watching(id);
    await jobs.upstream.setJob(id, { status: "completed" });
    await stream.ended;
    const status = async () => (await page({ limit: 1 })).jobs[0].status;
    assert.equal(await status(), "completed");
    await jobs.followUp(id);
    assert.equal(await status(), "active");
  });

  test("is as last known while the platform fails, whichever way", async () => {
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
    await interval();
    const listed = async () => {
      const { jobs: shown } = await page({ limit: ids.length });
      return shown.map(({ id, status }) => [id, status]);
    };
    const all = (status) => ids.map((id) => [id, status]);
    assert.deepEqual(await listed(), all("active"));
    for (const id of ids) assert.ok((await jobs.reads(id)).count > 0, "it was asked for");
    await jobs.upstream.clearFaults();
    await interval();
    assert.deepEqual(await listed(), all("completed"));
  });
});

describe("what is kept", () => {
  test("outlives a crash of the gateway", async () => {
    const steady = ({ checkedAt, ...job }) => job;
    const before_ = await pagesFrom({ limit: 50 });
    const { nextCursor } = await page({ limit: 50 });
    await jobs.restart("kill");
    const after_ = await pagesFrom({ limit: 50 });
    assert.deepEqual(after_.map(steady), before_.map(steady));
    const rest = await page({ limit: 50, cursor: nextCursor });
    assert.deepEqual(idsOf(rest.jobs), idsOf(before_).slice(50, 100), "cursors, too");
    const { id } = await jobs.create("after the crash");
    assert.deepEqual(idsOf((await page({ limit: 1 })).jobs), [id]);
  });

  test("of a prompt is nothing but its first line: in no answer, log or file", async () => {
    assert.ok(
      (await jobs.upstream.jobs()).some(({ prompt }) => prompt.includes(SECOND_LINE)),
      "the platform has it",
    );
    const listed = JSON.stringify(await pagesFrom({ limit: 100 }));
    assert.ok(!listed.includes(SECOND_LINE));
    assert.ok(!jobs.gate.gateway.log().includes(SECOND_LINE));
    await jobs.gate.gateway.stop();
    const kept = await scanForCanary("Fix the docs", [jobs.state]);
    assert.ok(kept.hits.length > 0, "the first line is found in the storage");
    assert.deepEqual((await scanForCanary(SECOND_LINE, [jobs.state])).hits, []);
    assert.deepEqual((await scanForCanary(jobs.gate.key, [jobs.state])).hits, []);
  });

  test("and said is nothing secret", () => jobs.assertDiscreet());
});
