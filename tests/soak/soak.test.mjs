/** A minute of mixed work while a twentieth of the platform's answers is none. */

import assert from "node:assert/strict";
import { before, test } from "node:test";
import { assertSoak, describeSoak, runSoak } from "./soak.mjs";

const SECONDS = 60;
/** What a minute has to have seen, so that it means something. */
const LEAST_REQUESTS = 2000;
const WAYS_TO_FAIL = 11;

let report;

before(async () => {
  report = await runSoak({ seconds: SECONDS });
  console.log(describeSoak(report));
});

test("no answer is wrong, no success is less than whole, and no prompt makes two jobs", () => {
  assertSoak(report);
});

test("every kind of work was done, and every kind of fault was met", () => {
  assert.ok(report.requests >= LEAST_REQUESTS, `${report.requests} requests`);
  const work = ["create", "list", "message", "read", "refused", "views", "wait"];
  assert.deepEqual(Object.keys(report.answers).sort(), work);
  assert.equal(Object.keys(report.upstream.injected).length, WAYS_TO_FAIL);
});
