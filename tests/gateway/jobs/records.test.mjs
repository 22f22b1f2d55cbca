import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { until } from "../analytics_requests.mjs";
import { idsOf, OTHER_PROJECT, useJobs } from "../jobs_gateway.mjs";
import { assertCommonHead, assertProblem, before, PROJECT } from "../recorded_gateway.mjs";

const WHOLE_PROMPTS = "whole-docs";
const FILTERED = "found-docs";
const PROJECTS = [PROJECT, OTHER_PROJECT, WHOLE_PROMPTS, FILTERED];
const SECOND_LINE = "and-this-is-the-private-second-line-91be";
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
/** The `text` filter searches this number of characters of a prompt. */
const SEARCHED_CHARACTERS = 4_096;
const ISO_8601 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const RECORD_FIELDS = ["job", "prompt", "messages", "changes"];

const jobs = useJobs("job-records", { projects: PROJECTS });

const as = (sub) => `Bearer ${jobs.gate.token({ sub, projects: jobs.projects })}`;
const target = (id, project) => jobs.path(id, { project, rest: "/record" });
const statuses = ({ changes }) => changes.map(({ status }) => status);

const recordOf = (id, { project } = {}) => jobs.read(target(id, project));
const promptsOf = (found) => found.map(({ prompt }) => prompt);

/** Returns the number of rows that contain `text` in the `job` table and in the `message` table. */
async function rowsContaining(text, project) {
  const columns = [
    "coalesce(prompt_summary, '') || coalesce(prompt, '') || coalesce(prompt_lowercase, '')",
    "prompt",
  ];
  const counts = ["job", "message"].map(
    (table, at) =>
      `SELECT '${table}' AS name, count(*) AS rows FROM ${table} WHERE instr(${columns[at]}, ?1) > 0`,
  );
  const rows = await jobs.restartWithSql([[counts.join(" UNION ALL "), text]], project);
  return Object.fromEntries(rows.map(({ name, rows }) => [name, rows]));
}

describe("the record of a job", () => {
  test("returns a record with the listed job, its follow-ups and its status changes", async () => {
    const startedAt = jobs.gate.now();
    const { id } = await jobs.create("Document the API", { authorization: as("ana") });
    const stream = await jobs.watching(id);
    await jobs.change(id, { status: "planning" }, stream);
    const prLink = "https://git.example/pull/7";
    await jobs.change(id, { status: "completed", prLink }, stream);
    await jobs.followUp(id, "And an example", { authorization: as("ben") });
    await jobs.followUp(id, "And another", { authorization: as("ana") });

    const answer = await jobs.get(target(id));
    assertCommonHead(answer);
    const { job, prompt, messages, changes } = answer.json;
    assert.deepEqual(Object.keys(answer.json), RECORD_FIELDS);
    const [listed] = (await jobs.list({ limit: 1 })).jobs;
    assert.deepEqual({ ...job, checkedAt: null }, { ...listed, checkedAt: null });
    assert.deepEqual([job.createdBy, prompt], ["ana", "Document the API"]);
    assert.deepEqual(promptsOf(messages), ["And an example", "And another"]);
    const authors = messages.map(({ author }) => author);
    assert.deepEqual(authors, ["ben", "ana"]);
    assert.deepEqual(statuses(answer.json), ["active", "planning", "completed", "active"]);
    const links = changes.slice(0, 3).map((change) => change.prLink);
    assert.deepEqual(links, [null, null, prLink]);
    const times = [changes[0].at, changes[2].at, ...messages.map(({ sentAt }) => sentAt)];
    for (const time of times) assert.match(time, ISO_8601);
    const instants = times.map((time) => Date.parse(time));
    const sorted = instants.toSorted((a, b) => a - b);
    assert.deepEqual(instants, sorted);
    assert.ok(instants[0] >= startedAt - 1000 && instants.at(-1) <= jobs.gate.now() + 1000);
  });

  test("refreshes a record's status upstream, and never again once the job has finished", async () => {
    const { id } = await jobs.create();
    await jobs.upstream.setJob(id, { status: "failed" });
    const { count } = await jobs.reads(id);
    const record = await until(async () => {
      const found = await recordOf(id);
      return found.job.status === "failed" && found;
    });
    assert.deepEqual(statuses(record), ["active", "failed"]);
    const { count: refreshed } = await jobs.reads(id);
    assert.equal(refreshed, count + 1);
    await recordOf(id);
    assert.equal((await jobs.reads(id)).count, refreshed);
  });
});

