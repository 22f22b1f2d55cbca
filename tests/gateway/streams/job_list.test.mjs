import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { OTHER_PROJECT, useJobs } from "../jobs_gateway.mjs";
import { assertProblem, PROJECT } from "../recorded_gateway.mjs";

/** In each of these projects, only one test or describe block creates jobs. */
const [FRESH, MANY, RETAINED] = ["fresh-docs", "many-docs", "kept-docs"];
const PROJECTS = [PROJECT, OTHER_PROJECT, FRESH, MANY, RETAINED];
const DAY_MS = 24 * 3600 * 1000;
const RETENTION_DAYS = 7;
/** A new stream sends at most this many existing jobs. */
const INITIAL_JOBS = 25;
/** The maximum number of changes that a resumed stream replays. */
const MAX_REPLAYED = 250;
const MAX_PER_CALLER = 3;
const MAX_PER_PROJECT = 4;
const SHORT_TOKEN_LIFETIME_S = 30;

const jobs = useJobs("list-events", {
  projects: PROJECTS,
  vars: { JOB_RETENTION_DAYS: String(RETENTION_DAYS) },
});
/** This gateway has low stream limits and does not poll during a test. */
const capped = useJobs("list-events-capped", {
  vars: {
    JOB_POLL_SECONDS: "300",
    STREAMS_PER_CALLER: String(MAX_PER_CALLER),
    STREAMS_PER_JOB: String(MAX_PER_PROJECT),
  },
});

const as = (sub, changes = {}, of = jobs) =>
  `Bearer ${of.gate.token({ sub, projects: of.projects, ...changes })}`;
const bearerFor = (seconds) => as("alice", { exp: Math.ceil(jobs.gate.now() / 1000) + seconds });
/** Returns the events without the time of the last poll, which changes without an event. */
const contentsOf = ({ events }) =>
  events.map(({ lastEventId, type, data }) => {
    const { checkedAt: _, ...content } = JSON.parse(data);
    return [lastEventId, type, content];
  });
const isJob = (id, status) => (event) => {
  const job = JSON.parse(event.data);
  return event.type === "job" && job.id === id && (status === undefined || job.status === status);
};
const isDeleted = (id) => (event) => event.type === "deleted" && JSON.parse(event.data).id === id;
const isReset = ({ type }) => type === "reset";
const target = (project = PROJECT) => `/v2/agent/${project}/jobs/events`;
const withoutCheckedAt = ({ checkedAt, ...job }) => job;

describe("streams of a project's job list", () => {
  test("sends all watchers of a job list the same changes and deletions in the same order", async () => {
    const streams = await Promise.all(
      ["alice", "bob"].map((sub) => jobs.watchingAll({ authorization: as(sub) })),
    );
    const all = (check) => Promise.all(streams.map((stream) => stream.event(check)));
    const prompt = "Describe the endpoint\nand keep this to yourself";
    const { id } = await jobs.create(prompt, { authorization: as("carol") });
    const [created] = await all(isJob(id, "active"));
    const job = JSON.parse(created.data);
    const [listed] = (await jobs.list()).jobs;
    assert.deepEqual(withoutCheckedAt(job), withoutCheckedAt(listed));
    const { createdBy, status } = job;
    assert.deepEqual([job.prompt, createdBy, status], ["Describe the endpoint", "carol", "active"]);

    // No stream of the job itself is open, so the gateway polls the job for the list streams.
    await jobs.upstream.setJob(id, { status: "completed", prLink: "https://git.example/pull/1" });
    const [completed] = await all(isJob(id, "completed"));
    assert.equal(JSON.parse(completed.data).prLink, "https://git.example/pull/1");

    const { length } = streams[0].events;
    await jobs.followUp(id);
    const isActiveAgain = ({ events }) => events.slice(length).find(isJob(id, "active"));
    await Promise.all(streams.map((stream) => stream.until(isActiveAgain)));

    await jobs.deleteRecord(id);
    await all(isDeleted(id));
    assert.deepEqual(contentsOf(streams[0]), contentsOf(streams[1]));
    const numbers = streams[0].events.map(({ lastEventId }) => Number(lastEventId));
    for (const [at, number] of numbers.entries()) assert.ok(at === 0 || number > numbers[at - 1]);
    for (const stream of streams) stream.leave();
  });

  test("stops polling when the last watcher of a job list has disconnected", async () => {
    const project = FRESH;
    const { id } = await jobs.create("left alone", { project });
    const stream = await jobs.watchingAll({ project });
    await jobs.untilReads(id, 1);
    stream.leave();
    // The runtime notices a disconnected client only when it writes to the stream, so the test
    // changes the job.
    await jobs.upstream.setJob(id, { prLink: "https://git.example/pull/1" });
    await jobs.untilHealth(({ watchers }) => watchers === 0, project);
    const clock = await jobs.create("tick", { project: OTHER_PROJECT });
    const ticking = await jobs.watching(clock.id, { project: OTHER_PROJECT });
    await jobs.untilReads(clock.id, 2);
    const { count } = await jobs.reads(id);
    await jobs.untilReads(clock.id, 3);
    assert.equal((await jobs.reads(id)).count, count);
    ticking.leave();
  });
});

