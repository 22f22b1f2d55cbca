/** Idempotency keys. A retry under the same key replays the stored response. */
import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { until } from "../analytics_requests.mjs";
import { hook, keyed, webhookVars } from "../jobs_gateway.mjs";
import { assertProblem, JOBS, PROJECT, useGate } from "../recorded_gateway.mjs";

const PROJECTS = [PROJECT, "busy-docs", "refuses-500"];
const CREATE = "agentJobs.create";
/** The upstream creates a job, or sends a message, and resets the connection. */
const CREATED_AND_RESET = { kind: "reset", process: true };
const HUGE = String(10 ** 6);
const jobsOf = (project) => `/v2/agent/${project}/job`;

let keys = 0;

function newKey() {
  keys += 1;
  return `key-of-a-caller-${keys}`;
}

const gate = useGate("keyed-writes", {
  upstream: { projects: PROJECTS, jobDurationMs: 600_000, createLimit: 1e6, messageLimit: 1e6 },
  stored: true,
  gateway: {
    vars: {
      CREATE_LIMIT_PER_HOUR: HUGE,
      MESSAGE_LIMIT_PER_HOUR: HUGE,
      ...webhookVars({ host: "hooks.example" }),
    },
  },
});
beforeEach(() => gate.upstream.reset());

const as = (sub, claims = {}) => `Bearer ${gate.token({ sub, projects: PROJECTS, ...claims })}`;

function write(key, { target = JOBS, prompt = "document the API", on = gate, ...options } = {}) {
  const { sub = "alice", headers = [], authorization = as(sub) } = options;
  return on.post(target, { prompt }, { headers: [...keyed(key), ...headers], authorization });
}

const forced = (key, options = {}) =>
  write(key, { ...options, headers: [["Idempotency-Retry", "force"]] });

const concurrently = (count, send) => Promise.all(Array.from({ length: count }, send));

async function creations(on = gate) {
  const { jobsCreated, byOperation } = await on.upstream.counters();
  return { jobs: jobsCreated, requests: byOperation[CREATE] };
}

async function assertCreations(jobs, requests = jobs, on = gate) {
  assert.deepEqual(await creations(on), { jobs, requests });
}

function assertReplayed(answer, first) {
  assert.equal(answer.header("idempotent-replayed"), "true", `${answer.status} ${answer.text}`);
  assert.deepEqual([answer.status, answer.text], [first.status, first.text]);
  assert.equal(answer.header("content-type"), first.header("content-type"));
}

function assertFirst(answer, status = 201) {
  assert.equal(answer.status, status, answer.text);
  assert.equal(answer.header("idempotent-replayed"), undefined);
}

function assertInUse(answer) {
  assertProblem(answer, 409, "idempotency-key-in-use");
  assert.equal(answer.header("retry-after"), "1");
}

function assertUnknown(answer) {
  const problem = assertProblem(answer, 409, "outcome-unknown");
  assert.equal(problem.outcome, "unknown");
  assert.match(problem.detail, /Idempotency-Retry: force/);
}

const assertReused = (answer) => assertProblem(answer, 422, "idempotency-key-reused");

const failNext = (operation, fault, on = gate) => on.upstream.fault({ operation, fault });

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
    assertReused(await write(key, { headers: hook("https://hooks.example/a") }));
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
    await failNext("agentJobs.sendMessage", CREATED_AND_RESET);
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
  const prompt = "document the API\nand more";
  const request = { method: "POST", target, json: { prompt }, headers: keyed(key), authorization };
  const leaving = gate.open(gate.bytes(request), "POST");
  await gate.upstream.untilHeld(1);
  leaving.leave();
  const send = () => gate.send(request);
  assertInUse(await send());
  await gate.upstream.release();

  const answer = await until(async () => {
    const next = await send();
    if (!next.text.includes("in-use")) return next;
    assertInUse(next);
  });
  assert.equal(answer.header("idempotent-replayed"), "true");
  assert.equal(answer.status, 201);
  await assertCreations(1);
  const { jobs } = await gate.read(`/v2/agent/${project}/jobs`, { authorization });
  const [job, ...others] = jobs;
  assert.deepEqual(others, []);
  assert.equal(job.id, answer.json.id);
  assert.deepEqual([job.prompt, job.createdBy], ["document the API", "alice"]);
});

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
    ["a reset after creating the job", CREATED_AND_RESET, [502, "upstream-unreachable"], 1],
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
    await failNext(CREATE, CREATED_AND_RESET);
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
      await failNext(CREATE, CREATED_AND_RESET, impatient);
      assertProblem(await write(key, options), 502, "upstream-unreachable");
      await failNext(CREATE, { kind: "status", status: 401 }, impatient);
      assertProblem(await forced(key, options), 502, "upstream-credential");
      assertUnknown(await write(key, options));
      // Failures of other creations open the breaker.
      await impatient.upstream.fault({ times: 0, fault: { kind: "reset" } });
      const another = () => impatient.post(JOBS, { prompt: "another" });
      await until(async () => (await another()).status !== 502);
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