describe("stored prompts", () => {
  test("stores only the first line of prompts with KEEP_PROMPTS=first-line", async () => {
    jobs.vars.KEEP_PROMPTS = "first-line";
    await jobs.restart("stop");
    const { id } = await jobs.create(`\n  First \n${SECOND_LINE}`);
    await jobs.followUp(id, `Then\n${SECOND_LINE}`);
    const { prompt, messages } = await recordOf(id);
    assert.deepEqual([prompt, messages[0].prompt], ["First", "Then"]);
    assert.deepEqual(await rowsContaining(SECOND_LINE), { job: 0, message: 0 });
  });

  test("stores whole prompts by default until the record is deleted", async () => {
    const project = WHOLE_PROMPTS;
    const earlier = await jobs.create(`Earlier\n${SECOND_LINE}`, { project });
    delete jobs.vars.KEEP_PROMPTS;
    await jobs.restart("stop");
    const prompt = `\n  First \n${SECOND_LINE} "ä" 😀\u0000\n`;
    const long = `long ${"x".repeat(100_000)} end`;
    const { id } = await jobs.create(prompt, { project });
    // Together, the prompts exceed the maximum size of a value in the database.
    for (let sent = 0; sent < 25; sent += 1) await jobs.followUp(id, long, { project });
    const record = await recordOf(id, { project });
    assert.equal(record.prompt, prompt);
    assert.deepEqual(promptsOf(record.messages), Array(25).fill(long));
    assert.equal(record.job.prompt, "First", "lists have the first line only");
    assert.equal((await recordOf(earlier.id, { project })).prompt, "Earlier");
    // As JSON, the largest prompt must fit in a row of the database.
    const largest = '"\n'.repeat(262_140);
    const { id: huge } = await jobs.create(largest, { project });
    assert.equal((await recordOf(huge, { project })).prompt, largest);
    const findAll = (text) => jobs.list({ text: text.toUpperCase() }, { project });
    assert.deepEqual(idsOf((await findAll(SECOND_LINE)).jobs), [id]);

    // The `text` filter searches only the first 4,096 characters of a prompt, ASCII or not.
    for (const letter of ["y", "ä"]) {
      const padding = letter.repeat(SEARCHED_CHARACTERS - 6);
      const marks = [`near-${letter}`, `far-${letter}`];
      const edge = await jobs.create(`${padding}${marks[0]} ${marks[1]}`, { project });
      assert.deepEqual(idsOf((await findAll(marks[0])).jobs), [edge.id]);
      const { jobs: found, nextCursor } = await findAll(marks[1]);
      assert.deepEqual([found, nextCursor], [[], null]);
      assert.ok((await recordOf(edge.id, { project })).prompt.endsWith(marks[1]));
    }

    jobs.vars.KEEP_PROMPTS = "first-line";
    await jobs.restart("stop");
    assert.equal((await recordOf(id, { project })).prompt, prompt);
    const later = await jobs.create(`Later\n${SECOND_LINE}`, { project });
    assert.equal((await recordOf(later.id, { project })).prompt, "Later");

    await jobs.deleteRecord(id, { project });
    assertProblem(await jobs.get(target(id, project)), 404, "job-not-recorded");
    assert.deepEqual(await rowsContaining(SECOND_LINE, project), { job: 0, message: 0 });
    assert.deepEqual(await rowsContaining("xxxxxxxxxx", project), { job: 0, message: 0 });
  });
});

test(`stores the latest follow-ups of a job up to ${MAX_MESSAGE_BYTES} bytes`, async () => {
  const { id } = await jobs.create();
  // Each `ä` has two bytes in UTF-8, so the test fails if the limit counts characters.
  const letters = 50_000;
  const fitting = Math.floor(MAX_MESSAGE_BYTES / (2 * letters));
  const insert = `WITH RECURSIVE past (number) AS
      (SELECT 1 UNION ALL SELECT number + 1 FROM past WHERE number < ?1)
    INSERT INTO message (job, number, prompt, author, sent)
    SELECT ?2, number, replace(hex(zeroblob(?3 / 2)), '0', 'ä'), 'alice', number FROM past`;
  await jobs.restartWithSql([[insert, fitting + 5, id, letters]]);
  await jobs.followUp(id, "short");
  const { messages } = await recordOf(id);
  const lengths = messages.map(({ prompt }) => prompt.length);
  assert.deepEqual(lengths, [...Array(fitting).fill(letters), "short".length]);
});

describe("a filtered list", () => {
  const PROMPTS = [
    "100% of it",
    "100 per cent",
    "snake_case names",
    "snakeXcase names",
    "Über die Größe",
    'it\'s a "quoted" one; -- DROP TABLE job',
    "[a-z]* and ? and \\",
    "ÉCRIRE 😀 the guide",
  ];
  const ids = new Map();

  const find = async (query) =>
    (await jobs.list({ limit: "100", ...query }, { project: FILTERED })).jobs;

  before(async () => {
    for (const [at, prompt] of PROMPTS.entries()) {
      const authorization = as(at % 2 === 0 ? "ana@example.org" : "Ana@example.org");
      const { id } = await jobs.create(prompt, { project: FILTERED, authorization });
      ids.set(prompt, id);
    }
    const ends = { "100% of it": "completed", "100 per cent": "failed" };
    for (const [prompt, status] of Object.entries(ends)) {
      await jobs.upstream.setJob(ids.get(prompt), { status });
    }
    const hasEnded = ({ status }) => status !== "active";
    await until(async () => (await find({})).filter(hasEnded).length === 2);
  });

  for (const [text, expected] of [
    ["100%", ["100% of it"]],
    ["e_c", ["snake_case names"]],
    ["GRÖSSE", ["Über die Größe"]],
    ["😀", ["ÉCRIRE 😀 the guide"]],
    ["\\", ["[a-z]* and ? and \\"]],
    ["' OR 1=1", []],
  ]) {
    test(`searches prompts for ${text.slice(0, 20)} literally, ignoring case`, async () => {
      assert.deepEqual(promptsOf(await find({ text })), expected);
    });
  }

  test("lists only jobs that match every filter", async () => {
    const author = "ana@example.org";
    assert.deepEqual(promptsOf(await find({ author, text: "100" })), ["100% of it"]);
    assert.deepEqual(await find({ author, text: "100", state: "failed" }), []);
  });
});