describe("the start of a list stream", () => {
  test("starts a list stream with the 25 most recently changed jobs, newest last", async () => {
    const project = MANY;
    const ids = await jobs.createMany(INITIAL_JOBS + 2, "one of many", { project });
    const stream = await jobs.watchingAll({ project });
    await stream.event(isJob(ids.at(-1)));
    const first = stream.events.slice(0, INITIAL_JOBS).map(({ data }) => JSON.parse(data).id);
    assert.deepEqual(first, ids.slice(-INITIAL_JOBS));
    stream.leave();
  });

  test("resumes a list stream with the latest state of each changed job and with deletions", async () => {
    const [changed, deleted] = [await jobs.create("changed"), await jobs.create("deleted")];
    const first = await jobs.watchingAll();
    await first.event(isJob(deleted.id));
    const other = await jobs.watchingAll();
    first.leave();
    for (const status of ["planning", "writing"]) {
      await jobs.upstream.setJob(changed.id, { status });
      await other.event(isJob(changed.id, status));
    }
    await jobs.deleteRecord(deleted.id);
    const { id } = await jobs.create("new");
    await other.event(isJob(id));

    const { lastEventId } = first;
    const second = await jobs.watchingAll({ lastEventId });
    await second.event(isJob(id));
    const missed = other.events.filter((event) => Number(event.lastEventId) > Number(lastEventId));
    const latest = missed.filter((event) => !isJob(changed.id, "planning")(event));
    assert.deepEqual(contentsOf(second), contentsOf({ events: latest }));

    const third = await jobs.watchingAll({ lastEventId: second.lastEventId });
    const next = await jobs.create("next");
    await third.event(isJob(next.id));
    assert.ok(isJob(next.id)(third.events[0]), "no event is sent twice");
    for (const stream of [other, second, third]) stream.leave();
  });

  test(`resumes a list stream with ${MAX_REPLAYED} changes, and resets it after more`, async () => {
    const project = MANY;
    const count = MAX_REPLAYED + 50;
    const insert = `WITH RECURSIVE one (number) AS
        (SELECT 1 UNION ALL SELECT number + 1 FROM one WHERE number < ?1)
      INSERT INTO job (id, listed, subject, prompt_summary, created_at, status, data, version,
        checked_at, last_started_at, revision)
      SELECT 'past-' || number, 1, 'alice', 'past', ?2, 'completed', '{}', 1, ?2, ?2,
        (SELECT revision FROM project) + number FROM one`;
    const statements = [
      [insert, count, Date.now()],
      ["UPDATE project SET revision = revision + ?", count],
      ["SELECT revision FROM project"],
    ];
    const [{ revision }] = await jobs.restartWithSql(statements, project);
    const latest = String(revision - MAX_REPLAYED);
    const stream = await jobs.watchingAll({ project, lastEventId: latest });
    await stream.event(isJob(`past-${count}`));
    const ids = stream.events.map(({ data }) => JSON.parse(data).id);
    const first = count - MAX_REPLAYED + 1;
    const expected = Array.from({ length: MAX_REPLAYED }, (_, at) => `past-${first + at}`);
    assert.deepEqual(ids, expected);
    for (const lastEventId of ["1", String(revision - MAX_REPLAYED - 1), String(revision + 1)]) {
      const outdated = await jobs.watchingAll({ project, lastEventId });
      await outdated.event(isReset);
      const contents = contentsOf(outdated);
      assert.deepEqual(contents[INITIAL_JOBS], [String(revision), "reset", {}]);
      assert.equal(contents.length, INITIAL_JOBS + 1);
      outdated.leave();
    }
    stream.leave();
  });
});

