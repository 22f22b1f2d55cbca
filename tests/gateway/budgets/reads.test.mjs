import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { caller } from "../analytics_requests.mjs";
import { assertProblem, JOBS, PROJECT, useGate } from "../recorded_gateway.mjs";

const LIMIT = 20;
const OTHER = "empty-docs";
const HOUR = 3600;
const WINDOW_STEP = HOUR / 60;

const gate = useGate("reads", {
  upstream: { projects: [PROJECT, OTHER] },
  gateway: { vars: { READ_LIMIT_PER_HOUR: String(LIMIT) } },
});
beforeEach(() => gate.upstream.reset());

const as = (sub) => caller(gate, sub, { projects: [PROJECT, OTHER] });
const readsOf = (project) => [
  `/v2/agent/${project}/job/j1`,
  `/v2/agent/${project}/jobs`,
  `/v2/agent/${project}/job/j1/events`,
];

function assertExceeded(answer, policy, policies) {
  const problem = assertProblem(answer, 429, "quota-exceeded");
  assert.deepEqual(problem["violated-policies"], [policy]);
  assert.equal(answer.header("ratelimit-policy"), policies);
  const wait = Number(answer.header("retry-after"));
  assert.ok(wait > 0 && wait <= HOUR + WINDOW_STEP, `${wait} s`);
  assert.ok(answer.header("ratelimit").includes(`"${policy}";r=0;t=${wait}`));
}

test("limits a caller's reads of a project's jobs, whichever read operation it uses", async () => {
  const alice = as("alice");
  for (let used = 1; used <= LIMIT; used += 1) {
    const answer = await gate.get(readsOf(PROJECT)[used % 3], alice);
    assert.notEqual(answer.status, 429, answer.text);
    assert.equal(answer.header("ratelimit-policy"), `"read-jobs";q=${LIMIT};w=${HOUR}`);
    const [, left, wait] = /^"read-jobs";r=(\d+);t=(\d+)$/.exec(answer.header("ratelimit"));
    assert.equal(Number(left), LIMIT - used);
    assert.ok(wait <= HOUR + WINDOW_STEP, `${wait} s`);
  }
  const received = await gate.received();
  for (const read of readsOf(PROJECT)) {
    const answer = await gate.get(read, alice);
    assertExceeded(answer, "read-jobs", `"read-jobs";q=${LIMIT};w=${HOUR}`);
  }
  assert.equal(await gate.received(), received);

  assert.equal((await gate.get(`${JOBS}s`, as("bob"))).status, 200, "another caller");
  assert.equal((await gate.get(readsOf(OTHER)[1], alice)).status, 200, "another project");
  assert.equal((await gate.post(JOBS, { prompt: "x" }, alice)).status, 201, "another policy");
});
