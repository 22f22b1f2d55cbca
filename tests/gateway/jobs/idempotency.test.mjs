/** Idempotency keys. A retry under the same key replays the stored response. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertProblem, JOBS } from "../recorded_gateway.mjs";
import {
  as,
  assertCreations,
  assertFirst,
  assertInUse,
  assertReplayed,
  assertReused,
  assertUnknown,
  CREATE,
  concurrently,
  failNext,
  forced,
  gate,
  jobsOf,
  newKey,
  untilNotInUse,
  write,
} from "./keyed_writes.mjs";

test("sends one of 50 concurrent creations under one key, and replays its response", async () => {
  const key = newKey();
  const answers = await concurrently(50, () => write(key));
  const created = answers.filter(({ status }) => status === 201);
  assert.ok(created.length > 0);
  for (const answer of answers) {
    if (answer.status === 201) assert.equal(answer.text, created[0].text);
    else assertInUse(answer);
  }
  const first = created.filter((answer) => !answer.header("idempotent-replayed"));
  assert.equal(first.length, 1, "exactly one response is not a replay");
  for (const answer of await concurrently(50, () => write(key))) assertReplayed(answer, first[0]);
  await assertCreations(1);
});

describe("the scope of an idempotency key", () => {
  test("rejects a different request under the same idempotency key", async () => {
    const key = newKey();
    const first = await write(key);
    const { id } = first.json;
    assertReused(await write(key, { prompt: "another" }));
    assertReused(await write(key, { prompt: "document the API " }));
    assertReused(await forced(key, { prompt: "another" }));
    assertReused(await write(key, { target: `${JOBS}/${id}/message` }));
    assertReused(await write(key, { headers: [["Webhook-Url", "https://hooks.example/a"]] }));
    assertReplayed(await write(key), first);
    assert.equal(await gate.received(), 1);
  });

  test("keeps equal idempotency keys of two callers apart", async () => {
    const key = newKey();
    const first = await write(key, { sub: "alice" });
    const second = await write(key, { sub: "bob", prompt: "bob's" });
    assertFirst(first);
    assertFirst(second);
    assert.notEqual(second.json.id, first.json.id);
    assertReplayed(await write(key, { sub: "alice" }), first);
    assertReplayed(await write(key, { sub: "bob", prompt: "bob's" }), second);
    await assertCreations(2);
  });

  test("sends one of 20 concurrent follow-ups, whose outcome is unknown until a forced retry", async () => {
    const [one, other] = [(await write(newKey())).json, (await write(newKey())).json];
    const target = `${JOBS}/${one.id}/message`;
    const key = newKey();
    const send = () => write(key, { target });
    await failNext("agentJobs.sendMessage", { kind: "reset", process: true });
    const answers = await concurrently(20, send);
    const [first, ...others] = answers.filter(({ status }) => status !== 409);
    assertProblem(first, 502, "upstream-unreachable");
    assert.deepEqual(others, []);
    assertUnknown(await send());
    assertReused(await write(key, { target: `${JOBS}/${other.id}/message` }));
    assertReused(await write(key, { target, prompt: "another" }));
    assertReused(await write(key));
    assert.equal((await gate.upstream.counters()).messagesSent, 1);
    const second = await forced(key, { target });
    assertFirst(second, 200);
    assertReplayed(await send(), second);
    assert.equal((await gate.upstream.counters()).messagesSent, 2);
  });
});

describe("an error under an idempotency key", () => {
  test("replays an upstream 404 under the same idempotency key without another request", async () => {
    const key = newKey();
    await failNext(CREATE, { kind: "json", status: 404, body: { error: "No such luck" } });
    const first = await write(key);
    const problem = assertProblem(first, 404, "upstream-error");
    assert.equal(problem.upstream.error, "No such luck");
    assertReplayed(await write(key), first);
    assertReplayed(await forced(key), first);
    assertReused(await write(key, { prompt: "another" }));
    await assertCreations(0, 1);
  });

  test("replays an upstream 500 until the caller forces a retry", async () => {
    const key = newKey();
    await failNext(CREATE, { kind: "status", status: 500 });
    const first = await write(key);
    assertProblem(first, 500, "upstream-error");
    for (const answer of await concurrently(5, () => write(key))) assertReplayed(answer, first);
    assertReused(await forced(key, { prompt: "another" }));
    await assertCreations(0, 1);
    const second = await forced(key);
    assertFirst(second);
    assertReplayed(await write(key), second);
    assertReplayed(await forced(key), second);
    await assertCreations(1, 2);
  });

  test("still replays a failure after a forced retry was rejected with 429", async () => {
    const key = newKey();
    const target = jobsOf("refuses-500");
    await failNext(CREATE, { kind: "status", status: 500, process: true });
    const first = await write(key, { target });
    await failNext(CREATE, { kind: "status", status: 429, headers: { "retry-after": "1" } });
    assertProblem(await forced(key, { target }), 429, "upstream-error");
    assertReplayed(await write(key, { target }), first);
    await assertCreations(1, 2);
  });

  test("releases the idempotency key after the upstream rejected the API key", async () => {
    const key = newKey();
    await failNext(CREATE, { kind: "status", status: 401 });
    assertProblem(await write(key), 502, "upstream-credential");
    assertFirst(await write(key, { prompt: "even another" }));
    await assertCreations(1, 2);
  });

  test("releases the idempotency key when the caller's quota is used up", async () => {
    const key = newKey();
    const withoutQuota = as("carol", { quota: { "create-job": 0 } });
    for (const answer of await concurrently(3, () => write(key, { authorization: withoutQuota }))) {
      assertProblem(answer, 429, "quota-exceeded");
    }
    await assertCreations(0);
    assertFirst(await write(key, { sub: "carol", prompt: "even another" }));
    await assertCreations(1);
  });
});

test("replays the response to a caller that disconnected, and lists its job", async () => {
  const key = newKey();
  const project = "busy-docs";
  const target = jobsOf(project);
  const authorization = as("alice");
  await gate.upstream.hold({ operation: CREATE });
  const headers = [["Idempotency-Key", key]];
  const json = { prompt: "document the API\nand more" };
  const bytes = gate.bytes({ method: "POST", target, json, headers, authorization });
  const leaving = gate.open(bytes, "POST");
  await gate.upstream.untilHeld(1);
  leaving.leave();
  const send = () => gate.post(target, json, { headers, authorization });
  assertInUse(await send());
  await gate.upstream.release();

  const answer = await untilNotInUse(send);
  assert.equal(answer.header("idempotent-replayed"), "true");
  assert.equal(answer.status, 201);
  await assertCreations(1);
  const listed = await gate.get(`/v2/agent/${project}/jobs`, { authorization });
  const [job, ...others] = listed.json.jobs;
  assert.deepEqual(others, []);
  assert.equal(job.id, answer.json.id);
  assert.deepEqual([job.prompt, job.createdBy], ["document the API", "alice"]);
});