test("streams the deletion of an expired record, and forgets the deletion after a day", async () => {
  const project = RETAINED;
  const [old, other] = [await jobs.create("old", { project }), await jobs.create("x", { project })];
  const stream = await jobs.watchingAll({ project });
  await stream.event(isJob(other.id));
  const { lastEventId } = stream;
  const age = RETENTION_DAYS * DAY_MS + 3_600_000;
  const update = "UPDATE job SET last_started_at = last_started_at - ? WHERE id = ?";
  await jobs.restartWithSql([[update, age, old.id]], project);
  const again = await jobs.watchingAll({ project, lastEventId });
  await again.event(isDeleted(old.id));
  again.leave();

  await jobs.restartWithSql([["UPDATE deleted SET at = at - ?", 2 * DAY_MS]], project);
  const later = await jobs.watchingAll({ project, lastEventId });
  await jobs.untilReads(other.id, 2);
  later.leave();
  const outdated = await jobs.watchingAll({ project, lastEventId });
  await outdated.event(isReset);
  const current = outdated.lastEventId;
  outdated.leave();
  const resumed = await jobs.watchingAll({ project, lastEventId: current });
  const next = await jobs.create("after the reset", { project });
  await resumed.event(isJob(next.id));
  assert.ok(!resumed.events.some(isReset));
  resumed.leave();
  const rows = await jobs.restartWithSql([["SELECT id FROM deleted"]], project);
  assert.deepEqual(rows, []);
});

describe("access to a list stream", () => {
  test("ends a list stream when its token expires, and resumes it with a new token", async () => {
    const { id } = await jobs.create();
    const other = await jobs.watchingAll();
    const authorization = bearerFor(SHORT_TOKEN_LIFETIME_S);
    const stream = await jobs.watchingAll({ authorization });
    await stream.event(isJob(id));
    assert.equal(await stream.ended, "clean");
    assert.equal(other.isOver, false);
    assertProblem(await jobs.gate.get(target(), { authorization }), 401, "invalid-token");
    const { lastEventId } = stream;
    const again = await jobs.watchingAll({ lastEventId, authorization: bearerFor(600) });
    const next = await jobs.create();
    await again.event(isJob(next.id));
    for (const open of [other, again]) open.leave();
  });

  test("limits list streams per caller and per project", async () => {
    const bearerOf = (sub) => as(sub, {}, capped);
    const assertTooMany = async (authorization, owner) => {
      const answer = await capped.gate.get(target(), { authorization });
      const problem = assertProblem(answer, 429, "too-many-streams");
      assert.ok(problem.detail.startsWith(owner), problem.detail);
    };
    const { id } = await capped.create();
    const mallory = bearerOf("mallory");
    const streams = [await capped.watching(id, { authorization: mallory })];
    while (streams.length < MAX_PER_CALLER) {
      streams.push(await capped.watchingAll({ authorization: mallory }));
    }
    await assertTooMany(mallory, "the caller");
    for (let number = MAX_PER_CALLER - 1; number < MAX_PER_PROJECT; number += 1) {
      streams.push(await capped.watchingAll({ authorization: bearerOf(`caller-${number}`) }));
    }
    await assertTooMany(bearerOf("one-more"), "the project");
    // Streams of single jobs have their own limit.
    streams.push(await capped.watching(id, { authorization: bearerOf("one-more") }));
    for (const stream of streams) stream.leave();
  });
});
