/** A 429 of the upstream does not lock a policy for longer than it can mean. */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { accessClaims, mintToken } from "../harness/token.mjs";
import { assertInvalid, assertProblem, PROJECT, startGate, VIEWS } from "./gate.mjs";

/** Seconds; one twelfth later the first request is let through as a probe. */
const WINDOW = 24;
const PROBE_MS = (WINDOW * 1000) / 12;
const DAY = 86_400;
/** What must happen at last must have happened by then. */
const PATIENCE_MS = 60_000;
/** Two clocks, each of which counts whole milliseconds, may differ by so many. */
const CLOCKS_MS = 2;
const PROJECTS = [PROJECT, "probed-docs", "failing-docs", "reset-docs"];
const CREATE = "agentJobs.create";

let gate;
let alice;

before(async () => {
  gate = await startGate("closures", {
    upstream: { projects: PROJECTS },
    gateway: { vars: { LIMIT_WINDOW_SECONDS: String(WINDOW) } },
  });
  alice = { authorization: `Bearer ${gate.token({ projects: PROJECTS })}` };
});
after(() => gate?.stop());
beforeEach(() => gate.upstream.reset());

const create = (project) => gate.post(`/v2/agent/${project}/job`, { prompt: "x" }, alice);
const refuse = (operation, times = 1) =>
  gate.upstream.fault({
    operation,
    times,
    fault: { kind: "status", status: 429, headers: { "retry-after": String(DAY) } },
  });

/** Checks that the gateway refuses by itself. */
function assertClosed(answer) {
  assert.match(assertProblem(answer, 429, "quota-exceeded").detail, /the upstream itself/);
  const wait = Number(answer.header("retry-after"));
  assert.ok(wait <= WINDOW, `${wait} s`);
}

/** Asks until an answer is not the gateway's own refusal. */
async function untilLetThrough(ask) {
  const deadline = Date.now() + PATIENCE_MS;
  while (Date.now() < deadline) {
    const answer = await ask();
    if (!answer.text.includes("quota-exceeded")) return answer;
    assertClosed(answer);
  }
  assert.fail("nothing was let through");
}

/** When requests of an operation reached the upstream. */
async function arrivals(operation) {
  const requests = await gate.upstream.requests();
  return requests.filter((request) => request.operation === operation).map(({ at }) => at);
}

const operator = () => {
  const claims = accessClaims({ sub: "olga", scope: "gateway:operate" });
  return { authorization: `Bearer ${gate.known(mintToken(claims, gate.secret))}` };
};
const health = async (project) =>
  (await gate.get(`/healthz?deep&project=${project}`, operator())).json;
const reopen = (rest, options = operator()) =>
  gate.send({ method: "DELETE", target: `/healthz/closures/${rest}`, ...options });

describe("a 429 that asks for a day", () => {
  test("closes the policy for a window at most, and a probe that succeeds opens it", async () => {
    const project = "probed-docs";
    await refuse(CREATE);
    assertProblem(await create(project), 429, "upstream-error");
    assertClosed(await create(project));
    const { closedUntil } = (await health(project)).project.budgets["create-job"];
    assert.ok(closedUntil <= Date.now() + WINDOW * 1000 + CLOCKS_MS);

    assert.equal((await untilLetThrough(() => create(project))).status, 201);
    const [first, probe, ...more] = await arrivals(CREATE);
    assert.ok(probe - first >= PROBE_MS - CLOCKS_MS, `${probe - first} ms`);
    assert.deepEqual(more, [], "nothing else was let through");
    assert.equal((await create(project)).status, 201, "it is open");
    assert.equal((await health(project)).project.budgets["create-job"].closedUntil, null);
  });

  test("stays closed after a probe that is refused, and lets one through at a time", async () => {
    const project = "failing-docs";
    await refuse(CREATE, 2);
    assertProblem(await create(project), 429, "upstream-error");
    const probe = await untilLetThrough(() => create(project));
    assertProblem(probe, 429, "upstream-error");
    assertClosed(await create(project));

    await gate.upstream.hold({ operation: CREATE });
    const held = untilLetThrough(() => create(project));
    await gate.upstream.untilHeld(1);
    for (let count = 0; count < 5; count += 1) assertClosed(await create(project));
    await gate.upstream.release();
    assert.equal((await held).status, 201);
    assert.equal((await arrivals(CREATE)).length, 3);
  });
});

describe("an operator", () => {
  test("opens what is closed in a project at once", async () => {
    const project = "reset-docs";
    await refuse(CREATE);
    assertProblem(await create(project), 429, "upstream-error");
    assertClosed(await create(project));
    const answer = await reopen(`create-job?project=${project}`);
    assert.deepEqual([answer.status, answer.text], [204, ""]);
    assert.equal((await create(project)).status, 201);
    assert.equal((await reopen(`send-message?project=${project}`)).status, 204, "not closed");
  });

  test("opens the organisation's analytics", async () => {
    await refuse("analytics.views");
    const views = (day) => gate.get(`${VIEWS}?dateFrom=2015-01-0${day}`, alice);
    assertProblem(await views(1), 429, "upstream-error");
    assertClosed(await views(2));
    assert.equal((await reopen("analytics")).status, 204);
    assert.equal((await views(3)).status, 200);
  });

  test("names the project and a policy that can be closed", async () => {
    assertInvalid(await reopen("create-job"), "project", "not-empty");
    for (const policy of ["read-jobs", "jobs", ""]) {
      assertProblem(await reopen(`${policy}?project=${PROJECT}`), 404, "not-found");
    }
    const got = await gate.get("/healthz/closures/analytics", operator());
    assertProblem(got, 405, "method-not-allowed");
    assert.equal(got.header("allow"), "DELETE, OPTIONS");
  });

  test("is nobody else", async () => {
    const project = PROJECT;
    await refuse(CREATE);
    assertProblem(await create(project), 429, "upstream-error");
    const path = `create-job?project=${project}`;
    assertProblem(await reopen(path, { authorization: null }), 401, "missing-token");
    assertProblem(await reopen(path, alice), 403, "insufficient-scope");
    const page = { ...operator(), headers: [["Origin", "https://evil.example"]] };
    assertProblem(await reopen(path, page), 403, "origin-not-allowed");
    assertClosed(await create(project));
  });
});

test("neither answers nor log hold the admin key, the secret or a token", () =>
  gate.assertDiscreet());
