/**
 * An archive run during an upstream outage. The gateway logs the number of requests that the run
 * sent, and the number of failures.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { PROJECT, startGate } from "../recorded_gateway.mjs";

const DAY_MS = 86_400_000;
/** The circuit breaker opens after this number of consecutive failures. */
const MAX_FAILURES = 20;

test("logs the number of requests that an archive run has sent, and its failures", async (t) => {
  const gate = await startGate("archive-outage", {
    gateway: {
      archive: true,
      vars: { ARCHIVE_PROJECTS: PROJECT, ANALYTICS_LIMIT_PER_HOUR: "1000" },
    },
  });
  t.after(() => gate.stop());
  const scope = "analytics:read gateway:operate";
  const started = await gate.send({
    method: "POST",
    target: `/v1/analytics/${PROJECT}/views/daily/backfill`,
    json: { dateFrom: new Date(Date.now() - 2 * MAX_FAILURES * DAY_MS).toISOString().slice(0, 10) },
    authorization: `Bearer ${gate.token({ scope })}`,
  });
  assert.equal(started.status, 202, started.text);
  await gate.upstream.fault({ times: 0, fault: { kind: "status", status: 500 } });
  await gate.gateway.runCron();
  assert.equal(await gate.received(), MAX_FAILURES);
  const lines = gate.gateway.log().matchAll(/\{"archive":.*\}/g);
  const runs = Array.from(lines, ([line]) => JSON.parse(line).archive);
  // The open circuit breaker rejected one more request, which counts as a failure but was never
  // sent.
  const { requests, failures } = runs[0];
  assert.deepEqual([runs.length, requests, failures], [1, MAX_FAILURES, MAX_FAILURES + 1]);
});
