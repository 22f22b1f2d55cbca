/**
 * Idempotency keys: a retry never creates a second job. The tests interrupt the request, the
 * response, the client and the gateway itself.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { assertInvalid, assertProblem, JOBS, PROJECT, startGate } from "../recorded_gateway.mjs";

const OTHER_PROJECT = "other-docs";
const PROJECTS = [
  ...[PROJECT, OTHER_PROJECT, "closed-docs", "busy-docs"],
  ...["refuses-401", "refuses-403", "refuses-429", "refuses-500"],
];
const CREATE = "agentJobs.create";
const FOLLOW_UP = "agentJobs.sendMessage";
const HUGE = String(10 ** 6);
/** Maximum wait, generous for a busy machine. */
const PATIENCE_MS = 60_000;
const jobsOf = (project) => `/v2/agent/${project}/job`;

/** Every key starts with this marker, so that a search finds leaked keys. */
const MARKER = "key-of-a-caller";
let keys = 0;

/** Returns an unused key. */
function newKey() {
  keys += 1;
  return `${MARKER}-${keys}`;
}

let gate;
let state;

before(async () => {
  state = mkdtempSync(join(tmpdir(), "quillgate-idempotency-"));
  gate = await startGate("idempotency", {
    upstream: { projects: PROJECTS, jobDurationMs: 600_000, createLimit: 1e6, messageLimit: 1e6 },
    gateway: {
      state,
      vars: {
        CREATE_LIMIT_PER_HOUR: HUGE,
        MESSAGE_LIMIT_PER_HOUR: HUGE,
        WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 7).toString("base64")}`,
        WEBHOOK_HOSTS: "hooks.example",
      },
    },
  });
});
after(async () => {
  await gate?.stop();
  rmSync(state, { recursive: true, force: true });
});
beforeEach(() => gate.upstream.reset());

/** The `Authorization` of a caller with access to every project. */
const as = (sub, claims = {}) => `Bearer ${gate.token({ sub, projects: PROJECTS, ...claims })}`;

/**
 * Creates a job under a key, or sends another write request.
 *
 * @param {string} key sent verbatim in the header field
 * @param {object} [options]
 */
function write(key, options = {}) {
  const {
    target = JOBS,
    prompt = "document the API",
    sub = "alice",
    headers = [],
    on = gate,
  } = options;
  const { authorization = as(sub) } = options;
  const fields = [["Idempotency-Key", key], ...headers];
  return on.post(target, { prompt }, { headers: fields, authorization });
}

const forced = (key, options = {}) =>
  write(key, { ...options, headers: [["Idempotency-Retry", "force"]] });

/** Sends the same request `count` times concurrently. */
const concurrently = (count, send) => Promise.all(Array.from({ length: count }, send));

/** The number of jobs created upstream, and of create requests received there. */
async function creations(on = gate) {
  const { jobsCreated, byOperation } = await on.upstream.counters();
  return { jobs: jobsCreated, requests: byOperation[CREATE] };
}

async function assertCreations(jobs, requests = jobs, on = gate) {
  assert.deepEqual(await creations(on), { jobs, requests });
}

/** Asserts that a response is a replay of `first`. */
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

/** Repeats a request until its key is no longer in use. */
async function untilNotInUse(send) {
  const isInUse = ({ status, text }) => status === 409 && text.includes("in-use");
  const { answer, before } = await untilNot(isInUse, send);
  for (const one of before) assertInUse(one);
  return answer;
}

/** Repeats a request until `matches` is false. Returns that response and all earlier ones. */
async function untilNot(matches, send) {
  const before = [];
  const deadline = Date.now() + PATIENCE_MS;
  while (Date.now() < deadline) {
    const answer = await send();
    if (!matches(answer)) return { answer, before };
    before.push(answer);
  }
  assert.fail(`no change in ${before.length} responses: ${before.at(-1)?.text}`);
}

const failNext = (operation, fault, on = gate) => on.upstream.fault({ operation, fault });

describe("an idempotency key", () => {
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

  test("reports an idempotency key as in use while its request is in flight", async () => {
    const key = newKey();
    await gate.upstream.hold({ operation: CREATE });
    const first = write(key);
    await gate.upstream.untilHeld(1);
    for (const answer of await concurrently(20, () => write(key))) assertInUse(answer);
    assertInUse(await forced(key));
    assertReused(await write(key, { prompt: "another" }));
    await gate.upstream.release();
    const answer = await first;
    assertFirst(answer);
    assertReplayed(await write(key), answer);
    assertReplayed(await forced(key), answer);
    await assertCreations(1);
  });

  test("charges the budget once for an idempotency key, however many replays follow", async () => {
    const key = newKey();
    const remaining = (answer) => Number(/;r=(\d+)/.exec(answer.header("ratelimit"))[1]);
    const first = await write(key);
    for (const answer of await concurrently(5, () => write(key))) assertReplayed(answer, first);
    assert.equal(remaining(await write(newKey())), remaining(first) - 1);
  });

  test("treats a bare and a quoted idempotency key as the same", async () => {
    for (const [bare, quoted] of [
      [newKey(), (key) => `"${key}"`],
      [`${newKey()}\\"x`, (key) => JSON.stringify(key)],
      [newKey(), (key) => `\t "${key}" `],
    ]) {
      await gate.upstream.reset();
      const first = await write(bare);
      assertFirst(first);
      assertReplayed(await write(quoted(bare)), first);
      assertReplayed(await write(bare), first);
      await assertCreations(1);
    }
  });

  test("treats idempotency keys that differ in case or punctuation as different", async () => {
    const key = newKey();
    for (const other of [key, key.toUpperCase(), `${key}"`, `${key}'`, `${key}=`]) {
      assertFirst(await write(other));
    }
    await assertCreations(5);
  });

  test("accepts an idempotency key of 255 characters", async () => {
    const key = MARKER.padEnd(255, "x");
    const first = await write(key);
    assertFirst(first);
    assertReplayed(await write(`"${key}"`), first);
    assertFirst(await write(`${key.slice(0, -1)}y`));
  });

  test("rejects a malformed idempotency key without a request upstream", async () => {
    const key = newKey();
    for (const malformed of [
      ...["", '""', '"', `"${key}`, `${key}, ${key}`, `${key},`, `${key} x`, `${key}\tx`],
      ...[`"${key}"x`, `"${key}";a=1`, `"${key}", "${key}"`, `"${key} x"`, `"${key}\\x"`],
      ...[`${key}\xe4`, `"${key}\xe4"`, `${key}\x7f`, "x".repeat(256), `"${"x".repeat(256)}"`],
      ...[`"${key}\\"`, `"${key}"",`],
    ]) {
      for (const target of [JOBS, `${JOBS}/j1/message`]) {
        const answer = await write(malformed, { target });
        assertInvalid(answer, "Idempotency-Key", "idempotency-key");
        assert.ok(!answer.text.includes(MARKER), "the response repeats the key");
      }
    }
    const twice = await write(key, { headers: [["Idempotency-Key", key]] });
    assertInvalid(twice, "Idempotency-Key", "idempotency-key");
    assert.equal(await gate.received(), 0);
  });

  test("rejects an Idempotency-Retry other than force", async () => {
    const key = newKey();
    for (const retry of ["", "true", "1", "forced", "force, force", '"force"']) {
      const answer = await write(key, { headers: [["Idempotency-Retry", retry]] });
      assertInvalid(answer, "Idempotency-Retry", "idempotency-retry");
    }
    assert.equal(await gate.received(), 0);
    assertFirst(await forced(key));
  });

  test("does not forward the idempotency key upstream", async () => {
    await write(newKey());
    const [request] = await gate.upstream.requests();
    assert.ok(!JSON.stringify(request).includes(MARKER));
  });

  test("creates two jobs from two equal requests without an idempotency key", async () => {
    await gate.post(JOBS, { prompt: "x" });
    await gate.post(JOBS, { prompt: "x" });
    await assertCreations(2);
  });
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

  test("replays a response for an equivalent JSON body with another spelling", async () => {
    const headers = [
      ["Idempotency-Key", newKey()],
      ["Content-Type", "application/json"],
    ];
    const send = (body) =>
      gate.send({ method: "POST", target: JOBS, headers, body, authorization: as("alice") });
    const first = await send('{"prompt":"x"}');
    assertFirst(first);
    assertReplayed(await send(' { "\\u0070rompt" : "\\u0078" } '), first);
    await assertCreations(1);
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

  test("replays a response for another token of the same caller", async () => {
    const key = newKey();
    const first = await write(key);
    const authorization = as("alice", { jti: "another", projects: [PROJECT] });
    assertReplayed(await write(key, { authorization }), first);
    await assertCreations(1);
  });

  test("keeps equal idempotency keys in two projects apart", async () => {
    const key = newKey();
    const first = await write(key);
    const second = await write(key, { target: jobsOf(OTHER_PROJECT), prompt: "in the other" });
    assertFirst(first);
    assertFirst(second);
    assertReplayed(await write(key), first);
    await assertCreations(2);
  });

  test("sends one of 20 concurrent follow-ups under one idempotency key", async () => {
    const [one, other] = [(await write(newKey())).json, (await write(newKey())).json];
    const target = `${JOBS}/${one.id}/message`;
    const key = newKey();
    const answers = await concurrently(20, () => write(key, { target }));
    const first = answers.find((answer) => answer.status === 200);
    for (const answer of answers) if (answer.status !== 200) assertInUse(answer);
    assertReplayed(await write(key, { target }), first);
    assertReused(await write(key, { target: `${JOBS}/${other.id}/message` }));
    assertReused(await write(key, { target, prompt: "another" }));
    assertReused(await write(key));
    assert.equal((await gate.upstream.counters()).messagesSent, 1);
  });
});

