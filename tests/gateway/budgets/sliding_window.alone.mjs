/** The sliding window of a budget. No window contains more upstream requests than the limit. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { useGate } from "../recorded_gateway.mjs";
import {
  arrivals,
  assertExceeded,
  atOnce,
  Caller,
  CLOCKS_MS,
  PROJECTS,
  unlimited,
} from "./rate_limits.mjs";

describe("a window of a few seconds", () => {
  const WINDOW = 4;
  const LIMIT = 4;

  const gate = useGate("budgets-short", {
    upstream: { ...unlimited, projects: PROJECTS },
    gateway: {
      vars: {
        LIMIT_WINDOW_SECONDS: String(WINDOW),
        CREATE_LIMIT_PER_HOUR: String(LIMIT),
        UPSTREAM_TIMEOUT_SECONDS: "2",
      },
    },
  });

  const waitOf = (answer) => assertExceeded(answer, "create-job", { limit: LIMIT, window: WINDOW });

  async function assertWithinLimit(project) {
    const at = await arrivals(gate, "agentJobs.create", project);
    assert.ok(at.length > LIMIT, `only ${at.length} requests upstream`);
    for (let last = LIMIT; last < at.length; last += 1) {
      const span = at[last] - at[last - LIMIT];
      const text = `${LIMIT + 1} requests within ${span} ms: ${at}`;
      assert.ok(span >= WINDOW * 1000 - CLOCKS_MS, text);
    }
  }

  test("never sends more requests upstream than the limit within any window", async () => {
    const project = "edge-docs";
    const alice = new Caller(gate);
    const create = () => alice.create(project);
    // Use half the limit, wait, then use as much as possible for two more windows.
    await Promise.all([create(), create()]);
    await sleep((WINDOW * 1000) / 2);
    const ends = Date.now() + 2 * WINDOW * 1000;
    const refusals = [];
    while (Date.now() < ends) {
      const batch = await atOnce(3, create);
      // The granted requests of this batch have now reached the upstream.
      const ended = Date.now();
      for (const { answer, sent } of batch) {
        if (answer.status === 429) refusals.push({ wait: waitOf(answer), sent, ended });
        else assert.equal(answer.status, 201, answer.text);
      }
    }
    await assertWithinLimit(project);
    const reached = await arrivals(gate, "agentJobs.create", project);
    assert.ok(refusals.length > 0, "no request got 429");
    for (const { wait, sent, ended } of refusals) {
      const next = reached.find((at) => at > ended) ?? Number.POSITIVE_INFINITY;
      const message = `the next request came ${next - sent} ms after Retry-After: ${wait}`;
      assert.ok(next > sent + (wait - 1) * 1000 - CLOCKS_MS, message);
    }
  });
});
