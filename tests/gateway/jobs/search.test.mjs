import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { idsOf, UNDO_DEPLOYMENTS, useJobs } from "../jobs_gateway.mjs";

const [MANY, DELETED, SPELLINGS] = ["many-docs", "deleted-docs", "spelled-docs"];
/** So many jobs that a search for the oldest one has six empty pages. */
const MANY_JOBS = 12_500;
const MAX_SCANNED = 2_000;
/** The number of migrations of the last release with a search index. */
const INDEX_RELEASE = 18;
const MIGRATIONS = new URL("../../../worker/src/jobs/store/migrations/", import.meta.url);

const jobs = useJobs("search", {
  projects: [MANY, DELETED, SPELLINGS],
  vars: { KEEP_PROMPTS: "whole" },
});

async function find(project, query) {
  const { jobs: found, nextCursor } = await jobs.list({ limit: "100", ...query }, { project });
  return { ids: idsOf(found), nextCursor };
}

/** Returns the ids on each page, from the first page to the last. */
async function findPages(project, query) {
  const pages = [];
  let cursor;
  do {
    const page = await find(project, { ...query, ...(cursor && { cursor }) });
    pages.push(page.ids);
    cursor = page.nextCursor;
  } while (cursor);
  return pages;
}

/** Stores jobs as a release with a search index did, before its alarm indexed them. */
async function storeJobs(project, prompts) {
  await jobs.create("creates the tables", { project });
  const tables = readFileSync(new URL("0010_job_search.sql", MIGRATIONS), "utf8").split(";\n");
  const insert = `INSERT INTO job (id, listed, subject, prompt_summary, created_at, status, data,
      version, checked_at, last_started_at)
    SELECT 'old-' || key, 1, 'earlier', value, ?2 - key, 'completed', '{}', 1, ?2, ?2
    FROM json_each(?1)`;
  const statements = [
    [insert, JSON.stringify(prompts), Date.now() - 1_000],
    ...tables.filter((sql) => /job_search|search_backlog/u.test(sql)).map((sql) => [sql]),
    ...UNDO_DEPLOYMENTS,
    ["UPDATE migration SET done = ?", INDEX_RELEASE],
  ];
  await jobs.restartWithSql(statements, project);
}

test("scans a limited number of jobs per request, and continues with the cursor", async () => {
  const prompts = Array.from({ length: MANY_JOBS }, (_, number) => `Fix the guide ${number}`);
  prompts[MANY_JOBS - 1] = "Find the NEEDLE";
  await storeJobs(MANY, prompts);
  const emptyPages = Array(Math.floor(MANY_JOBS / MAX_SCANNED)).fill([]);
  const oldest = `old-${MANY_JOBS - 1}`;
  assert.deepEqual(await findPages(MANY, { text: "needle" }), [...emptyPages, [oldest]]);
  assert.deepEqual(await findPages(MANY, { author: "nobody" }), [...emptyPages, []]);

  const own = await jobs.create("A newer needle", { project: MANY });
  const [first, ...older] = await findPages(MANY, { text: "needle", state: "active" });
  assert.deepEqual([first, ...older], [[own.id], ...emptyPages]);
  assert.deepEqual((await find(MANY, { text: "needle", limit: "1" })).ids, [own.id]);
  assert.deepEqual((await find(MANY, { text: "needle", state: "failed" })).ids, []);
});

test("finds other spellings of the same text, also in stored jobs", async () => {
  const stored = ["Cafe\u0301 ＦＡＱ in İstanbul, Straße", "Before\u0000behind", "Plain words"];
  await storeJobs(SPELLINGS, stored);
  const project = SPELLINGS;
  const { id } = await jobs.create("CAFÉ FAQ in i\u0307stanbul, STRASSE", { project });
  for (const text of ["café", "CAFE\u0301 ｆａｑ", "istanbul", "İSTANBUL", "straße", "STRASS"])
    assert.deepEqual((await find(project, { text })).ids, [id, "old-0"], text);
  const { id: second } = await jobs.create("Before\u0000Behind it", { project });
  for (const text of ["behind", "BEFORE BEHIND", "before\u0000be", "eh"])
    assert.deepEqual((await find(project, { text })).ids, [second, "old-1"], text);
  assert.deepEqual((await find(project, { text: "PLAIN w" })).ids, ["old-2"]);
});

test("a deleted record leaves nothing of its prompt", async () => {
  const project = DELETED;
  const kept = await jobs.create("a shared prompt", { project });
  const deleted = await jobs.create("a shared prompt", { project });
  await jobs.deleteRecord(deleted.id, { project });
  assert.deepEqual(await find(project, { text: "shared" }), { ids: [kept.id], nextCursor: null });
  const select = "SELECT name FROM sqlite_master WHERE name LIKE '%search%'";
  assert.deepEqual(await jobs.restartWithSql([[select]], project), []);
});
