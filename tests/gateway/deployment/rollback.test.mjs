import assert from "node:assert/strict";
import { test } from "node:test";
import { idsOf, useJobs } from "../jobs_gateway.mjs";

const jobs = useJobs("rollback");

test("keeps the number of migrations that a newer release has recorded", async () => {
  const { id } = await jobs.create("before the rollback");
  const [{ done }] = await jobs.restartWithSql([
    ["UPDATE migration SET done = done + 2"],
    ["SELECT done FROM migration"],
  ]);
  const later = await jobs.create("after the rollback");
  assert.deepEqual(idsOf((await jobs.list()).jobs), [later.id, id]);
  const [now] = await jobs.restartWithSql([["SELECT done FROM migration"]]);
  assert.equal(now.done, done);
});
