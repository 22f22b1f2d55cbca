import assert from "node:assert/strict";
import { before, beforeEach, describe, test } from "node:test";
import { accessClaims, mintToken } from "../../harness/token.mjs";
import { assertProblem, PROJECT, useGate, VIEWS } from "../recorded_gateway.mjs";

const WINDOW_SECONDS = 24;
/** The interval between probes. During a block, the gateway sends single requests as probes. */
const PROBE_MS = (WINDOW_SECONDS * 1000) / 12;
const DAY_SECONDS = 86_400;
const PATIENCE_MS = 60_000;
/** Maximum difference between two clocks that both count whole milliseconds. */
const CLOCKS_MS = 2;
const PROJECTS = [PROJECT, "probed-docs", "failing-docs", "reset-docs"];
const CREATE = "agentJobs.create";

const gate = useGate("blocks", {
  upstream: { projects: PROJECTS },
  gateway: { vars: { LIMIT_WINDOW_SECONDS: String(WINDOW_SECONDS) } },
});
let alice;

before(() => {
  alice = { authorization: `Bearer ${gate.token({ projects: PROJECTS })}` };
});
beforeEach(() => gate.upstream.reset());

const create = (project) => gate.post(`/v2/agent/${project}/job`, { prompt: "x" }, alice);
const failWith429 = (operation, times = 1) =>
  gate.upstream.fault({
    operation,
    times,
    fault: { kind: "status", status: 429, headers: { "retry-after": String(DAY_SECONDS) } },
  });

function assertBlocked(answer) {
  assert.match(assertProblem(answer, 429, "quota-exceeded").detail, /Mintlify itself/);
  const wait = Number(answer.header("retry-after"));
  assert.ok(wait <= WINDOW_SECONDS, `${wait} s`);
}

async function untilUnblocked(send) {
  const deadline = Date.now() + PATIENCE_MS;
  while (Date.now() < deadline) {
    const answer = await send();
    if (!answer.text.includes("quota-exceeded")) return answer;
    assertBlocked(answer);
  }
  assert.fail(`no request passed within ${PATIENCE_MS} ms`);
}

async function arrivals(operation) {
  const requests = await gate.upstream.requests();
  return requests.filter((request) => request.operation === operation).map(({ at }) => at);
}

const operator = (projects = PROJECTS) => {
  const claims = accessClaims({ sub: "olga", projects, scope: "gateway:operate" });
  return { authorization: `Bearer ${gate.known(mintToken(claims, gate.secret))}` };
};
const health = async (project) =>
  (await gate.get(`/healthz?deep&project=${project}`, operator())).json;
const unblock = (rest, options = operator()) =>
  gate.send({ method: "DELETE", target: `/healthz/blocks/${rest}`, ...options });

describe("an upstream 429 with a Retry-After of a day", () => {
  test("blocks a policy for at most a window after an upstream 429, and unblocks it after a successful probe", async () => {
    const project = "probed-docs";
    await failWith429(CREATE);
    assertProblem(await create(project), 429, "upstream-error");
    assertBlocked(await create(project));
    const { blockedUntil } = (await health(project)).project.budgets["create-job"];
    assert.ok(blockedUntil <= Date.now() + WINDOW_SECONDS * 1000 + CLOCKS_MS);

    assert.equal((await untilUnblocked(() => create(project))).status, 201);
    const [first, probe, ...more] = await arrivals(CREATE);
    assert.ok(probe - first >= PROBE_MS - CLOCKS_MS, `${probe - first} ms`);
    assert.deepEqual(more, [], "no other request passes");
    assert.equal((await create(project)).status, 201, "the policy is unblocked");
    assert.equal((await health(project)).project.budgets["create-job"].blockedUntil, null);
  });
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
    assert.equal(
      (await unblock(`send-message?project=${project}`)).status,
      204,
      "unblocking an open policy succeeds",
    );
  });

  test("unblocks the organization's analytics policy for an operator", async () => {
    await failWith429("analytics.views");
    const views = (day) => gate.get(`${VIEWS}?dateFrom=2015-01-0${day}`, alice);
    assertProblem(await views(1), 429, "upstream-error");
    assertBlocked(await views(2));
    assert.equal((await unblock("analytics")).status, 204);
    assert.equal((await views(3)).status, 200);
  });
});
