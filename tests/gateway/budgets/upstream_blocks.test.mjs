import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { caller, until } from "../analytics_requests.mjs";
import { assertProblem, PROJECT, useGate, VIEWS } from "../recorded_gateway.mjs";
import { arrivals, CLOCKS_MS } from "./rate_limits.mjs";

const WINDOW_SECONDS = 24;
/** The interval between probes. During a block, the gateway sends single requests as probes. */
const PROBE_MS = (WINDOW_SECONDS * 1000) / 12;
const PROJECTS = [PROJECT, "probed-docs", "reset-docs"];
const CREATE = "agentJobs.create";

const gate = useGate("blocks", {
  upstream: { projects: PROJECTS },
  gateway: { vars: { LIMIT_WINDOW_SECONDS: String(WINDOW_SECONDS) } },
});
beforeEach(() => gate.upstream.reset());

const alice = () => caller(gate, "alice", { projects: PROJECTS });
const create = (project) => gate.post(`/v2/agent/${project}/job`, { prompt: "x" }, alice());
const TOO_MANY = { kind: "status", status: 429, headers: { "retry-after": "86400" } };
const failWith429 = (operation) => gate.upstream.fault({ operation, fault: TOO_MANY });

function assertBlocked(answer) {
  assert.match(assertProblem(answer, 429, "quota-exceeded").detail, /Mintlify itself/);
  const wait = Number(answer.header("retry-after"));
  assert.ok(wait <= WINDOW_SECONDS, `${wait} s`);
}

const untilUnblocked = (send) =>
  until(async () => {
    const answer = await send();
    if (!answer.text.includes("quota-exceeded")) return answer;
    assertBlocked(answer);
  });

const operator = () => caller(gate, "olga", { projects: PROJECTS, scope: "gateway:operate" });
const health = (project) => gate.read(`/healthz?deep&project=${project}`, operator());
const unblock = (rest) =>
  gate.send({ method: "DELETE", target: `/healthz/blocks/${rest}`, ...operator() });

test("blocks a policy for at most a window after an upstream 429, and unblocks it after a successful probe", async () => {
  const project = "probed-docs";
  await failWith429(CREATE);
  assertProblem(await create(project), 429, "upstream-error");
  assertBlocked(await create(project));
  const { blockedUntil } = (await health(project)).project.budgets["create-job"];
  assert.ok(blockedUntil <= Date.now() + WINDOW_SECONDS * 1000 + CLOCKS_MS);

  assert.equal((await untilUnblocked(() => create(project))).status, 201);
  const [first, probe, ...more] = await arrivals(gate, CREATE);
  assert.ok(probe - first >= PROBE_MS - CLOCKS_MS, `${probe - first} ms`);
  assert.deepEqual(more, [], "no other request passes");
  assert.equal((await create(project)).status, 201, "the policy is unblocked");
  assert.equal((await health(project)).project.budgets["create-job"].blockedUntil, null);
});

describe("an operator", () => {
  test("unblocks a project's policy immediately for an operator", async () => {
    const project = "reset-docs";
    await failWith429(CREATE);
    assertProblem(await create(project), 429, "upstream-error");
    assertBlocked(await create(project));
    const answer = await unblock(`create-job?project=${project}`);
    assert.deepEqual([answer.status, answer.text], [204, ""]);
    assert.equal((await create(project)).status, 201);
    const again = await unblock(`send-message?project=${project}`);
    assert.equal(again.status, 204, "unblocking an open policy succeeds");
  });

  test("unblocks the organization's analytics policy for an operator", async () => {
    await failWith429("analytics.views");
    const views = (day) => gate.get(`${VIEWS}?dateFrom=2015-01-0${day}`, alice());
    assertProblem(await views(1), 429, "upstream-error");
    assertBlocked(await views(2));
    assert.equal((await unblock("analytics")).status, 204);
    assert.equal((await views(3)).status, 200);
  });
});