describe("an error under an idempotency key", () => {
  for (const status of [400, 404, 409, 422]) {
    test(`replays an upstream ${status} under the same idempotency key without another request`, async () => {
      const key = newKey();
      await failNext(CREATE, { kind: "json", status, body: { error: "No such luck" } });
      const first = await write(key);
      const problem = assertProblem(first, status, "upstream-error");
      assert.equal(problem.upstream.error, "No such luck");
      assertReplayed(await write(key), first);
      assertReplayed(await forced(key), first);
      assertReused(await write(key, { prompt: "another" }));
      await assertCreations(0, 1);
    });
  }

  test("replays the 404 of a follow-up to an unknown job", async () => {
    const key = newKey();
    const target = `${JOBS}/none/message`;
    const first = await write(key, { target });
    assertProblem(first, 404, "upstream-error");
    assertReplayed(await write(key, { target }), first);
    assert.equal(await gate.received(), 1);
  });

  for (const status of [500, 502, 503]) {
    test(`replays an upstream ${status} until the caller forces a retry`, async () => {
      const key = newKey();
      await failNext(CREATE, { kind: "status", status });
      const first = await write(key);
      assertProblem(first, status, "upstream-error");
      for (const answer of await concurrently(5, () => write(key))) assertReplayed(answer, first);
      assertReused(await forced(key, { prompt: "another" }));
      await assertCreations(0, 1);
      const second = await forced(key);
      assertFirst(second);
      assertReplayed(await write(key), second);
      assertReplayed(await forced(key), second);
      await assertCreations(1, 2);
    });
  }

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

  for (const status of [401, 403]) {
    test(`releases the idempotency key after the upstream rejected the API key with ${status}`, async () => {
      const key = newKey();
      await failNext(CREATE, { kind: "status", status });
      assertProblem(await write(key), 502, "upstream-credential");
      assertFirst(await write(key, { prompt: "even another" }));
      await assertCreations(1, 2);
    });
  }

  for (const status of [421, 425]) {
    test(`releases the idempotency key after a transient upstream ${status}`, async () => {
      const key = newKey();
      await failNext(CREATE, { kind: "status", status });
      const { outcome } = assertProblem(await write(key), status, "upstream-error");
      assert.equal(outcome, undefined);
      assertFirst(await write(key, { prompt: "even another" }));
      await assertCreations(1, 2);
    });
  }

  test("releases the idempotency key after an upstream 429 and the gateway's own 429s", async () => {
    const key = newKey();
    const target = jobsOf("closed-docs");
    await failNext(CREATE, { kind: "status", status: 429, headers: { "retry-after": "1" } });
    assertProblem(await write(key, { target }), 429, "upstream-error");
    const isRateLimited = ({ status }) => status === 429;
    const { answer, before } = await untilNot(isRateLimited, () => write(key, { target }));
    for (const one of before) assertProblem(one, 429, "quota-exceeded");
    assertFirst(answer);
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

  test("releases the idempotency key when the gateway itself rejects the request", async () => {
    const key = newKey();
    assertProblem(await write(key, { prompt: "" }), 400, "invalid-request");
    assertProblem(await write(key, { authorization: null }), 401, "missing-token");
    assertFirst(await write(key));
    await assertCreations(1);
  });
});

describe("an unknown outcome", () => {
  /** Asserts that the outcome stays unknown, and that one forced retry succeeds. */
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
    ["a reset", { kind: "reset" }, [502, "upstream-unreachable"], 0],
    [
      "a reset after creating the job",
      { kind: "reset", process: true },
      [502, "upstream-unreachable"],
      1,
    ],
    ["a 408", { kind: "status", status: 408 }, [408, "upstream-error"], 0],
    [
      "a 408 after creating the job",
      { kind: "status", status: 408, process: true },
      [408, "upstream-error"],
      1,
    ],
    [
      "a 201 with an unexpected schema",
      { kind: "status", status: 201, body: '{"id":5}', process: true },
      [502, "upstream-malformed"],
      1,
    ],
    ["a 201 with a truncated body", { kind: "cutBody" }, [502, "upstream-malformed"], 1],
    ["a 201 without its last chunk", { kind: "cutChunked" }, [502, "upstream-malformed"], 1],
    ["a 2xx with truncated JSON", { kind: "malformedJson" }, [502, "upstream-malformed"], 1],
    ["a 200 with HTML", { kind: "html", status: 200 }, [502, "upstream-malformed"], 0],
    ["a 201 with an empty body", { kind: "empty", status: 201 }, [502, "upstream-malformed"], 0],
  ]) {
    test(`reports an unknown outcome until the caller forces a retry: ${what}`, async () => {
      const key = newKey();
      await failNext(CREATE, fault);
      const problem = assertProblem(await write(key), status, kind);
      assert.equal(problem.outcome, "unknown");
      await assertHeld(key, { created });
    });
  }

  test("reports the unknown outcome of a follow-up until the caller forces a retry", async () => {
    const { id } = (await write(newKey())).json;
    const target = `${JOBS}/${id}/message`;
    const key = newKey();
    await failNext(FOLLOW_UP, { kind: "reset", process: true });
    assertProblem(await write(key, { target }), 502, "upstream-unreachable");
    for (const answer of await concurrently(5, () => write(key, { target }))) assertUnknown(answer);
    assert.equal((await gate.upstream.counters()).messagesSent, 1);
    assertFirst(await forced(key, { target }), 200);
    assert.equal((await gate.upstream.counters()).messagesSent, 2);
  });

  test("sends one of 20 concurrent forced retries", async () => {
    const key = newKey();
    await failNext(CREATE, { kind: "reset", process: true });
    assertProblem(await write(key), 502, "upstream-unreachable");
    const answers = await concurrently(20, () => forced(key));
    for (const answer of answers) if (answer.status !== 201) assertInUse(answer);
    await assertCreations(2);
  });

  test("reports an unknown outcome again when the forced retry has one too", async () => {
    const key = newKey();
    await gate.upstream.fault({ operation: CREATE, times: 2, fault: { kind: "reset" } });
    assertProblem(await write(key), 502, "upstream-unreachable");
    assertProblem(await forced(key), 502, "upstream-unreachable");
    assertUnknown(await write(key));
    await assertCreations(0, 2);
  });

  for (const status of [401, 403, 429]) {
    test(`still reports an unknown outcome after the upstream rejected a forced retry with ${status}`, async () => {
      const key = newKey();
      const target = jobsOf(`refuses-${status}`);
      const repeat = () => write(key, { target });
      await failNext(CREATE, { kind: "reset", process: true });
      assertProblem(await repeat(), 502, "upstream-unreachable");
      await failNext(CREATE, { kind: "status", status, headers: { "retry-after": "1" } });
      assert.equal((await forced(key, { target })).status, status === 429 ? 429 : 502);
      assertUnknown(await repeat());
      await assertCreations(1, 2);
    });
  }

  describe("with an upstream that never finishes its response", () => {
    let impatient;

    before(async () => {
      impatient = await startGate("idempotency-impatient", {
        upstream: { projects: PROJECTS, jobDurationMs: 600_000 },
        gateway: { vars: { UPSTREAM_TIMEOUT_SECONDS: "1" } },
      });
    });
    after(() => impatient?.stop());
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

    test("reports an idempotency key as in use until its hanging request times out", async () => {
      const key = newKey();
      const authorization = `Bearer ${impatient.token()}`;
      const send = () => write(key, { on: impatient, authorization });
      await failNext(CREATE, { kind: "hang", process: true }, impatient);
      const first = send();
      await impatient.untilCounters(({ byOperation }) => byOperation[CREATE] === 1);
      const second = await untilNotInUse(send);
      assertUnknown(second);
      assertProblem(await first, 504, "upstream-timeout");
      await assertCreations(1, 1, impatient);
    });

    test("still reports an unknown outcome when the open breaker blocks a forced retry", async () => {
      const key = newKey();
      const authorization = `Bearer ${impatient.token()}`;
      const options = { on: impatient, authorization };
      await failNext(CREATE, { kind: "reset", process: true }, impatient);
      assertProblem(await write(key, options), 502, "upstream-unreachable");
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

    test("keeps secrets and idempotency keys out of responses and the log", async () => {
      await impatient.assertDiscreet();
      assert.ok(!impatient.gateway.log().includes(MARKER));
    });
  });
});

describe("a caller that disconnects", () => {
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
});

describe("a Worker that is killed", () => {
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
});

test("keeps idempotency keys out of the log", () => {
  assert.ok(keys > 30 && gate.gateway.log().includes('"route"'));
  assert.ok(!gate.gateway.log().includes(MARKER));
});

test("keeps the admin key, the secret and tokens out of responses and the log", () =>
  gate.assertDiscreet());
