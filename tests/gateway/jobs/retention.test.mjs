import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Receiver } from "../../harness/receiver.mjs";
import { until } from "../analytics_requests.mjs";
import {
  hook,
  idsOf,
  isNow,
  keyed,
  OTHER_PROJECT,
  useJobs,
  webhookVars,
} from "../jobs_gateway.mjs";
import { assertProblem, PROJECT, useServer } from "../recorded_gateway.mjs";

const DAY_MS = 24 * 3600 * 1000;
const RETENTION_DAYS = 7;
/** More records than one alarm deletes. */
const EXPIRED_JOBS = 20;
/** The gateway stores this many events per job, besides the job's current state. */
const MAX_EVENTS = 100;

const receiver = useServer(new Receiver());
const jobs = useJobs("records", () => ({
  vars: { JOB_RETENTION_DAYS: String(RETENTION_DAYS), ...webhookVars(receiver) },
}));

const listed = async () => idsOf((await jobs.list({ limit: 100 })).jobs);

async function changeWhileWatched(id, statuses) {
  const stream = await jobs.watching(id);
  for (const status of statuses) await jobs.change(id, { status }, stream);
  stream.leave();
}

test("deletes jobs and their events after the retention period", async () => {
  const old = await jobs.createMany(EXPIRED_JOBS);
  await changeWhileWatched(old[0], ["planning", "completed"]);
  const kept = (await jobs.create("kept")).id;
  await changeWhileWatched(kept, ["planning"]);
  const update = "UPDATE job SET last_started_at = last_started_at - ? WHERE id <> ?";
  // The gateway deletes a record at most one hour after its retention period has ended.
  const age = RETENTION_DAYS * DAY_MS + 3_600_000;
  await jobs.restartWithSql([[update, age, kept]]);
  const late = (await jobs.create("late")).id;

  await until(async () => (await listed()).length <= 2);
  assert.deepEqual(await listed(), [late, kept]);
  const rows = await jobs.restartWithSql([["SELECT DISTINCT job FROM event"]]);
  assert.deepEqual(rows, [{ job: kept }]);
});

test("stores a job's last 100 events besides its current state", async () => {
  const { id } = await jobs.create();
  const insert = `WITH RECURSIVE past (number) AS
      (SELECT 1 UNION ALL SELECT number + 1 FROM past WHERE number < ?1)
    INSERT INTO event (job, version, data)
    SELECT ?2, number, json_object('id', ?2, 'status', 'past-' || number) FROM past`;
  await jobs.restartWithSql([
    [insert, MAX_EVENTS, id],
    ["UPDATE job SET version = ? WHERE id = ?", MAX_EVENTS + 1, id],
  ]);
  await changeWhileWatched(id, ["planning", "writing"]);
  const stream = jobs.watch(id, { lastEventId: "0" });
  await stream.event(isNow("writing"));
  const numbers = stream.events.map(({ lastEventId }) => Number(lastEventId));
  const expected = Array.from({ length: MAX_EVENTS + 1 }, (_, at) => at + 3);
  assert.deepEqual(numbers, expected);
  stream.leave();
});

describe("a job's record", () => {
  const remove = (id) => {
    const target = jobs.path(id, { rest: "/record" });
    return jobs.gate.send({ method: "DELETE", target, authorization: jobs.authorization });
  };

  test("deletes a record with its events, streams, webhooks and stored responses", async () => {
    receiver.answerAlways(500);
    const headers = [...keyed("of-a-deleted-job"), ...hook(`${receiver.url}/deleted`)];
    const prompt = "to be deleted-3c9e";
    const { id } = await jobs.create(prompt, { headers });
    const other = await jobs.create("stays", { headers: keyed("of-another") });
    await changeWhileWatched(id, ["planning", "completed"]);
    await jobs.untilHealth(({ webhooksWaiting }) => webhooksWaiting === 1);
    await jobs.followUp(id);
    const stream = await jobs.watching(id);
    const creations = async () => (await jobs.upstream.counters()).byOperation["agentJobs.create"];
    const earlier = await creations();

    const answer = await remove(id);
    assert.deepEqual([answer.status, answer.text], [204, ""]);
    assert.equal(await stream.ended, "clean");
    assert.ok(!(await listed()).includes(id));
    assertProblem(await remove(id), 404, "job-not-recorded");
    for (const retry of [[], [["Idempotency-Retry", "force"]]]) {
      const again = await jobs.send(prompt, { headers: [...headers, ...retry] });
      const problem = assertProblem(again, 409, "record-deleted");
      assert.equal(problem.outcome, undefined);
      assert.doesNotMatch(problem.detail, /force/);
    }
    assert.equal((await jobs.health()).webhooksWaiting, 0);
    assert.equal(await creations(), earlier);

    assert.equal((await jobs.create("stays", { headers: keyed("of-another") })).id, other.id);
    const tables = ["job", "event", "message", "idempotency", "outbox"];
    const columns = { job: "id || coalesce(data, '')", event: "job || data", message: "job" };
    const found = tables.map((table) => {
      const text = columns[table] ?? (table === "outbox" ? "job" : "coalesce(body, '')");
      return `SELECT '${table}' AS name, count(*) AS rows FROM ${table} WHERE instr(${text}, ?1) > 0`;
    });
    const rows = await jobs.restartWithSql([[found.join(" UNION ALL "), id]]);
    const empty = tables.map((name) => ({ name, rows: 0 }));
    assert.deepEqual(rows, empty);
  });
});

test("creates a job equally fast with 200,000 finished jobs with webhooks as without", async () => {
  const finished = 200_000;
  const insert = `WITH RECURSIVE one (number) AS
      (SELECT 1 UNION ALL SELECT number + 1 FROM one WHERE number < ?)
    INSERT INTO job (id, listed, subject, prompt_summary, webhook, created_at, status, data,
      version, checked_at, last_started_at)
    SELECT 'ended-' || number, 1, 'alice', 'ended', 'https://hooks.example/x', ?2, 'completed',
      json_object('id', 'ended-' || number, 'status', 'completed'), 1, ?2, ?2 FROM one`;
  await jobs.restartWithSql([[insert, finished, Date.now() - DAY_MS]]);
  const headers = hook(`${receiver.url}/cost`);
  const time = async (project) => {
    const startedAt = performance.now();
    const { id } = await jobs.create("measure me", { project, headers });
    const elapsed = performance.now() - startedAt;
    await jobs.upstream.setJob(id, { status: "completed" });
    return elapsed;
  };
  const times = { [PROJECT]: [], [OTHER_PROJECT]: [] };
  for (let round = 0; round < 15; round += 1) {
    for (const project of Object.keys(times)) times[project].push(await time(project));
  }
  const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
  const [full, empty] = [median(times[PROJECT]), median(times[OTHER_PROJECT])];
  assert.ok(full <= 3 * empty, `${full} ms with ${finished} jobs, ${empty} ms without`);
});
