/**
 * No job twice: what becomes of a request that carries an `Idempotency-Key`, whatever happens
 * to it, to its answer, to who has sent it or to the gateway itself.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { assertInvalid, assertProblem, JOBS, PROJECT, startGate } from "./gate.mjs";

const OTHER_PROJECT = "other-docs";
const PROJECTS = [
  ...[PROJECT, OTHER_PROJECT, "closed-docs", "busy-docs"],
  ...["refuses-401", "refuses-403", "refuses-429", "refuses-500"],
];
const CREATE = "agentJobs.create";
const FOLLOW_UP = "agentJobs.sendMessage";
const HUGE = String(10 ** 6);
/** What must happen at last must have happened by then. */
const PATIENCE_MS = 60_000;
const jobsOf = (project) => `/v2/agent/${project}/job`;

/** Every key begins so, and so is found wherever it should not be. */
const MARK = "key-of-a-caller";
let keys = 0;

/** A key that was not used before. */
function newKey() {
  keys += 1;
  return `${MARK}-${keys}`;
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

/** The `Authorization` of a caller of every project. */
const as = (sub, claims = {}) => `Bearer ${gate.token({ sub, projects: PROJECTS, ...claims })}`;

/**
 * Sends a creation, or another request that writes, with a key.
 *
 * @param {string} key as it stands in the header field
 * @param {object} [options]
 */
function write(key, options = {}) {
  const {
    target = JOBS,
    prompt = "write it down",
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

/** Answers to the same request, asked so often at once. */
const atOnce = (count, ask) => Promise.all(Array.from({ length: count }, ask));

/** How many jobs were created upstream, and how many requests to do so have reached it. */
async function creations(on = gate) {
  const { jobsCreated, byOperation } = await on.upstream.counters();
  return { jobs: jobsCreated, requests: byOperation[CREATE] };
}

async function assertCreations(jobs, requests = jobs, on = gate) {
  assert.deepEqual(await creations(on), { jobs, requests });
}

/** Checks an answer that was given before. */
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

/** Asks until the key is not in use any more. */
async function untilNotInUse(ask) {
  const isInUse = ({ status, text }) => status === 409 && text.includes("in-use");
  const { answer, before } = await untilNot(isInUse, ask);
  for (const one of before) assertInUse(one);
  return answer;
}

/** Asks until an answer is not like this, and gives all that came before. */
async function untilNot(isLike, ask) {
  const before = [];
  const deadline = Date.now() + PATIENCE_MS;
  while (Date.now() < deadline) {
    const answer = await ask();
    if (!isLike(answer)) return { answer, before };
    before.push(answer);
  }
  assert.fail(`still after ${before.length} answers: ${before.at(-1)?.text}`);
}

const next = (operation, fault, on = gate) => on.upstream.fault({ operation, fault });

describe("a key", () => {
  test("of 50 creations at once lets one through, and gives all its answer in the end", async () => {
    const key = newKey();
    const answers = await atOnce(50, () => write(key));
    const created = answers.filter(({ status }) => status === 201);
    assert.ok(created.length > 0);
    for (const answer of answers) {
      if (answer.status === 201) assert.equal(answer.text, created[0].text);
      else assertInUse(answer);
    }
    const first = created.filter((answer) => !answer.header("idempotent-replayed"));
    assert.equal(first.length, 1, "one of them is the first");
    for (const answer of await atOnce(50, () => write(key))) assertReplayed(answer, first[0]);
    await assertCreations(1);
  });

  test("is in use while its request is under way", async () => {
    const key = newKey();
    await gate.upstream.hold({ operation: CREATE });
    const first = write(key);
    await gate.upstream.untilHeld(1);
    for (const answer of await atOnce(20, () => write(key))) assertInUse(answer);
    assertInUse(await forced(key));
    assertReused(await write(key, { prompt: "another" }));
    await gate.upstream.release();
    const answer = await first;
    assertFirst(answer);
    assertReplayed(await write(key), answer);
    assertReplayed(await forced(key), answer);
    await assertCreations(1);
  });

  test("costs the budget one slot, however often its answer is given", async () => {
    const key = newKey();
    const slots = (answer) => Number(/;r=(\d+)/.exec(answer.header("ratelimit"))[1]);
    const first = await write(key);
    for (const answer of await atOnce(5, () => write(key))) assertReplayed(answer, first);
    assert.equal(slots(await write(newKey())), slots(first) - 1);
  });

  test("is the same bare and quoted", async () => {
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

  test("differs by a letter's case, a space's and a quote's place", async () => {
    const key = newKey();
    for (const other of [key, key.toUpperCase(), `${key}"`, `${key}'`, `${key}=`]) {
      assertFirst(await write(other));
    }
    await assertCreations(5);
  });

  test("may have 255 characters", async () => {
    const key = MARK.padEnd(255, "x");
    const first = await write(key);
    assertFirst(first);
    assertReplayed(await write(`"${key}"`), first);
    assertFirst(await write(`${key.slice(0, -1)}y`));
  });

  test("that is none is refused, and nothing is sent", async () => {
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
        assert.ok(!answer.text.includes(MARK), "and not repeated");
      }
    }
    const twice = await write(key, { headers: [["Idempotency-Key", key]] });
    assertInvalid(twice, "Idempotency-Key", "idempotency-key");
    assert.equal(await gate.received(), 0);
  });

  test("goes with no other Idempotency-Retry than force", async () => {
    const key = newKey();
    for (const retry of ["", "true", "1", "forced", "force, force", '"force"']) {
      const answer = await write(key, { headers: [["Idempotency-Retry", retry]] });
      assertInvalid(answer, "Idempotency-Retry", "idempotency-retry");
    }
    assert.equal(await gate.received(), 0);
    assertFirst(await forced(key));
  });

  test("is not passed on", async () => {
    await write(newKey());
    const [request] = await gate.upstream.requests();
    assert.ok(!JSON.stringify(request).includes(MARK));
  });

  test("of none is needed: two equal creations are two jobs", async () => {
    await gate.post(JOBS, { prompt: "x" });
    await gate.post(JOBS, { prompt: "x" });
    await assertCreations(2);
  });
});

describe("a key belongs to", () => {
  test("one request: another under it is refused", async () => {
    const key = newKey();
    const first = await write(key);
    const { id } = first.json;
    assertReused(await write(key, { prompt: "another" }));
    assertReused(await write(key, { prompt: "write it down " }));
    assertReused(await forced(key, { prompt: "another" }));
    assertReused(await write(key, { target: `${JOBS}/${id}/message` }));
    assertReused(await write(key, { headers: [["Webhook-Url", "https://hooks.example/a"]] }));
    assertReplayed(await write(key), first);
    assert.equal(await gate.received(), 1);
  });

  test("the meaning of a body, not its spelling", async () => {
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

  test("one caller: another's is another", async () => {
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

  test("a caller, whichever of its tokens it shows", async () => {
    const key = newKey();
    const first = await write(key);
    const authorization = as("alice", { jti: "another", projects: [PROJECT] });
    assertReplayed(await write(key, { authorization }), first);
    await assertCreations(1);
  });

  test("one project: in another it is another", async () => {
    const key = newKey();
    const first = await write(key);
    const second = await write(key, { target: jobsOf(OTHER_PROJECT), prompt: "of the other" });
    assertFirst(first);
    assertFirst(second);
    assertReplayed(await write(key), first);
    await assertCreations(2);
  });

  test("a follow-up as well", async () => {
    const [one, other] = [(await write(newKey())).json, (await write(newKey())).json];
    const target = `${JOBS}/${one.id}/message`;
    const key = newKey();
    const answers = await atOnce(20, () => write(key, { target }));
    const first = answers.find((answer) => answer.status === 200);
    for (const answer of answers) if (answer.status !== 200) assertInUse(answer);
    assertReplayed(await write(key, { target }), first);
    assertReused(await write(key, { target: `${JOBS}/${other.id}/message` }));
    assertReused(await write(key, { target, prompt: "another" }));
    assertReused(await write(key));
    assert.equal((await gate.upstream.counters()).messagesSent, 1);
  });
});

describe("an error under a key", () => {
  for (const status of [400, 404, 409, 422]) {
    test(`of ${status} is kept, and the upstream is not asked again`, async () => {
      const key = newKey();
      await next(CREATE, { kind: "json", status, body: { error: "No such luck" } });
      const first = await write(key);
      const problem = assertProblem(first, status, "upstream-error");
      assert.equal(problem.upstream.error, "No such luck");
      assertReplayed(await write(key), first);
      assertReplayed(await forced(key), first);
      assertReused(await write(key, { prompt: "another" }));
      await assertCreations(0, 1);
    });
  }

  test("of a follow-up to no job is kept", async () => {
    const key = newKey();
    const target = `${JOBS}/none/message`;
    const first = await write(key, { target });
    assertProblem(first, 404, "upstream-error");
    assertReplayed(await write(key, { target }), first);
    assert.equal(await gate.received(), 1);
  });

  for (const status of [500, 502, 503]) {
    test(`of ${status} is kept, until the caller says force`, async () => {
      const key = newKey();
      await next(CREATE, { kind: "status", status });
      const first = await write(key);
      assertProblem(first, status, "upstream-error");
      for (const answer of await atOnce(5, () => write(key))) assertReplayed(answer, first);
      assertReused(await forced(key, { prompt: "another" }));
      await assertCreations(0, 1);
      const second = await forced(key);
      assertFirst(second);
      assertReplayed(await write(key), second);
      assertReplayed(await forced(key), second);
      await assertCreations(1, 2);
    });
  }

  test("of a failure is not forgotten when the next try is refused", async () => {
    const key = newKey();
    const target = jobsOf("refuses-500");
    await next(CREATE, { kind: "status", status: 500, process: true });
    const first = await write(key, { target });
    await next(CREATE, { kind: "status", status: 429, headers: { "retry-after": "1" } });
    assertProblem(await forced(key, { target }), 429, "upstream-error");
    assertReplayed(await write(key, { target }), first);
    await assertCreations(1, 2);
  });

  for (const status of [401, 403]) {
    test(`of ${status}, the operator's own, leaves the key free`, async () => {
      const key = newKey();
      await next(CREATE, { kind: "status", status });
      assertProblem(await write(key), 502, "upstream-credential");
      assertFirst(await write(key, { prompt: "even another" }));
      await assertCreations(1, 2);
    });
  }

  for (const status of [421, 425]) {
    test(`of ${status}, which may pass, leaves the key free`, async () => {
      const key = newKey();
      await next(CREATE, { kind: "status", status });
      const { outcome } = assertProblem(await write(key), status, "upstream-error");
      assert.equal(outcome, undefined);
      assertFirst(await write(key, { prompt: "even another" }));
      await assertCreations(1, 2);
    });
  }

  test("of 429 leaves the key free, as does the refusal that follows", async () => {
    const key = newKey();
    const target = jobsOf("closed-docs");
    await next(CREATE, { kind: "status", status: 429, headers: { "retry-after": "1" } });
    assertProblem(await write(key, { target }), 429, "upstream-error");
    const isRefused = ({ status }) => status === 429;
    const { answer, before } = await untilNot(isRefused, () => write(key, { target }));
    for (const one of before) assertProblem(one, 429, "quota-exceeded");
    assertFirst(answer);
    await assertCreations(1, 2);
  });

  test("of a spent budget leaves the key free", async () => {
    const key = newKey();
    const poor = as("carol", { quota: { "create-job": 0 } });
    for (const answer of await atOnce(3, () => write(key, { authorization: poor }))) {
      assertProblem(answer, 429, "quota-exceeded");
    }
    await assertCreations(0);
    assertFirst(await write(key, { sub: "carol", prompt: "even another" }));
    await assertCreations(1);
  });

  test("of the caller's own leaves the key free", async () => {
    const key = newKey();
    assertProblem(await write(key, { prompt: "" }), 400, "invalid-request");
    assertProblem(await write(key, { authorization: null }), 401, "missing-token");
    assertFirst(await write(key));
    await assertCreations(1);
  });
});

describe("an outcome that nobody knows", () => {
  /** Asserts that a key is held, that force sends once more, and that all is well then. */
  async function assertHeld(key, { done, on = gate, ...options }) {
    const same = () => write(key, { ...options, on });
    assertUnknown(await same());
    for (const answer of await atOnce(10, same)) assertUnknown(answer);
    assertReused(await write(key, { ...options, on, prompt: "another" }));
    await assertCreations(done, 1, on);
    const second = await forced(key, { ...options, on });
    assertFirst(second);
    assertReplayed(await same(), second);
    assertReplayed(await forced(key, { ...options, on }), second);
    await assertCreations(done + 1, 2, on);
  }

  for (const [what, fault, [status, kind], done] of [
    ["a reset", { kind: "reset" }, [502, "upstream-unreachable"], 0],
    ["a reset after the work", { kind: "reset", process: true }, [502, "upstream-unreachable"], 1],
    ["a 408", { kind: "status", status: 408 }, [408, "upstream-error"], 0],
    [
      "a 408 after the work",
      { kind: "status", status: 408, process: true },
      [408, "upstream-error"],
      1,
    ],
    [
      "a 201 with another shape",
      { kind: "status", status: 201, body: '{"id":5}', process: true },
      [502, "upstream-malformed"],
      1,
    ],
    ["a 201 that breaks off", { kind: "cutBody" }, [502, "upstream-malformed"], 1],
    ["a 201 without its last chunk", { kind: "cutChunked" }, [502, "upstream-malformed"], 1],
    [
      "a success that is half of its JSON",
      { kind: "malformedJson" },
      [502, "upstream-malformed"],
      1,
    ],
    ["a success of HTML", { kind: "html", status: 200 }, [502, "upstream-malformed"], 0],
    ["a success of nothing", { kind: "empty", status: 201 }, [502, "upstream-malformed"], 0],
  ]) {
    test(`holds the key: ${what}`, async () => {
      const key = newKey();
      await next(CREATE, fault);
      const problem = assertProblem(await write(key), status, kind);
      assert.equal(problem.outcome, "unknown");
      await assertHeld(key, { done });
    });
  }

  test("holds the key of a follow-up", async () => {
    const { id } = (await write(newKey())).json;
    const target = `${JOBS}/${id}/message`;
    const key = newKey();
    await next(FOLLOW_UP, { kind: "reset", process: true });
    assertProblem(await write(key, { target }), 502, "upstream-unreachable");
    for (const answer of await atOnce(5, () => write(key, { target }))) assertUnknown(answer);
    assert.equal((await gate.upstream.counters()).messagesSent, 1);
    assertFirst(await forced(key, { target }), 200);
    assert.equal((await gate.upstream.counters()).messagesSent, 2);
  });

  test("of 20 that say force at once is tried by one", async () => {
    const key = newKey();
    await next(CREATE, { kind: "reset", process: true });
    assertProblem(await write(key), 502, "upstream-unreachable");
    const answers = await atOnce(20, () => forced(key));
    for (const answer of answers) if (answer.status !== 201) assertInUse(answer);
    await assertCreations(2);
  });

  test("stays unknown when the next try's is, too", async () => {
    const key = newKey();
    await gate.upstream.fault({ operation: CREATE, times: 2, fault: { kind: "reset" } });
    assertProblem(await write(key), 502, "upstream-unreachable");
    assertProblem(await forced(key), 502, "upstream-unreachable");
    assertUnknown(await write(key));
    await assertCreations(0, 2);
  });

  for (const status of [401, 403, 429]) {
    test(`is not forgotten when the next try is refused with ${status}`, async () => {
      const key = newKey();
      const target = jobsOf(`refuses-${status}`);
      const same = () => write(key, { target });
      await next(CREATE, { kind: "reset", process: true });
      assertProblem(await same(), 502, "upstream-unreachable");
      await next(CREATE, { kind: "status", status, headers: { "retry-after": "1" } });
      assert.equal((await forced(key, { target })).status, status === 429 ? 429 : 502);
      assertUnknown(await same());
      await assertCreations(1, 2);
    });
  }

  describe("since the upstream never answers", () => {
    let hasty;

    before(async () => {
      hasty = await startGate("idempotency-hasty", {
        upstream: { projects: PROJECTS, jobDurationMs: 600_000 },
        gateway: { vars: { UPSTREAM_TIMEOUT_SECONDS: "1" } },
      });
    });
    after(() => hasty?.stop());
    beforeEach(() => hasty.upstream.reset());

    for (const [what, fault, done] of [
      ["and has done nothing", { kind: "hang" }, 0],
      ["and has created the job", { kind: "hang", process: true }, 1],
      ["to its end", { kind: "slowDrip", chunkBytes: 1, intervalMs: 3_600_000 }, 1],
    ]) {
      test(`${what}: the key is held`, async () => {
        const key = newKey();
        await next(CREATE, fault, hasty);
        const authorization = `Bearer ${hasty.token()}`;
        const answer = await write(key, { on: hasty, authorization });
        assert.ok([502, 504].includes(answer.status), answer.text);
        assert.equal(answer.json.outcome, "unknown");
        await assertHeld(key, { done, on: hasty, authorization });
      });
    }

    test("a request that is still waited for has its key in use", async () => {
      const key = newKey();
      const authorization = `Bearer ${hasty.token()}`;
      const send = () => write(key, { on: hasty, authorization });
      await next(CREATE, { kind: "hang", process: true }, hasty);
      const first = send();
      await hasty.untilCounters(({ byOperation }) => byOperation[CREATE] === 1);
      const second = await untilNotInUse(send);
      assertUnknown(second);
      assertProblem(await first, 504, "upstream-timeout");
      await assertCreations(1, 1, hasty);
    });

    test("is not forgotten when the next try is not even sent, since all has failed", async () => {
      const key = newKey();
      const authorization = `Bearer ${hasty.token()}`;
      const options = { on: hasty, authorization };
      await next(CREATE, { kind: "reset", process: true }, hasty);
      assertProblem(await write(key, options), 502, "upstream-unreachable");
      await hasty.upstream.fault({ times: 0, fault: { kind: "reset" } });
      await untilNot(
        ({ status }) => status === 502,
        () => hasty.post(JOBS, { prompt: "another" }),
      );
      const { requests } = await creations(hasty);
      assertProblem(await forced(key, options), 503, "upstream-unavailable");
      assertUnknown(await write(key, options));
      await assertCreations(1, requests, hasty);
    });

    test("nothing secret is said, and no key", async () => {
      await hasty.assertDiscreet();
      assert.ok(!hasty.gateway.log().includes(MARK));
    });
  });
});

describe("a caller who leaves in the middle", () => {
  test("finds the job under the same key, and in the ledger", async () => {
    const key = newKey();
    const project = "busy-docs";
    const target = jobsOf(project);
    const authorization = as("alice");
    await gate.upstream.hold({ operation: CREATE });
    const headers = [["Idempotency-Key", key]];
    const json = { prompt: "write it down\nand more" };
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
    assert.deepEqual([job.prompt, job.createdBy], ["write it down", "alice"]);
  });
});

describe("a Worker that is killed in the middle", () => {
  test("knows its answers still, and which it does not know", async () => {
    const [kept, failed, lost, done] = [newKey(), newKey(), newKey(), newKey()];
    const first = await write(kept);
    assertFirst(first);
    await next(CREATE, { kind: "json", status: 400, body: { error: "No such luck" } });
    const refused = await write(failed);
    assertProblem(refused, 400, "upstream-error");
    await next(CREATE, { kind: "reset" });
    assertProblem(await write(lost), 502, "upstream-unreachable");
    await gate.upstream.hold({ operation: CREATE, process: true });
    const underWay = write(done);
    await gate.upstream.untilHeld(1);

    await gate.restart();
    assert.equal((await underWay).status, undefined, "it was never answered");
    await gate.upstream.clearFaults();
    const before = await creations();
    assertReplayed(await write(kept), first);
    assertReplayed(await write(failed), refused);
    for (const key of [lost, done]) {
      for (const answer of await atOnce(5, () => write(key))) assertUnknown(answer);
      assertReused(await write(key, { prompt: "another" }));
    }
    assert.deepEqual(await creations(), before, "nothing was sent again");
    assertFirst(await forced(done));
    assert.equal((await creations()).jobs, before.jobs + 1);
  });
});

test("no key is in the log", () => {
  assert.ok(keys > 30 && gate.gateway.log().includes('"route"'));
  assert.ok(!gate.gateway.log().includes(MARK));
});

test("neither answers nor log hold the admin key, the secret or a token", () =>
  gate.assertDiscreet());
