/** API keys, timeouts, retries and the circuit breaker. */

import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { newCanaryKey } from "../../harness/canary.mjs";
import { caller, closedRange, viewsOf } from "../analytics_requests.mjs";
import { assertProblem, before, JOBS, PROJECT, useGate } from "../recorded_gateway.mjs";

const LIST = `/v2/agent/${PROJECT}/jobs`;
const prompt = "keep it";
/** Much longer than a response takes, so that only hanging requests time out. */
const TIMEOUT_SECONDS = 3;
const GET = "agentJobs.get";
/** The gateway's API keys for writes and reads, newest first. */
const keys = {
  write: newCanaryKey(),
  writeBefore: newCanaryKey(),
  read: newCanaryKey(),
  readBefore: newCanaryKey(),
};
/** The default permissions of each key at the simulator. */
const DEFAULT_STATES = { write: "write", writeBefore: "write", read: "read", readBefore: "read" };

const gate = useGate("upstream-keys", {
  gateway: {
    adminKey: `${keys.write},${keys.writeBefore}`,
    readKey: `${keys.read}, ${keys.readBefore}`,
    vars: { UPSTREAM_TIMEOUT_SECONDS: String(TIMEOUT_SECONDS) },
  },
});
beforeEach(async () => {
  await gate.upstream.reset();
  await setKeys(DEFAULT_STATES);
  // Successes between the failures keep the breaker closed.
  await Promise.all([1, 2, 3].map((at) => gate.get(`${JOBS}/ok-${at}`)));
  await gate.upstream.reset();
});

async function setKeys(states) {
  for (const [name, state] of Object.entries(states)) {
    await gate.upstream.setKey({ key: keys[name], name, state });
  }
}

const freshViews = () => gate.get(viewsOf(closedRange()));

/** Returns the names of the keys that the upstream has received, in order. */
const keysSeen = async () => (await gate.upstream.requests()).map(({ key }) => key);

async function createJob() {
  const { json } = await gate.post(JOBS, { prompt });
  return json.id;
}

/** Asserts that the log names the cause for the operator, and that the response does not. */
async function assertCredentialProblem(answer, status) {
  const problem = assertProblem(answer, 502, "upstream-credential");
  assert.equal(problem.upstream, undefined);
  assert.equal(answer.header("www-authenticate"), undefined);
  assert.doesNotMatch(answer.text, /expired|read access|write access|mint_/i);
  const line = await gate.logged(answer.header("x-request-id"));
  assert.match(line.operator, new RegExp(`rejected .*${status}`));
  assert.equal(line.upstreamStatus, status);
  return line.operator;
}

test("uses the read key for every GET and the write key for POST only", async () => {
  const job = await createJob();
  assert.equal((await gate.post(`${JOBS}/${job}/message`, { prompt })).status, 200);
  assert.equal((await gate.get(`${JOBS}/${job}`)).status, 200);
  assert.equal((await freshViews()).status, 200);
  assert.equal((await gate.get(LIST)).status, 200);
  const requests = await gate.upstream.requests();
  assert.ok(requests.length >= 4);
  for (const { method, key } of requests) {
    assert.equal(key, method === "GET" ? "read" : "write", method);
  }
});

