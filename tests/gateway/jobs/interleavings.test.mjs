/** Events of a job that overlap, such as a poll that runs while the job's record is deleted. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Receiver } from "../../harness/receiver.mjs";
import { hook, isNow, keyed, useJobs, webhookVars } from "../jobs_gateway.mjs";
import { PROJECT, useServer } from "../recorded_gateway.mjs";

/** A new list stream without a position starts with this number of jobs. */
const INITIAL_JOBS = 25;
const LISTED = "listed-docs";
const OTHER = "other-docs";
const SLOW = "slow-docs";
const REFUSED = "refused-docs";

const VARS = { UPSTREAM_TIMEOUT_SECONDS: "300" };
const receiver = useServer(new Receiver());
const jobs = useJobs("interleavings", {
  projects: [PROJECT, LISTED, OTHER, SLOW, REFUSED],
  vars: VARS,
});
/** A gateway that gives up a job soon after the first poll for its webhook, which follows after 15 s. */
const limited = useJobs("interleavings-limited", () => ({
  vars: { ...VARS, ...webhookVars(receiver), JOB_POLL_LIMIT_SECONDS: "17" },
}));

test("sends the webhook of an unfinished job whose poll runs across the limit", async () => {
  const headers = hook(`${receiver.url}/slow`);
  const { id } = await limited.create("never ends", { headers });
  await limited.upstream.hold({ target: id });
  const other = await limited.create("ends at the limit");
  const watcher = await limited.watching(other.id);
  await limited.upstream.untilHeld(1);
  // The other job ends at its limit, which is later than that of the first job.
  await watcher.event(({ type }) => type === "end");
  await limited.upstream.release();
  const { json } = await receiver.next(({ path }) => path === "/slow");
  assert.deepEqual([json.type, json.data.id], ["agent_job.unfinished", id]);
});

test("sends a watcher that joins during a poll of a deleted record the state of the job", async () => {
  const { id } = await jobs.create();
  const first = await jobs.watching(id);
  await jobs.upstream.hold({ target: id, times: 1 });
  await jobs.upstream.untilHeld(1);
  await jobs.deleteRecord(id);
  assert.equal(await first.ended, "clean");
  const second = await jobs.watching(id);
  await jobs.upstream.release();
  await jobs.change(id, { status: "completed" }, second);
  assert.equal(await second.ended, "clean");
});

test("streams the state of a new job to every watcher while Mintlify does not know the job", async () => {
  const { id } = await jobs.create();
  const body = '{"error":"not found"}';
  await jobs.upstream.fault({ target: id, times: 0, fault: { kind: "status", status: 404, body } });
  const early = await jobs.watching(id);
  await jobs.untilReads(id, 1);
  await jobs.waitIntervals(2, OTHER);
  const late = await jobs.watching(id);
  assert.deepEqual([early.status, late.status], [200, 200]);
  await jobs.upstream.clearFaults();
  await jobs.upstream.setJob(id, { status: "completed" });
  for (const stream of [early, late]) assert.equal(await stream.ended, "clean");
});

test("does not restore a record that was deleted during a follow-up", async () => {
  const { id } = await jobs.create("a prompt");
  await jobs.upstream.hold({ target: `${id}/message`, process: true });
  const send = () => jobs.send("another prompt", { id, headers: keyed("k-123") });
  const sent = send();
  await jobs.upstream.untilHeld(1);
  await jobs.deleteRecord(id);
  await jobs.upstream.release();
  assert.equal((await sent).status, 200);
  const again = await send();
  assert.deepEqual([again.status, again.json.type], [409, "/problems/record-deleted"]);
  const record = await jobs.get(jobs.path(id, { rest: "/record" }));
  assert.equal(record.status, 404);
  const rows = await jobs.restartWithSql([["SELECT id FROM job WHERE id = ?", id]]);
  assert.deepEqual(rows, []);
});

test("streams every change after the revision of a list", async () => {
  const project = LISTED;
  const list = () => jobs.list({}, { project });
  assert.equal((await list()).revision, 0);
  const { id: deleted } = await jobs.create("to be deleted", { project });
  const { revision } = await list();
  assert.equal(revision, 1);
  await jobs.deleteRecord(deleted, { project });
  const created = await jobs.createMany(INITIAL_JOBS + 1, "a job", { project });
  const stream = await jobs.watchingAll({ project, lastEventId: String(revision) });
  await stream.event(({ data }) => JSON.parse(data).id === created.at(-1));
  const changes = stream.events.map(({ type, data }) => [type, JSON.parse(data).id]);
  assert.deepEqual(changes, [["deleted", deleted], ...created.map((id) => ["job", id])]);
  stream.leave();
});

test("a list that waits for a poll has the revision from before its jobs were read", async () => {
  const project = SLOW;
  const { id: slow } = await jobs.create("slow", { project });
  await jobs.waitIntervals(2, OTHER);
  await jobs.upstream.hold({ target: slow });
  const listed = jobs.list({}, { project });
  await jobs.upstream.untilHeld(1);
  const { id } = await jobs.create("during the list", { project });
  const { revision } = await listed;
  await jobs.upstream.release();
  const stream = await jobs.watchingAll({ project, lastEventId: String(revision) });
  await stream.event(({ data }) => JSON.parse(data).id === id);
  stream.leave();
});

test("polls a job again after its state could not be stored", async () => {
  const project = REFUSED;
  const { id } = await jobs.create("changes", { project });
  const refuse = `CREATE TRIGGER refuse BEFORE UPDATE OF data ON job WHEN NEW.data <> OLD.data
    BEGIN SELECT RAISE(ABORT, 'refused'); END`;
  await jobs.restartWithSql([[refuse]], project);
  const refused = await jobs.watching(id, { project });
  await jobs.upstream.setJob(id, { status: "completed" });
  await jobs.untilReads(id, 2);
  refused.leave();
  await jobs.restartWithSql([["DROP TRIGGER refuse"]], project);
  const stream = await jobs.watching(id, { project });
  await stream.event(isNow("completed"));
});
