/**
 * Search in prompts. The gateway finds jobs that an earlier release stored, strings that are too
 * short for the index, and words after a NUL. Without the index, one request compares at most 1,600
 * jobs.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client } from "../../../pkg/dist/node.js";
import { startJobs } from "../jobs_gateway.mjs";
import { PATIENCE_MS } from "../watched_jobs.mjs";

const [OLD, SHORT, NUL, DELETED] = ["old-docs", "short-docs", "nul-docs", "deleted-docs"];
const SPELLINGS = "spelled-docs";
/** More jobs than one request compares without the index. */
const MANY_JOBS = 4_000;
/** The maximum number of jobs that one request compares. */
const MAX_COMPARED = 1_600;

let jobs;

before(async () => {
  jobs = await startJobs("search", {
    projects: [OLD, SHORT, NUL, DELETED, SPELLINGS],
    vars: { KEEP_PROMPTS: "whole" },
  });
});
after(() => jobs?.stop());

const listPath = (project, query) =>
  `/v2/agent/${project}/jobs?${new URLSearchParams({ limit: "100", ...query })}`;

async function find(project, query) {
  const answer = await jobs.get(listPath(project, query));
  assert.equal(answer.status, 200, answer.text);
  const { jobs: found, nextCursor } = answer.json;
  return { ids: found.map(({ id }) => id), nextCursor };
}

/**
 * Stores jobs in the format of a release without the search index. `first` is the oldest job's
 * prompt.
 */
async function storeJobs(project, count, first) {
  await jobs.create("creates the tables", { project });
  await jobs.restartWithSql(
    [
      [
        `WITH RECURSIVE one (number) AS
            (SELECT 1 UNION ALL SELECT number + 1 FROM one WHERE number < ?1)
          INSERT INTO job (id, listed, subject, prompt_summary, created_at, status, data, version,
            checked_at, last_started_at)
          SELECT 'old-' || number, 1, 'earlier', iif(number = 1, ?2, 'Fix the guide ' || number),
            ?3 + number, 'completed', '{}', 1, ?3, ?3 FROM one`,
        count,
        first,
        Date.now(),
      ],
      ["UPDATE search_backlog SET last = (SELECT max(row) FROM job)"],
    ],
    project,
  );
}

/**
 * Searches until the stored job `old-1` is found after the new job `id`. An alarm indexes stored
 * jobs.
 */
async function untilOldFound(project, text, id) {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const { ids } = await find(project, { text });
    if (ids.includes("old-1")) return assert.deepEqual(ids, [id, "old-1"], text);
    assert.deepEqual(ids, [id], text);
    assert.ok(performance.now() < deadline, "the stored job is still not found");
  }
}

test("finds jobs that an earlier release stored, and adds them to the search index", async () => {
  await storeJobs(OLD, MANY_JOBS, "Find the NEEDLE");
  const { id } = await jobs.create("Another needle", { project: OLD });
  const first = await find(OLD, { text: "Needle" });
  assert.equal(first.ids[0], id);
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    // Until the index contains the oldest job, that job appears only on a later page.
    const { ids, nextCursor } = await find(OLD, { text: "needle" });
    if (nextCursor === null) {
      assert.deepEqual(ids, [id, "old-1"]);
      break;
    }
    assert.ok(performance.now() < deadline, "the index is still incomplete");
  }
  const [{ last }] = await jobs.restartWithSql([["SELECT last FROM search_backlog"]], OLD);
  assert.ok(last < MAX_COMPARED, `rows up to ${last} are not in the index`);
  assert.deepEqual((await find(OLD, { text: "needle", author: "earlier" })).ids, ["old-1"]);
  assert.deepEqual((await find(OLD, { text: "needle", state: "failed" })).ids, []);
});

test("compares a bounded number of jobs per search for a short string", async () => {
  await storeJobs(SHORT, MANY_JOBS, "Zz");
  const first = await find(SHORT, { text: "ZZ" });
  assert.deepEqual(first.ids, []);
  let requests = 1;
  let page = first;
  for (; page.nextCursor !== null; requests += 1) {
    page = await find(SHORT, { text: "ZZ", cursor: page.nextCursor });
  }
  assert.deepEqual(page.ids, ["old-1"]);
  assert.equal(requests, Math.ceil((MANY_JOBS + 1) / MAX_COMPARED));

  const token = jobs.gate.token({ projects: jobs.projects });
  const client = new Client({ baseUrl: jobs.gate.gateway.url, projectId: SHORT, auth: { token } });
  const found = [];
  for await (const job of client.agentJobs.list({ text: "zz" })) found.push(job.id);
  assert.deepEqual(found, ["old-1"]);
});

test("lets a reader's search pass the waiting searches of another reader", async () => {
  const search = (sub) => {
    const authorization = `Bearer ${jobs.gate.token({ sub, projects: jobs.projects })}`;
    return jobs.gate.get(listPath(SHORT, { text: "ZZ" }), { authorization });
  };
  let answered = 0;
  const many = Array.from({ length: 50 }, () => search("ana").finally(() => (answered += 1)));
  await Promise.race(many);
  const { status } = await search("ben");
  assert.equal(status, 200);
  assert.ok(answered < many.length, "the other reader's searches were all answered before");
  for (const answer of await Promise.all(many)) assert.equal(answer.status, 200);
});

test("finds other spellings of the same text, also in stored jobs", async () => {
  await storeJobs(SPELLINGS, 1, "Cafe\u0301 ＦＡＱ in İstanbul, Straße");
  const prompt = "CAFÉ FAQ in i\u0307stanbul, STRASSE";
  const { id } = await jobs.create(prompt, { project: SPELLINGS });
  for (const text of ["café", "CAFE\u0301 ｆａｑ", "istanbul", "İSTANBUL", "straße", "STRASS"]) {
    await untilOldFound(SPELLINGS, text, id);
  }
});

test("finds a job by the words after a NUL in its prompt", async () => {
  await storeJobs(NUL, 1, "Before\u0000behind");
  const { id } = await jobs.create("Before\u0000Behind it", { project: NUL });
  for (const text of ["behind", "BEFORE BEHIND", "before\u0000be", "eh"]) {
    await untilOldFound(NUL, text, id);
  }
});

test("does not find a job whose record was deleted", async () => {
  const project = DELETED;
  const [kept, deleted] = [
    await jobs.create("a shared prompt", { project }),
    await jobs.create("a shared prompt", { project }),
  ];
  await jobs.deleteRecord(deleted.id, { project });
  assert.deepEqual(await find(project, { text: "shared" }), { ids: [kept.id], nextCursor: null });
});