describe("two keys per access, newest first", () => {
  for (const [what, send] of [
    ["a job", async () => gate.get(`${JOBS}/${await createJob()}`)],
    ["page views", freshViews],
  ]) {
    test(`falls back to the older key once when a GET gets 401: ${what}`, async () => {
      await setKeys({ read: "expired" });
      const answer = await send();
      assert.equal(answer.status, 200, answer.text);
      const seen = (await keysSeen()).filter((name) => name.startsWith("read"));
      assert.deepEqual(seen, ["read", "readBefore"]);
      const line = await gate.logged(answer.header("x-request-id"));
      assert.match(line.operator, /rejected the first of the gateway's keys/);
    });
  }

  test("responds 502 and logs the reason when both keys have expired", async () => {
    await setKeys(Object.fromEntries(Object.keys(keys).map((name) => [name, "expired"])));
    const logged = await assertCredentialProblem(await gate.get(`${JOBS}/j1`), 401);
    assert.match(logged, /expired/);
    await assertCredentialProblem(await freshViews(), 401);
    await assertCredentialProblem(await gate.post(JOBS, { prompt }), 401);
    const both = (name) => [name, `${name}Before`];
    assert.deepEqual(await keysSeen(), [...both("read"), ...both("read"), ...both("write")]);
    assert.deepEqual(await gate.upstream.jobs(), []);
  });

  test("releases the budget and the idempotency key when both keys are rejected", async () => {
    const before = remaining(await gate.post(JOBS, { prompt }));
    await setKeys({ write: "expired", writeBefore: "expired" });
    const headers = [["Idempotency-Key", "for-later"]];
    await assertCredentialProblem(await gate.post(JOBS, { prompt }, { headers }), 401);
    await setKeys({ write: "write" });
    const created = await gate.post(JOBS, { prompt }, { headers });
    assert.equal(created.status, 201, created.text);
    assert.equal(before - remaining(created), 1);
  });

  function remaining(answer) {
    return Number(/"create-job";r=(\d+)/.exec(answer.header("ratelimit"))[1]);
  }
});

for (const [what, send, outcome] of [
  ["a job", () => gate.get(`${JOBS}/j1`), undefined],
  ["page views", freshViews, undefined],
  ["a creation", () => gate.post(JOBS, { prompt }), "unknown"],
  ["a follow-up", () => gate.post(`${JOBS}/j1/message`, { prompt }), "unknown"],
]) {
  test(`responds 504 after the upstream timeout without a retry: ${what}`, async () => {
    await gate.upstream.fault({ fault: { kind: "hang" }, times: 0 });
    const answer = await send();
    assert.equal(assertProblem(answer, 504, "upstream-timeout").outcome, outcome);
    const line = await gate.logged(answer.header("x-request-id"));
    assert.deepEqual([line.upstreamStatus, line.problem], [null, "upstream-timeout"]);
    const { upstreamMilliseconds } = line;
    assert.ok(upstreamMilliseconds >= 1000 * TIMEOUT_SECONDS, `${upstreamMilliseconds} ms`);
    assert.equal(await gate.received(), 1);
  });
}

describe("the circuit breaker", () => {
  const MAX_FAILURES = 20;
  const OTHER = "empty-docs";
  const READS = { operation: GET, fault: { kind: "status", status: 500 }, times: 0 };
  const POLL_SECONDS = 1;
  let authorization;
  let stored;

  const alone = useGate("upstream-keys-breaker", {
    upstream: { projects: [PROJECT, OTHER] },
    gateway: { vars: { JOB_POLL_SECONDS: String(POLL_SECONDS) } },
  });
  before(async () => {
    authorization = `Bearer ${alone.token({ projects: [PROJECT, OTHER] })}`;
    await alone.upstream.fault(READS);
  });

  const deep = (project = PROJECT) => {
    const operator = { projects: [PROJECT, OTHER], scope: "gateway:operate" };
    return alone.get(`/healthz?deep&project=${project}`, caller(alone, "olga", operator));
  };
  const pathOf = (project, rest = "") => `/v2/agent/${project}/job${rest}`;
  const read = (id, project = PROJECT) => alone.get(pathOf(project, `/${id}`), { authorization });
  const post = (target, headers = []) => alone.post(target, { prompt }, { authorization, headers });

  test("opens the breaker for a project's reads when many job ids fail", async () => {
    stored = (await post(JOBS)).json;
    assert.ok(stored.id);
    for (let job = 1; job <= MAX_FAILURES; job += 1) {
      assertProblem(await read(`j${job}`), 500, "upstream-error");
    }
    const received = await alone.received();
    for (const id of ["j1", "j99"]) {
      const answer = await read(id);
      const { outcome } = assertProblem(answer, 503, "upstream-unavailable");
      assert.equal(outcome, undefined, "nothing was sent");
      const wait = Number(answer.header("retry-after"));
      assert.ok(wait > 0 && wait <= 30, `Retry-After: ${wait}`);
      const line = await alone.logged(answer.header("x-request-id"));
      assert.deepEqual([line.problem, line.upstreamStatus], ["upstream-unavailable", null]);
    }
    assert.equal(await alone.received(), received);
  });

  test("returns the stored state of a known job while the breaker is open", async () => {
    const received = await alone.received();
    const answer = await read(stored.id);
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(answer.json, stored);
    assert.equal(answer.header("cache-status"), "quillgate; fwd=stale; detail=stale");
    const line = await alone.logged(answer.header("x-request-id"));
    assert.deepEqual([line.problem, line.upstreamStatus], [null, null]);
    assert.equal(await alone.received(), received);
  });

  test("reports an open breaker as degraded health of the project, and the Worker as live", async () => {
    const { status, organization, project } = (await deep()).json;
    const breakers = [organization.breaker, project.breaker];
    assert.deepEqual([status, ...breakers], ["degraded", "closed", "open"]);
    assert.equal((await deep(OTHER)).json.status, "ok");
    const up = await alone.get("/healthz", { authorization: null });
    assert.deepEqual([up.status, up.json], [200, { status: "ok" }]);
  });

  test("opens the breaker for creations, and charges no budget while it is open", async () => {
    await alone.upstream.fault({ fault: { kind: "status", status: 500 }, times: 0 });
    const { left } = (await deep()).json.project.budgets["create-job"];
    for (let sent = 0; sent < MAX_FAILURES; sent += 1) {
      assertProblem(await post(JOBS), 500, "upstream-error");
    }
    const headers = [["Idempotency-Key", "while-open"]];
    const received = await alone.received();
    for (const answer of [await post(JOBS), await post(JOBS, headers), await post(JOBS, headers)]) {
      const { outcome } = assertProblem(answer, 503, "upstream-unavailable");
      assert.equal(outcome, undefined, "nothing was sent");
    }
    assert.equal(await alone.received(), received);
    const { project } = (await deep()).json;
    assert.equal(project.budgets["create-job"].left, left - MAX_FAILURES);
    assertProblem(await post(pathOf(OTHER)), 500, "upstream-error");
  });
});
