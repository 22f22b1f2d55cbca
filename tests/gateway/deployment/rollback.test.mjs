import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startJobs } from "../jobs_gateway.mjs";
import { PROJECT } from "../recorded_gateway.mjs";

let jobs;

before(async () => {
  jobs = await startJobs("rollback");
});
after(() => jobs?.stop());

test("keeps the number of migrations that a newer release has recorded", async () => {
  const { id } = await jobs.create("before the rollback");
  const [{ done }] = await jobs.restartWithSql([
    ["UPDATE migration SET done = done + 2"],
    ["SELECT done FROM migration"],
  ]);
  const later = await jobs.create("after the rollback");
  const { authorization } = jobs;
  const list = await jobs.gate.get(`/v2/agent/${PROJECT}/jobs`, { authorization });
  assert.deepEqual(
    list.json.jobs.map((job) => job.id),
    [later.id, id],
  );
  const [now] = await jobs.restartWithSql([["SELECT done FROM migration"]]);
  assert.equal(now.done, done);
});
