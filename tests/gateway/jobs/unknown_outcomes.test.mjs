import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { assertProblem, JOBS, useGate } from "../recorded_gateway.mjs";
import {
  assertCreations,
  assertFirst,
  assertInUse,
  assertReplayed,
  assertReused,
  assertUnknown,
  CREATE,
  concurrently,
  creations,
  failNext,
  forced,
  gate,
  newKey,
  PROJECTS,
  untilNot,
  write,
} from "./keyed_writes.mjs";

describe("an unknown outcome", () => {
  /** Asserts that retries report an unknown outcome until a forced retry succeeds. */
  async function assertHeld(key, { created, on = gate, ...options }) {
    const repeat = () => write(key, { ...options, on });
    assertUnknown(await repeat());
    for (const answer of await concurrently(10, repeat)) assertUnknown(answer);
    assertReused(await write(key, { ...options, on, prompt: "another" }));
    await assertCreations(created, 1, on);
    const second = await forced(key, { ...options, on });
    assertFirst(second);
    assertReplayed(await repeat(), second);
    assertReplayed(await forced(key, { ...options, on }), second);
    await assertCreations(created + 1, 2, on);
  }

  for (const [what, fault, [status, kind], created] of [
    [
      "a reset after creating the job",
      { kind: "reset", process: true },
      [502, "upstream-unreachable"],
      1,
    ],
    ["a 408", { kind: "status", status: 408 }, [408, "upstream-error"], 0],
    ["a 201 with a truncated body", { kind: "cutBody" }, [502, "upstream-malformed"], 1],
  ]) {
    test(`reports an unknown outcome until the caller forces a retry: ${what}`, async () => {
      const key = newKey();
      await failNext(CREATE, fault);
      const problem = assertProblem(await write(key), status, kind);
      assert.equal(problem.outcome, "unknown");
      await assertHeld(key, { created });
    });
  }

  test("sends one of 20 concurrent forced retries", async () => {
    const key = newKey();
    await failNext(CREATE, { kind: "reset", process: true });
    assertProblem(await write(key), 502, "upstream-unreachable");
    const answers = await concurrently(20, () => forced(key));
    for (const answer of answers) if (answer.status !== 201) assertInUse(answer);
    await assertCreations(2);
  });

  describe("with an upstream that never finishes its response", () => {
    const impatient = useGate("idempotency-impatient", {
      upstream: { projects: PROJECTS, jobDurationMs: 600_000 },
      gateway: { vars: { UPSTREAM_TIMEOUT_SECONDS: "3" } },
    });
    beforeEach(() => impatient.upstream.reset());

    for (const [what, fault, created] of [
      ["without creating the job", { kind: "hang" }, 0],
      ["after creating the job", { kind: "hang", process: true }, 1],
      ["in the middle of its body", { kind: "slowDrip", chunkBytes: 1, intervalMs: 3_600_000 }, 1],
    ]) {
      test(`reports an unknown outcome when the upstream hangs ${what}`, async () => {
        const key = newKey();
        await failNext(CREATE, fault, impatient);
        const authorization = `Bearer ${impatient.token()}`;
        const answer = await write(key, { on: impatient, authorization });
        assert.ok([502, 504].includes(answer.status), answer.text);
        assert.equal(answer.json.outcome, "unknown");
        await assertHeld(key, { created, on: impatient, authorization });
      });
    }

    test("still reports an unknown outcome after a rejected and after a blocked forced retry", async () => {
      const key = newKey();
      const options = { on: impatient, authorization: `Bearer ${impatient.token()}` };
      await failNext(CREATE, { kind: "reset", process: true }, impatient);
      assertProblem(await write(key, options), 502, "upstream-unreachable");
      await failNext(CREATE, { kind: "status", status: 401 }, impatient);
      assertProblem(await forced(key, options), 502, "upstream-credential");
      assertUnknown(await write(key, options));
      // Failures of other creations open the breaker.
      await impatient.upstream.fault({ times: 0, fault: { kind: "reset" } });
      await untilNot(
        ({ status }) => status === 502,
        () => impatient.post(JOBS, { prompt: "another" }),
      );
      const { requests } = await creations(impatient);
      assertProblem(await forced(key, options), 503, "upstream-unavailable");
      assertUnknown(await write(key, options));
      await assertCreations(1, requests, impatient);
    });
  });
});

test("replays known responses and reports unknown outcomes after the Worker was killed", async () => {
  const [created, failed, lost, interrupted] = [newKey(), newKey(), newKey(), newKey()];
  const first = await write(created);
  assertFirst(first);
  await failNext(CREATE, { kind: "json", status: 400, body: { error: "No such luck" } });
  const refused = await write(failed);
  assertProblem(refused, 400, "upstream-error");
  await failNext(CREATE, { kind: "reset" });
  assertProblem(await write(lost), 502, "upstream-unreachable");
  await gate.upstream.hold({ operation: CREATE, process: true });
  const inFlight = write(interrupted);
  await gate.upstream.untilHeld(1);

  await gate.restart();
  assert.equal((await inFlight).status, undefined, "the interrupted request got no response");
  await gate.upstream.clearFaults();
  const before = await creations();
  assertReplayed(await write(created), first);
  assertReplayed(await write(failed), refused);
  for (const key of [lost, interrupted]) {
    for (const answer of await concurrently(5, () => write(key))) assertUnknown(answer);
    assertReused(await write(key, { prompt: "another" }));
  }
  assert.deepEqual(await creations(), before, "a request was sent again");
  assertFirst(await forced(interrupted));
  assert.equal((await creations()).jobs, before.jobs + 1);
});
