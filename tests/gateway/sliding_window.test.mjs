/**
 * A budget's window slides: it has no edge, a slot frees when it is told to, and who has waited
 * gets one before who takes all.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import {
  arrivals,
  assertExceeded,
  atOnce,
  Caller,
  CLOCKS_MS,
  left,
  PATIENCE_MS,
  PROJECTS,
  timed,
  unlimited,
  untilStatus,
} from "./budgets.mjs";
import { assertProblem, startGate } from "./gate.mjs";

describe("a window of a few seconds", () => {
  const WINDOW = 4;
  const LIMIT = 4;
  let gate;

  before(async () => {
    gate = await startGate("budgets-short", {
      upstream: { ...unlimited, projects: PROJECTS },
      gateway: {
        vars: {
          LIMIT_WINDOW_SECONDS: String(WINDOW),
          CREATE_LIMIT_PER_HOUR: String(LIMIT),
          UPSTREAM_TIMEOUT_SECONDS: "2",
        },
      },
    });
  });
  after(() => gate?.stop());

  const refusal = (answer) =>
    assertExceeded(answer, "create-job", { limit: LIMIT, window: WINDOW });

  /** Asserts that never more than the limit reached the upstream in any window. */
  async function assertNoWindowHoldsMore(project) {
    const at = await arrivals(gate, "agentJobs.create", project);
    assert.ok(at.length > LIMIT, `slots are used again: ${at.length} in all`);
    for (let last = LIMIT; last < at.length; last += 1) {
      const span = at[last] - at[last - LIMIT];
      const text = `${LIMIT + 1} requests within ${span} ms: ${at}`;
      assert.ok(span >= WINDOW * 1000 - CLOCKS_MS, text);
    }
  }

  /** Who has created the jobs of a project, by the gateway's ledger. */
  async function createdBy(project) {
    const { authorization } = new Caller(gate);
    const answer = await gate.get(`/v2/agent/${project}/jobs?limit=100`, { authorization });
    assert.equal(answer.status, 200, answer.text);
    return answer.json.jobs.map((job) => job.createdBy);
  }

  describe("in a project of its own each", { concurrency: true }, () => {
    test("has no edge at which more than the limit goes through", async () => {
      const project = "edge-docs";
      const alice = new Caller(gate);
      const create = () => alice.create(project);
      // Half of it, the other half later, and then as much as can be had for two windows more.
      await Promise.all([create(), create()]);
      await sleep((WINDOW * 1000) / 2);
      const ends = Date.now() + 2 * WINDOW * 1000;
      const refusals = [];
      while (Date.now() < ends) {
        const batch = await atOnce(3, create);
        // What was granted together with a refusal has reached the upstream by now.
        const ended = Date.now();
        for (const { answer, sent } of batch) {
          if (answer.status === 429) refusals.push({ wait: refusal(answer), sent, ended });
          else assert.equal(answer.status, 201, answer.text);
        }
      }
      await assertNoWindowHoldsMore(project);
      const reached = await arrivals(gate, "agentJobs.create", project);
      assert.ok(refusals.length > 0, "some were refused");
      for (const { wait, sent, ended } of refusals) {
        const next = reached.find((at) => at > ended) ?? Number.POSITIVE_INFINITY;
        const text = `the next ${next - sent} ms after "${wait} s" was told`;
        assert.ok(next > sent + (wait - 1) * 1000 - CLOCKS_MS, text);
      }
    });

    test("lets through who waits as long as told, and nobody a whole second earlier", async () => {
      const alice = new Caller(gate);
      const create = () => alice.create("told-docs");
      const first = await untilStatus(429, create);
      const wait = refusal(first.answer);
      const { before: refused } = await untilStatus(201, create);
      for (const answer of refused) refusal(answer);
      const granted = (await arrivals(gate, "agentJobs.create", "told-docs"))[first.before.length];
      const earliest = first.sent + (wait - 1) * 1000 - CLOCKS_MS;
      assert.ok(granted > earliest, `${granted - first.sent} ms after "${wait} s" was told`);

      const second = await untilStatus(429, create);
      await sleep(second.received + refusal(second.answer) * 1000 - Date.now());
      assert.equal((await create()).status, 201);
      await assertNoWindowHoldsMore("told-docs");
    });

    test("is wholly a sole caller's, however often it was refused", async () => {
      const hog = new Caller(gate, "hog");
      const fill = () => untilStatus(429, () => hog.create("sole-docs"));
      const { before: first, ...refused } = await fill();
      assert.deepEqual(
        first.map(({ status }) => status),
        Array(LIMIT).fill(201),
      );
      // All of it has left the window a window after the last of it was answered.
      await sleep(refused.received + WINDOW * 1000 - Date.now());
      const { before: again } = await fill();
      assert.equal(again.length, LIMIT, "the whole limit again");
    });

    test("gives who was refused once its slot before who takes all it can get", async () => {
      const project = "fair-docs";
      const hog = new Caller(gate, "hog");
      const patient = new Caller(gate, "patient");
      const hogs = () => hog.create(project);
      await untilStatus(429, hogs);
      const refused = await timed(() => patient.create(project));
      const told = refused.received + refusal(refused.answer) * 1000;

      let heldBack = false;
      const deadline = Date.now() + PATIENCE_MS;
      while (Date.now() < told || (!heldBack && Date.now() < deadline)) {
        const answer = await hogs();
        if (answer.status === 429) refusal(answer);
        heldBack ||= answer.status === 429 && /kept for other callers/.test(answer.json.detail);
      }
      assert.ok(heldBack, "the last slot is kept from the hog");
      // It has had more than its share and goes on; the other asks for the second time.
      const [, granted] = await Promise.all([
        atOnce(20, hogs),
        timed(() => patient.create(project)),
      ]);
      assert.equal(granted.answer.status, 201, granted.answer.text);
      const subjects = await createdBy(project);
      assert.equal(subjects.filter((subject) => subject === "patient").length, 1);
      assert.ok(
        subjects.filter((subject) => subject === "hog").length > LIMIT,
        "it had slots again",
      );

      await untilStatus(201, hogs);
      await assertNoWindowHoldsMore(project);
    });

    test("keeps the slot of a request that was never answered", async () => {
      const alice = new Caller(gate);
      await gate.upstream.fault({ target: "slow-docs", fault: { kind: "hang" } });
      const lost = await alice.create("slow-docs");
      assertProblem(lost, 504, "upstream-timeout");
      assert.equal(left(lost, "create-job"), LIMIT - 1);
      assert.equal(left(await alice.create("slow-docs"), "create-job"), LIMIT - 2);
    });
  });

  test("neither answers nor log hold the admin key, the secret or a token", () =>
    gate.assertDiscreet());
});
