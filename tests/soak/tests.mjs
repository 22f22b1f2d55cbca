/** Defines the tests of a soak run. */
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { assertSoak, describeSoak, runSoak } from "./soak.mjs";

const KINDS_OF_WORK = ["create", "list", "message", "read", "refused", "views", "wait"];
const KINDS_OF_FAULT = 11;

export function testSoak({ seconds, minRequests }) {
  let report;

  before(async () => {
    report = await runSoak({ seconds, minRequests });
    console.log(describeSoak(report));
  });

  test("under load and faults, every response is correct and no prompt creates two jobs", () => {
    assertSoak(report);
  });

  test("the soak run includes every kind of work and every kind of fault", () => {
    assert.ok(report.requests >= minRequests, `${report.requests} requests`);
    assert.deepEqual(Object.keys(report.answers).sort(), KINDS_OF_WORK);
    assert.equal(Object.keys(report.upstream.injected).length, KINDS_OF_FAULT);
  });
}
