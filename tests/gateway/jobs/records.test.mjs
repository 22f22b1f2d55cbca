import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { until } from "../analytics_requests.mjs";
import { isNow, OTHER_PROJECT, useJobs } from "../jobs_gateway.mjs";
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

const as = (sub, changes = {}) =>
  `Bearer ${jobs.gate.token({ sub, projects: jobs.projects, ...changes })}`;
const target = (id, project) => jobs.path(id, { project, rest: "/record" });
const statuses = ({ changes }) => changes.map(({ status }) => status);

async function recordOf(id, { project, authorization = jobs.authorization } = {}) {
  const answer = await jobs.gate.get(target(id, project), { authorization });
  assert.equal(answer.status, 200, answer.text);
  return answer.json;
}

async function change(id, fields, stream) {
  await jobs.upstream.setJob(id, fields);
  await stream.event(isNow(fields.status));
}

async function followUpAs(sub, id, prompt, project) {
  const message = jobs.path(id, { project, rest: "/message" });
  const answer = await jobs.gate.post(message, { prompt }, { authorization: as(sub) });
  assert.equal(answer.status, 200, answer.text);
}

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
    await change(id, { status: "planning" }, stream);
    await change(id, { status: "completed", prLink: "https://git.example/pull/7" }, stream);
    await followUpAs("ben", id, "And an example");
    await followUpAs("ana", id, "And another");

    const answer = await jobs.get(target(id));
    assertCommonHead(answer);
    const { job, prompt, messages, changes } = answer.json;
    assert.deepEqual(Object.keys(answer.json), RECORD_FIELDS);
    const { json } = await jobs.get(`/v2/agent/${PROJECT}/jobs?limit=1`);
    assert.deepEqual({ ...job, checkedAt: null }, { ...json.jobs[0], checkedAt: null });
    assert.deepEqual([job.createdBy, prompt], ["ana", "Document the API"]);
    assert.deepEqual(
      messages.map(({ prompt, author }) => [prompt, author]),
      [
        ["And an example", "ben"],
        ["And another", "ana"],
      ],
    );
    assert.deepEqual(statuses(answer.json), ["active", "planning", "completed", "active"]);
    assert.deepEqual(
      changes.slice(0, 3).map(({ prLink }) => prLink),
      [null, null, "https://git.example/pull/7"],
    );
    const times = [changes[0].at, changes[2].at, ...messages.map(({ sentAt }) => sentAt)];
    for (const time of times) assert.match(time, ISO_8601);
    const instants = times.map((time) => Date.parse(time));
    assert.deepEqual(
      instants,
      instants.toSorted((a, b) => a - b),
    );
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
    assert.deepEqual(
      record.messages.map((message) => message.prompt),
      Array.from({ length: 25 }, () => long),
    );
    assert.equal(record.job.prompt, "First", "lists have the first line only");
    assert.equal((await recordOf(earlier.id, { project })).prompt, "Earlier");
    // As JSON, the largest prompt must fit in a row of the database.
    const largest = '"\n'.repeat(262_140);
    const { id: huge } = await jobs.create(largest, { project });
    assert.equal((await recordOf(huge, { project })).prompt, largest);
    const list = `/v2/agent/${project}/jobs?text=${SECOND_LINE.toUpperCase()}`;
    const found = (await jobs.get(list)).json.jobs;
    assert.deepEqual(
      found.map((job) => job.id),
      [id],
    );

    // The `text` filter searches only the first 4,096 characters of a prompt, ASCII or not.
    for (const letter of ["y", "ä"]) {
      const padding = letter.repeat(SEARCHED_CHARACTERS - 6);
      const marks = [`near-${letter}`, `far-${letter}`];
      const edge = await jobs.create(`${padding}${marks[0]} ${marks[1]}`, { project });
      const findAll = async (text) => {
        const answer = await jobs.get(
          `/v2/agent/${project}/jobs?${new URLSearchParams({ text: text.toUpperCase() })}`,
        );
        assert.equal(answer.status, 200, answer.text);
        return answer.json;
      };
      assert.deepEqual(
        (await findAll(marks[0])).jobs.map((job) => job.id),
        [edge.id],
      );
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
  await jobs.restartWithSql([
    [
      `WITH RECURSIVE past (number) AS
          (SELECT 1 UNION ALL SELECT number + 1 FROM past WHERE number < ?1)
        INSERT INTO message (job, number, prompt, author, sent)
        SELECT ?2, number, replace(hex(zeroblob(?3 / 2)), '0', 'ä'), 'alice', number FROM past`,
      fitting + 5,
      id,
      letters,
    ],
  ]);
  await jobs.followUp(id, "short");
  const { messages } = await recordOf(id);
  assert.deepEqual(
    messages.map(({ prompt }) => prompt.length),
    [...Array.from({ length: fitting }, () => letters), "short".length],
  );
});

describe("a filtered list", () => {
  const LIST = `/v2/agent/${FILTERED}/jobs`;
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

  const find = async (query) => {
    const answer = await jobs.get(`${LIST}?${new URLSearchParams({ limit: "100", ...query })}`);
    assert.equal(answer.status, 200, answer.text);
    return answer.json.jobs;
  };
  const promptsOf = (found) => found.map(({ prompt }) => prompt);

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
